#include "framework/ops/compare.h"

#include "framework/kernels/cpu/pointwise.h"
#include "framework/ops/create.h"

namespace weir {
namespace WEIR_ISA {

// A whole number is neither infinite nor NaN: nothing is read.
template <class Op, bool answer> void of_inexact(const Op& op, Inputs in, Outputs out) {
  if (is_inexact(in[0].dtype())) return pointwise_kernel<Op>(op, in, out);
  run_copy(full_of(Meta(Dims{}, DType::boolean), Scalar(answer)), out[0]);
}

static const PointwiseKernels<CompareOps> kernels;
static const bool predicates = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Isnan, of_inexact<Isnan, false>>(cpu);
  set_kernel<Isinf, of_inexact<Isinf, false>>(cpu);
  set_kernel<Isposinf, of_inexact<Isposinf, false>>(cpu);
  set_kernel<Isneginf, of_inexact<Isneginf, false>>(cpu);
  set_kernel<Isfinite, of_inexact<Isfinite, true>>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
