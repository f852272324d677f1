#include "framework/ops/pad.h"

#include <algorithm>

#include "framework/core/storage_types.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// `t` from `begin` on for `n` positions of axis d.
Tensor stretch(const Tensor& t, int d, int64_t begin, int64_t n) {
  Dims sizes = t.sizes();
  sizes[d] = n;
  return alias(t, sizes, t.strides(), t->offset + begin * t.strides()[d]);
}

// What is added is written slab by slab, the outermost axis first, so that each element is written once.
void pad_constant(const PadConstant& op, Inputs in, Outputs out) {
  Tensor x = in[0], inside = out[0];
  if (inside.numel() == 0) return;
  const Tensor number = empty(Meta(Dims{}, x.dtype()));
  visit_any_dtype(x.dtype(), [&]<class T>(TypeTag<T>) { *number.data<T>() = std::is_same_v<T, bool> ? T(!op.value.is_zero()) : op.value.to<T>(); });
  for (int i = op.pad.n / 2; i-- > 0;) {
    const int d = x.ndim() - 1 - i;
    const int64_t before = op.pad[2 * i], after = op.pad[2 * i + 1], left = std::max<int64_t>(before, 0), right = std::max<int64_t>(after, 0);
    const int64_t cut = std::max<int64_t>(-before, 0), kept = std::max<int64_t>(x.size(d) - cut - std::max<int64_t>(-after, 0), 0);
    if (left) run_copy(number, stretch(inside, d, 0, left));
    if (right) run_copy(number, stretch(inside, d, inside.size(d) - right, right));
    x = stretch(x, d, cut, kept);
    inside = stretch(inside, d, left, kept);
  }
  run_copy(x, inside);
}

}  // namespace

static const bool registered = (set_kernel<PadConstant, pad_constant>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
