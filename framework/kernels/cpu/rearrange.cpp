#include "framework/ops/rearrange.h"

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class T> void write_at_place(const T& op, Inputs in, Outputs out) {
  if (out[0].numel()) run_copy(in[0], out[0]);
  const Geometry g = op.place(out[0]);
  if (g.sizes.product()) run_copy(in[1], alias(out[0], g.sizes, g.strides, g.offset));
}

// Where in memory the window lies is said of input's whole storage, of which it need not show all.
void as_strided_scatter(const AsStridedScatter& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  if (x.numel() == 0) return;
  const Dims all{int64_t(x->storage->bytes / size_of(x.dtype()))};
  const Tensor memory = copied(alias(x, all, Dims{1}, 0), Meta(all, x.dtype()));
  const Geometry g = op.place(x);
  if (g.sizes.product()) run_copy(in[1], alias(memory, g.sizes, g.strides, g.offset));
  run_copy(alias(memory, x.sizes(), x.strides(), x->offset), out[0]);
}

}  // namespace

static const bool registered = [] {
  set_kernel<DiagonalScatter, write_at_place<DiagonalScatter>>(DeviceType::cpu);
  set_kernel<SelectScatter, write_at_place<SelectScatter>>(DeviceType::cpu);
  set_kernel<SliceScatter, write_at_place<SliceScatter>>(DeviceType::cpu);
  set_kernel<AsStridedScatter, as_strided_scatter>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
