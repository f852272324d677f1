#include "framework/op/copy.h"

#include <algorithm>
#include <cstring>

#include "framework/kernels/cpu/loops.h"
#include "framework/ops/create.h"

namespace weir {
namespace WEIR_ISA {
namespace {
void copy(const Copy&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }
// Memory that several elements share, once.
Tensor shared_once(const Tensor& t) {
  Dims sizes = t.sizes();
  for (int d = 0; d < t.ndim(); d++)
    if (t.strides()[d] == 0) sizes[d] = std::min<int64_t>(sizes[d], 1);
  return alias(t, sizes, t.strides(), t->offset);
}
void fill(const Fill&, Inputs in, Outputs out) { run_copy(in[1], shared_once(out[0])); }
void zero(const Zero&, Inputs, Outputs out) {
  const Tensor y = shared_once(out[0]);
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
