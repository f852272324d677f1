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

}  // namespace

static const bool registered = [] {
  set_kernel<DiagonalScatter, write_at_place<DiagonalScatter>>(DeviceType::cpu);
  set_kernel<SelectScatter, write_at_place<SelectScatter>>(DeviceType::cpu);
  set_kernel<SliceScatter, write_at_place<SliceScatter>>(DeviceType::cpu);
  set_kernel<AsStridedScatter, write_at_place<AsStridedScatter>>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
