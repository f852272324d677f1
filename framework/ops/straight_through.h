// Values that were computed aside, and whose gradients are those of other numbers.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct StraightThrough : Op {
  static constexpr Signature signature = "straight_through(value: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc =
      "A copy of value, whose gradient goes to input, of the same shape, as it is: for a value that was rounded, or chosen, on the way from input. Source: "
      "Bengio et al. 2013.";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "pointwise";
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ExtremeOf : Op {
  static constexpr Signature signature = "extreme_of(value: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc =
      "A copy of value, the largest or smallest of input over the axes where it has size 1. Its gradient goes to all that are it, in equal parts, and to those that are "
      "NaN, which leave the others none. Source: PyTorch's norm_backward.";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b11};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using StraightThroughOps = OpList<StraightThrough, ExtremeOf>;

namespace fn {
inline constexpr Fn<StraightThrough> straight_through;
inline constexpr Fn<ExtremeOf> extreme_of;
}

}  // namespace weir
