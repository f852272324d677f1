#include "framework/ops/unary.h"

#include "framework/kernels/cpu/pointwise.h"
#include "framework/op/out.h"
#include "framework/ops/pointwise.h"

namespace weir {
namespace WEIR_ISA {

// The formula sees a half as float32, whose largest number is infinity to it.
static void nan_to_num(const NanToNum& op, Inputs in, Outputs out) {
  static const Loops loops = loops_of<NanToNum>();
  if (is_inexact(out[0].dtype())) check_no_repeats(out[0]);
  NanToNum bounded = op;
  const double top = largest_number(out[0].dtype());
  if (is_reduced(out[0].dtype())) bounded.posinf = op.posinf.value_or(top), bounded.neginf = op.neginf.value_or(-top);
  run_pointwise(NanToNum::signature.name.data(), loops, computes<NanToNum>(&bounded, in, out[0].dtype()), &bounded, in, out[0]);
}

// Of no decimals, as nearly always: no number is asked for its scale.
struct Nearest : Round {};
template <class T> T formula(const Nearest&, T x) { return nearbyint(x); }
template <> constexpr int kTurn<Nearest> = kTurn<Round>;

static Loops nearest_loops() {
  Loops l = loops_of<Round>();
  l.f32 = loop<Nearest, float>, l.f64 = loop<Nearest, double>;
  return l;
}
static void round(const Round& op, Inputs in, Outputs out) {
  static const Loops scaled = loops_of<Round>(), nearest = nearest_loops();
  run_pointwise(Round::signature.name.data(), op.decimals.value_or(0) ? scaled : nearest, computes<Round>(&op, in, out[0].dtype()), &op, in, out[0]);
}

static const PointwiseKernels<UnaryOps> kernels;
static const bool bounds = [] {
  set_kernel<Round, round>(DeviceType::cpu);
  set_kernel<NanToNum, nan_to_num>(DeviceType::cpu);
  return pointwise_ops().erase(kernel_slots<NanToNum>) > 0;  // fused with others it would be the formula alone
}();

}  // namespace WEIR_ISA
}  // namespace weir
