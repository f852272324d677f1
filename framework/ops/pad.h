// Padding: with a constant, or with the tensor's own elements (pad_border of resample.h).
#pragma once
#include "framework/op/call.h"

namespace weir {

struct ConstantPad : Op {
  static constexpr Signature signature = "constant_pad_nd(input: Tensor, pad: list[int], value: Number = 0) -> Tensor";
  static constexpr auto doc = "`value` added (or, where negative, elements cut) before and after each axis, the last axis first.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Dims pad;
  Scalar value;
  static constexpr Fields fields{&ConstantPad::pad, &ConstantPad::value};
  Tensor compose(Inputs in) const;
};

struct PadConstant : Op {
  static constexpr Signature signature = "pad_constant(input: Tensor, pad: list[int], value: Number) -> Tensor";
  static constexpr auto doc = "constant_pad_nd where something is added.";
  static constexpr Notation notation = "move";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::apart;
  Dims pad;
  Scalar value;
  static constexpr Fields fields{&PadConstant::pad, &PadConstant::value};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct PadAxes : Op {
  static constexpr Signature signature = "pad_axes(input: Tensor, pad: list[int], mode: str) -> Tensor";
  static constexpr auto doc = "pad_border, or a copy where nothing is added.";
  static constexpr Module module = Module::hidden;
  Dims pad;
  Str mode;
  static constexpr Fields fields{&PadAxes::pad, &PadAxes::mode};
  Tensor compose(Inputs in) const;
};

// The ops that PyTorch's autocast runs in float32: reflection and replication of one and two axes, replication of three.
struct PadAxesWide : PadAxes {
  static constexpr Signature signature = "pad_axes_wide(input: Tensor, pad: list[int], mode: str) -> Tensor";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr Fields fields{&PadAxesWide::pad, &PadAxesWide::mode};
};

struct Pad : Op {
  static constexpr Signature signature = "pad(input: Tensor, pad: list[int], mode: str = 'constant', value: Number | None = None) -> Tensor";
  static constexpr auto doc =
      "`pad` holds (before, after) pairs from the last axis on; negative ones crop. mode: constant, reflect, replicate or circular; "
      "the last three pad at most the last three axes. Source: PyTorch.";
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  Dims pad;
  Str mode;
  std::optional<Scalar> value;
  static constexpr Fields fields{&Pad::pad, &Pad::mode, &Pad::value};
  Tensor compose(Inputs in) const;
};

using PadOps = OpList<ConstantPad, PadConstant, PadAxes, PadAxesWide, Pad>;

namespace fn {
inline constexpr Fn<ConstantPad> constant_pad_nd;
inline constexpr Fn<PadConstant> pad_constant;
inline constexpr Fn<PadAxes> pad_axes;
inline constexpr Fn<PadAxesWide> pad_axes_wide;
inline constexpr Fn<Pad> pad;
}  // namespace fn

}  // namespace weir
