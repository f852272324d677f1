// Ops under the names of PyTorch's kernels, which programs find in its traces and backward formulas. Source of each: native_functions.yaml.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct NativeBatchNorm : Op {
  static constexpr Signature signature =
      "native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "batch_norm, and the mean and 1 / deviation of each channel in training, in the parameters' dtype.";
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.outputs = 0b110};  // those that evaluation does not take
  bool training;
  double momentum, eps;
  static constexpr Fields fields{&NativeBatchNorm::training, &NativeBatchNorm::momentum, &NativeBatchNorm::eps};
  Tensors compose(Inputs in) const;
};

struct BatchNormLegit : Op {
  static constexpr Signature signature =
      "_native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor, training: bool, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "native_batch_norm with running statistics.";
  static constexpr OutRule out{Out::none};
  bool training;
  double momentum, eps;
  static constexpr Fields fields{&BatchNormLegit::training, &BatchNormLegit::momentum, &BatchNormLegit::eps};
  Tensors compose(Inputs in) const;
};

struct BatchNormLegitNoStats : Op {
  static constexpr Signature signature =
      "_native_batch_norm_legit.no_stats(input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "native_batch_norm without running statistics.";
  static constexpr OutRule out{Out::none};
  bool training;
  double momentum, eps;
  static constexpr Fields fields{&BatchNormLegitNoStats::training, &BatchNormLegitNoStats::momentum, &BatchNormLegitNoStats::eps};
  Tensors compose(Inputs in) const;
};

struct BatchNormWithUpdate : Op {
  static constexpr Signature signature =
      "_batch_norm_with_update(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor, reserve: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "native_batch_norm in training, and an empty tensor where other devices keep their workspace.";
  static constexpr OutRule out{Out::none};
  double momentum, eps;
  static constexpr Fields fields{&BatchNormWithUpdate::momentum, &BatchNormWithUpdate::eps};
  Tensors compose(Inputs in) const;
};

struct NativeLayerNorm : Op {
  static constexpr Signature signature =
      "native_layer_norm(input: Tensor, normalized_shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float) -> (output: Tensor, mean: Tensor, rstd: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "layer_norm, and the mean and 1 / deviation of what is normalised together.";
  static constexpr OutRule out{Out::none};
  Dims normalized_shape;
  double eps;
  static constexpr Fields fields{&NativeLayerNorm::normalized_shape, &NativeLayerNorm::eps};
  Tensors compose(Inputs in) const;
};

struct NativeGroupNorm : Op {
  static constexpr Signature signature =
      "native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float) -> (output: Tensor, mean: Tensor, rstd: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "group_norm of (N, C, *) with HxW positions a channel, and the mean and 1 / deviation of each group: (N, group).";
  static constexpr OutRule out{Out::none};
  int64_t N, C, HxW, group;
  double eps;
  static constexpr Fields fields{&NativeGroupNorm::N, &NativeGroupNorm::C, &NativeGroupNorm::HxW, &NativeGroupNorm::group, &NativeGroupNorm::eps};
  Tensors compose(Inputs in) const;
};

struct SoftmaxBackwardData : Op {
  static constexpr Signature signature = "_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "Gradient of softmax, in the dtype of grad_output. Of float32 numbers whose input was float16 there is none on a CPU.";
  static constexpr OutRule out{Out::none};
  int64_t dim;
  DType input_dtype;
  static constexpr Fields fields{&SoftmaxBackwardData::dim, &SoftmaxBackwardData::input_dtype};
  Tensor compose(Inputs in) const;
};

struct NativeDropout : Op {
  static constexpr Signature signature = "native_dropout(input: Tensor, p: float, train: bool | None) -> (output: Tensor, mask: Tensor)";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "(input with elements dropped and the others scaled, the mask of those kept); a copy and ones unless `train`.";
  static constexpr OutRule out{Out::none};
  static constexpr GradientRule gradient{.of_complex = false};
  double p;
  std::optional<bool> train;
  static constexpr Fields fields{&NativeDropout::p, &NativeDropout::train};
  Tensors compose(Inputs in) const;
};

struct NativeDropoutBackward : Op {
  static constexpr Signature signature = "native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "grad_output * mask * scale.";
  static constexpr OutRule out{Out::none};
  double scale;
  static constexpr Fields fields{&NativeDropoutBackward::scale};
  Tensor compose(Inputs in) const;
};

struct MaxPool2dWithIndicesBackward : Op {
  static constexpr Signature signature =
      "max_pool2d_with_indices_backward(grad_output: Tensor, input: Tensor, kernel_size: int | list[int], stride: int | list[int], padding: int | list[int], dilation: int | list[int], ceil_mode: bool, indices: Tensor) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "Each gradient added at its index. Shape: input's.";
  static constexpr OutRule out{Out::none};
  Dims kernel_size, stride, padding, dilation;
  bool ceil_mode;
  static constexpr Fields fields{&MaxPool2dWithIndicesBackward::kernel_size, &MaxPool2dWithIndicesBackward::stride,
                                     &MaxPool2dWithIndicesBackward::padding, &MaxPool2dWithIndicesBackward::dilation,
                                     &MaxPool2dWithIndicesBackward::ceil_mode};
  Tensor compose(Inputs in) const;
};

struct UpsampleBilinear2dAa : Op {
  static constexpr Signature signature =
      "_upsample_bilinear2d_aa(input: Tensor, output_size: list[int], align_corners: bool, scales_h: float | None = None, scales_w: float | None = None) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "interpolate(mode='bilinear', antialias=True). Shape: (N, C, *output_size).";
  static constexpr OutRule out{Out::none};
  Dims output_size;
  bool align_corners;
  std::optional<double> scales_h, scales_w;
  static constexpr Fields fields{&UpsampleBilinear2dAa::output_size, &UpsampleBilinear2dAa::align_corners, &UpsampleBilinear2dAa::scales_h,
                                     &UpsampleBilinear2dAa::scales_w};
  Tensor compose(Inputs in) const;
};

struct UpsampleBilinear2dAaVec : Op {
  static constexpr Signature signature =
      "_upsample_bilinear2d_aa.vec(input: Tensor, output_size: list[int] | None, align_corners: bool, scale_factors: list[float] | None) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "The same by either sizes or scale factors.";
  static constexpr OutRule out{Out::none};
  std::optional<Dims> output_size;
  bool align_corners;
  std::optional<Floats> scale_factors;
  static constexpr Fields fields{&UpsampleBilinear2dAaVec::output_size, &UpsampleBilinear2dAaVec::align_corners,
                                     &UpsampleBilinear2dAaVec::scale_factors};
  Tensor compose(Inputs in) const;
};

struct ChunkCat : Op {
  static constexpr Signature signature = "_chunk_cat(tensors: list[Tensor], dim: int, num_chunks: int) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "Each tensor padded along dim to num_chunks equal pieces; their pieces, flattened behind dim, side by side.";
  int64_t dim, num_chunks;
  static constexpr Fields fields{&ChunkCat::dim, &ChunkCat::num_chunks};
  Tensor compose(Inputs in) const;
};

using NativeOps = OpList<NativeBatchNorm, BatchNormLegit, BatchNormLegitNoStats, BatchNormWithUpdate, NativeLayerNorm, NativeGroupNorm, SoftmaxBackwardData,
                         NativeDropout, NativeDropoutBackward, MaxPool2dWithIndicesBackward, UpsampleBilinear2dAa, UpsampleBilinear2dAaVec, ChunkCat>;

}  // namespace weir
