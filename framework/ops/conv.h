// Convolutions of one, two or three axes, their transposes, and the two gradients they are made of.
//
// All forms are three kernel ops that are each other's gradients: conv, its input gradient (which is the transposed
// convolution) and its weight gradient. Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Whether convolutions of 3 x 3 places may be computed by minimal filtering, whose rounding is that of the largest numbers within four places. True at first.
bool minimal_filtering();
void set_minimal_filtering(bool on);
/// Whether PyTorch gives convolutions of bfloat16 or float16 to oneDNN on this machine, others to loops of its own. Source: its mkldnn_bf16_device_check and
/// mkldnn_fp16_device_check.
bool gives_to_onednn(DType halves);

struct ConvParams {
  Dims stride, padding, dilation;
  int64_t groups;
};

struct Convolution : Op {
  static constexpr Signature signature =
      "convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: list[int], padding: list[int], dilation: list[int], groups: int) -> Tensor";
  static constexpr auto doc = "Cross-correlation. Shapes: (N, C, *), (O, C / groups, *k), (O) -> (N, O, *out).";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "n(gc)[D+K], (go)cK, (go) -> n(go)D";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  static constexpr Layouts layouts = Layouts::any;
  Dims stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&Convolution::stride, &Convolution::padding, &Convolution::dilation, &Convolution::groups};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// What a graph makes of a convolution whose weight does not change, and of the batch norm, addition and ReLU behind it.
struct ConvolutionPacked : Op {
  static constexpr Signature signature =
      "convolution_packed(input: Tensor, packed: Tensor, bias: Tensor | None, scale: Tensor | None, shift: Tensor | None, other: Tensor | None, panels: Tensor | None, weight_size: list[int], stride: list[int], padding: list[int], dilation: list[int], groups: int, threads: int, relu: bool) -> Tensor";
  static constexpr auto doc =
      "convolution * scale + shift + other, and with relu relu(that), rounded to the result's dtype once; of a weight as bytes in the layout that the kernel "
      "chose for so many threads, and as the panels in which another kernel reads it, if one does. Shapes: scale and shift (O), float32; other as the result.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  Dims weight_size, stride, padding, dilation;
  int64_t groups, threads;
  bool relu;
  static constexpr Fields fields{&ConvolutionPacked::weight_size, &ConvolutionPacked::stride, &ConvolutionPacked::padding,
                                     &ConvolutionPacked::dilation, &ConvolutionPacked::groups, &ConvolutionPacked::threads, &ConvolutionPacked::relu};
  Meta infer(Inputs in) const;
};

struct ConvolutionInput : Op {
  static constexpr Signature signature =
      "convolution_input(grad_output: Tensor, weight: Tensor, bias: Tensor | None, input_size: list[int], stride: list[int], padding: list[int], dilation: list[int], groups: int) -> Tensor";
  static constexpr auto doc = "Gradient of convolution's input, which is the transposed convolution. Shape: input_size.";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "n(go)D, (go)cK, (gc) -> n(gc)[D+K]";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  static constexpr Layouts layouts = Layouts::any;
  Dims input_size, stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&ConvolutionInput::input_size, &ConvolutionInput::stride, &ConvolutionInput::padding,
                                     &ConvolutionInput::dilation, &ConvolutionInput::groups};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ConvolutionWeight : Op {
  static constexpr Signature signature =
      "convolution_weight(input: Tensor, grad_output: Tensor, weight_size: list[int], stride: list[int], padding: list[int], dilation: list[int], groups: int) -> Tensor";
  static constexpr auto doc = "Gradient of convolution's weight. Shape: weight_size.";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "n(gc)[D+K], n(go)D -> (go)cK";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  static constexpr Layouts layouts = Layouts::any;
  Dims weight_size, stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&ConvolutionWeight::weight_size, &ConvolutionWeight::stride, &ConvolutionWeight::padding,
                                     &ConvolutionWeight::dilation, &ConvolutionWeight::groups};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// What a graph makes of the two gradients of a convolution: where they read the same memory they read it once.
struct ConvolutionGradients : Op {
  static constexpr Signature signature =
      "convolution_gradients(input: Tensor, grad_output: Tensor, weight: Tensor, stride: list[int], padding: list[int], dilation: list[int], groups: int) -> (grad_input: Tensor, grad_weight: Tensor)";
  static constexpr auto doc = "convolution_input and convolution_weight.";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "n(gc)[D+K], n(go)D, (go)cK -> n(gc)[D+K], (go)cK";
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  Dims stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&ConvolutionGradients::stride, &ConvolutionGradients::padding, &ConvolutionGradients::dilation, &ConvolutionGradients::groups};
  /// The two ops that it stands for, given the sizes of input and weight.
  std::pair<ConvolutionInput, ConvolutionWeight> apart(const Dims& input_size, const Dims& weight_size) const;
  std::array<Meta, 2> infer(Inputs in) const;
};

struct Conv1d : Op {
  static constexpr Signature signature =
      "conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: int | list[int] = 0, dilation: int | list[int] = 1, groups: int = 1) -> Tensor";
  static constexpr auto doc = "Convolution over one axis; an input without batch axis gives a result without.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  Dims stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&Conv1d::stride, &Conv1d::padding, &Conv1d::dilation, &Conv1d::groups};
  Tensor compose(Inputs in) const;
};

struct Conv1dStr : Op {
  static constexpr Signature signature =
      "conv1d.padding(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: str = 'valid', dilation: int | list[int] = 1, groups: int = 1) -> Tensor";
  static constexpr auto doc = "Convolution over one axis with padding 'valid' or 'same'.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  Dims stride;
  Str padding;
  Dims dilation;
  int64_t groups;
  static constexpr Fields fields{&Conv1dStr::stride, &Conv1dStr::padding, &Conv1dStr::dilation, &Conv1dStr::groups};
  Tensor compose(Inputs in) const;
};

struct ConvTranspose1d : Op {
  static constexpr Signature signature =
      "conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: int | list[int] = 0, output_padding: int | list[int] = 0, groups: int = 1, dilation: int | list[int] = 1) -> Tensor";
  static constexpr auto doc = "Transposed convolution over one axis. Weight shape: (C, O / groups, *k).";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  Dims stride, padding, output_padding;
  int64_t groups;
  Dims dilation;
  static constexpr Fields fields{&ConvTranspose1d::stride, &ConvTranspose1d::padding, &ConvTranspose1d::output_padding, &ConvTranspose1d::groups, &ConvTranspose1d::dilation};
  Tensor compose(Inputs in) const;
};

struct Conv2d : Op {
  static constexpr Signature signature =
      "conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: int | list[int] = 0, dilation: int | list[int] = 1, groups: int = 1) -> Tensor";
  static constexpr auto doc = "Convolution over two axes; an input without batch axis gives a result without.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  Dims stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&Conv2d::stride, &Conv2d::padding, &Conv2d::dilation, &Conv2d::groups};
  Tensor compose(Inputs in) const;
};

struct Conv2dStr : Op {
  static constexpr Signature signature =
      "conv2d.padding(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: str = 'valid', dilation: int | list[int] = 1, groups: int = 1) -> Tensor";
  static constexpr auto doc = "Convolution over two axes with padding 'valid' or 'same'.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  Dims stride;
  Str padding;
  Dims dilation;
  int64_t groups;
  static constexpr Fields fields{&Conv2dStr::stride, &Conv2dStr::padding, &Conv2dStr::dilation, &Conv2dStr::groups};
  Tensor compose(Inputs in) const;
};

struct ConvTranspose2d : Op {
  static constexpr Signature signature =
      "conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: int | list[int] = 0, output_padding: int | list[int] = 0, groups: int = 1, dilation: int | list[int] = 1) -> Tensor";
  static constexpr auto doc = "Transposed convolution over two axes. Weight shape: (C, O / groups, *k).";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  Dims stride, padding, output_padding;
  int64_t groups;
  Dims dilation;
  static constexpr Fields fields{&ConvTranspose2d::stride, &ConvTranspose2d::padding, &ConvTranspose2d::output_padding, &ConvTranspose2d::groups, &ConvTranspose2d::dilation};
  Tensor compose(Inputs in) const;
};

struct Conv3d : Op {
  static constexpr Signature signature =
      "conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: int | list[int] = 0, dilation: int | list[int] = 1, groups: int = 1) -> Tensor";
  static constexpr auto doc = "Convolution over three axes; an input without batch axis gives a result without.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  Dims stride, padding, dilation;
  int64_t groups;
  static constexpr Fields fields{&Conv3d::stride, &Conv3d::padding, &Conv3d::dilation, &Conv3d::groups};
  Tensor compose(Inputs in) const;
};

struct Conv3dStr : Op {
  static constexpr Signature signature =
      "conv3d.padding(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: str = 'valid', dilation: int | list[int] = 1, groups: int = 1) -> Tensor";
  static constexpr auto doc = "Convolution over three axes with padding 'valid' or 'same'.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  Dims stride;
  Str padding;
  Dims dilation;
  int64_t groups;
  static constexpr Fields fields{&Conv3dStr::stride, &Conv3dStr::padding, &Conv3dStr::dilation, &Conv3dStr::groups};
  Tensor compose(Inputs in) const;
};

struct ConvTranspose3d : Op {
  static constexpr Signature signature =
      "conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | list[int] = 1, padding: int | list[int] = 0, output_padding: int | list[int] = 0, groups: int = 1, dilation: int | list[int] = 1) -> Tensor";
  static constexpr auto doc = "Transposed convolution over three axes. Weight shape: (C, O / groups, *k).";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  Dims stride, padding, output_padding;
  int64_t groups;
  Dims dilation;
  static constexpr Fields fields{&ConvTranspose3d::stride, &ConvTranspose3d::padding, &ConvTranspose3d::output_padding, &ConvTranspose3d::groups, &ConvTranspose3d::dilation};
  Tensor compose(Inputs in) const;
};

/// The op of stride 1, without padding, dilation and groups, over so many axes.
template <class Op> Op plain_convolution(int axes) {
  Op op;
  op.stride = op.dilation = Dims(axes, 1), op.padding = Dims(axes, 0), op.groups = 1;
  return op;
}

using ConvOps = OpList<Convolution, ConvolutionPacked, ConvolutionInput, ConvolutionWeight, ConvolutionGradients, Conv1d, Conv1dStr, ConvTranspose1d, Conv2d,
                       Conv2dStr, ConvTranspose2d, Conv3d, Conv3dStr, ConvTranspose3d>;

namespace fn {
inline constexpr Fn<Convolution> convolution;
inline constexpr Fn<ConvolutionInput> convolution_input;
inline constexpr Fn<ConvolutionWeight> convolution_weight;
inline constexpr Fn<Conv1d, Conv1dStr> conv1d;
inline constexpr Fn<ConvTranspose1d> conv_transpose1d;
inline constexpr Fn<Conv2d, Conv2dStr> conv2d;
inline constexpr Fn<ConvTranspose2d> conv_transpose2d;
inline constexpr Fn<Conv3d, Conv3dStr> conv3d;
inline constexpr Fn<ConvTranspose3d> conv_transpose3d;
}  // namespace fn

}  // namespace weir
