// Places of elements as coordinates. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Argwhere : Op {
  static constexpr Signature signature = "argwhere(input: Tensor) -> Tensor";
  static constexpr auto doc = "int64 coordinates of the nonzero elements, a row each. Shape: (count, ndim).";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct NonzeroStatic : Op {
  static constexpr Signature signature = "nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor";
  static constexpr auto doc = "The first `size` rows of nonzero, filled up with fill_value. Shape: (size, ndim), whatever the values.";
  static constexpr OutRule out{Out::same};
  int64_t size, fill_value;
  static constexpr Fields fields{&NonzeroStatic::size, &NonzeroStatic::fill_value};
  Tensor compose(Inputs in) const;
};

struct UnravelIndex : Op {
  static constexpr CallRule calling{.truthy = true};
  static constexpr Signature signature = "unravel_index(indices: Tensor, shape: int | list[int]) -> list[Tensor]";
  static constexpr auto doc = "Coordinates of flat indices into a tensor of such a shape, int64, a tensor per axis. TypeError unless indices are whole numbers.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Dims shape;
  static constexpr Fields fields{&UnravelIndex::shape};
  Tensors compose(Inputs in) const;
};

using CoordinatesOps = OpList<Argwhere, NonzeroStatic, UnravelIndex>;

namespace fn {
inline constexpr Fn<UnravelIndex> unravel_index;
}  // namespace fn

}  // namespace weir
