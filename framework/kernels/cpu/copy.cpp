#include "framework/op/copy.h"

#include <cstring>

#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/ops/create.h"

namespace weir {
namespace WEIR_ISA {
namespace {
void copy(const Copy&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }
void fill(const Fill&, Inputs in, Outputs out) {
  const DType t = out[0].dtype();
  run_copy(in[1].dtype() == t ? in[1] : copied(in[1], Meta(in[1].sizes(), t)), once_each(out[0]));  // cast once, not for each element
}
void zero(const Zero&, Inputs, Outputs out) {
  const Tensor y = once_each(out[0]);
  if (y.numel() == 0) return;
  if (!is_non_overlapping_and_dense(y.sizes(), y.strides())) {
    const Tensor number = empty(Dims{}, y.dtype());
    std::memset(number.raw(), 0, size_of(y.dtype()));
    return run_copy(number, y);
  }
  parallel_for(y.numel() * int64_t(size_of(y.dtype())), 16 * kGrain, [&](int64_t begin, int64_t end) { std::memset(y.raw() + begin, 0, end - begin); });
}
}  // namespace

static const bool registered = [] {
  set_kernel<Copy, copy>(DeviceType::cpu);
  set_kernel<Fill, fill>(DeviceType::cpu);
  set_kernel<Zero, zero>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
