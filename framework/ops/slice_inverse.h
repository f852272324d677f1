// The view that a slice was taken from. Source: PyTorch's functionalization, which undoes views by it.
#pragma once
#include "framework/ops/view.h"

namespace weir {

struct SliceInverse : ViewOp {
  static constexpr Signature signature =
      "slice_inverse(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor";
  static constexpr auto doc = "src's geometry over input's storage. The gradient is input's in the slice, and src's beside it.";
  static constexpr GradientRule gradient{.of_complex = false};
  int64_t dim;
  std::optional<int64_t> start, end;
  int64_t step;
  static constexpr std::tuple fields{&SliceInverse::dim, &SliceInverse::start, &SliceInverse::end, &SliceInverse::step};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using SliceInverseOps = OpList<SliceInverse>;

}  // namespace weir
