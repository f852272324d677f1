// Padding with a constant. The other modes are index arithmetic and live in Python.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct ConstantPad : Op {
  static constexpr Signature signature = "constant_pad_nd(input: Tensor, pad: list[int], value: Number = 0) -> Tensor";
  static constexpr auto doc = "`value` added (or, where negative, elements cut) before and after each axis, the last axis first.";
  Dims pad;
  Scalar value;
  static constexpr std::tuple fields{&ConstantPad::pad, &ConstantPad::value};
  Tensor compose(Inputs in) const;
};

using PadOps = OpList<ConstantPad>;

namespace fn {
inline constexpr Fn<ConstantPad> constant_pad_nd;
}  // namespace fn

}  // namespace weir
