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

// Of no decimals, as nearly always, and of some: no vector is asked how many, or for their scale.
struct Nearest : Round {};
template <class T> T formula(const Nearest&, T x) { return nearbyint(x); }
template <> constexpr bool kBrief<Nearest> = true;
struct Scaled : Round {
  double scale;
};
struct NearestFraction : Scaled {};
template <class T> T formula(const NearestFraction& op, T x) { return nearbyint(x * T(op.scale)) / T(op.scale); }
template <> constexpr bool kBrief<NearestFraction> = true;
struct NearestMultiple : Scaled {};
template <class T> T formula(const NearestMultiple& op, T x) { return nearbyint(x / T(op.scale)) * T(op.scale); }
template <> constexpr bool kBrief<NearestMultiple> = true;

static void round(const Round& op, Inputs in, Outputs out) {
  static const Loops nearest = real_loops<Nearest>(loops_of<Round>()), fraction = real_loops<NearestFraction>(), multiple = real_loops<NearestMultiple>();
  const int64_t decimals = op.decimals.value_or(0);
  const DType compute = computes<Round>(&op, in, out[0].dtype());
  auto run = [&](const Loops& loops, const Round& as) { run_pointwise(Round::signature.name.data(), loops, compute, &as, in, out[0]); };
  if (decimals == 0) return run(nearest, op);
  const Scaled scaled{op, formulas::power_of_ten(decimals < 0 ? -uint64_t(decimals) : uint64_t(decimals))};
  run(decimals > 0 ? fraction : multiple, scaled);
}

static const PointwiseKernels<UnaryOps> kernels;
static const bool bounds = [] {
  set_kernel<Round, round>(DeviceType::cpu);
  set_kernel<NanToNum, nan_to_num>(DeviceType::cpu);
  return pointwise_ops().erase(kernel_slots<NanToNum>) > 0;  // fused with others it would be the formula alone
}();

}  // namespace WEIR_ISA
}  // namespace weir
