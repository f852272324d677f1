// What a graph makes of batch norm beside convolutions of single places: what one makes is taken where it is made, and not read from memory for it.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct BatchNormApplyPositive : Op {
  static constexpr Signature signature =
      "batch_norm_apply_positive(input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, other: Tensor | None, other_mean: Tensor | None, other_invstd: Tensor | None, other_weight: Tensor | None, other_bias: Tensor | None) -> (output: Tensor, positive: Tensor)";
  static constexpr auto doc =
      "batch_norm_apply with relu, and a bit for each number of its result, in the order of its memory and the lowest of a byte first: whether ReLU lets a gradient pass. Shape of positive: uint8 (ceil(n / 8)).";
  static constexpr Notation notation = "ncX, c, c, c, c, ncX, c, c, c, c -> ncX, p";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  std::array<Meta, 2> infer(Inputs in) const;
};

struct ConvolutionBatchNormStatistics : Op {
  static constexpr Signature signature =
      "convolution_batch_norm_statistics(input: Tensor, kernel: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr auto doc = "convolution of stride 1 by a kernel of single places, (O, C, 1, ...), and batch_norm_statistics of its result.";
  static constexpr Notation notation = "ncX, ocK, o, o -> noX, o, o";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double momentum, eps;
  static constexpr Fields fields{&ConvolutionBatchNormStatistics::momentum, &ConvolutionBatchNormStatistics::eps};
  std::array<Meta, 3> infer(Inputs in) const;
};

struct BatchNormConvolutionStatistics : Op {
  static constexpr Signature signature =
      "batch_norm_convolution_statistics(input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, other: Tensor | None, other_mean: Tensor | None, other_invstd: Tensor | None, other_weight: Tensor | None, other_bias: Tensor | None, kernel: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float, eps: float) -> (output: Tensor, positive: Tensor, convolved: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr auto doc = "batch_norm_apply_positive, and convolution_batch_norm_statistics of its output.";
  static constexpr Notation notation = "ncX, c, c, c, c, ncX, c, c, c, c, ocK, o, o -> ncX, p, noX, o, o";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double momentum, eps;
  static constexpr Fields fields{&BatchNormConvolutionStatistics::momentum, &BatchNormConvolutionStatistics::eps};
  std::array<Meta, 5> infer(Inputs in) const;
};

struct ConvolutionSumReluBatchNormBackward : Op {
  static constexpr Signature signature =
      "convolution_sum_relu_batch_norm_backward(grad_output: Tensor, kernel: Tensor, other: Tensor, output: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, training: bool, eps: float, step: list[int]) -> (grad_sum: Tensor, grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc =
      "batch_norm_sum_relu_backward of convolution_input(grad_output, kernel) and other. The convolution's stride is 1, its kernel of single places, (O, C, 1, ...). Output may be the bits of "
      "batch_norm_apply_positive, which are in the order of grad_sum's memory.";
  static constexpr Notation notation = "noX, ocK, ncY, Z, ncX, c, c, c -> ncX, ncX, c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  bool training;
  double eps;
  Dims step;
  static constexpr Fields fields{&ConvolutionSumReluBatchNormBackward::training, &ConvolutionSumReluBatchNormBackward::eps, &ConvolutionSumReluBatchNormBackward::step};
  std::array<Meta, 4> infer(Inputs in) const;
};

/// The same but for the gradient of batch norm's input, which batch_norm_convolution_gradients makes where it is read.
struct ConvolutionSumReluBatchNormSums : Op {
  static constexpr Signature signature =
      "convolution_sum_relu_batch_norm_sums(grad_output: Tensor, kernel: Tensor, other: Tensor, output: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, eps: float, step: list[int]) -> (grad_sum: Tensor, coefficients: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc =
      "convolution_sum_relu_batch_norm_backward in training; in the place of grad_input numbers of each channel, float64 of (3, C): it is coefficients[0] * grad_sum + coefficients[1] * input + coefficients[2].";
  static constexpr Notation notation = "noX, ocK, ncY, Z, ncX, c, c, c -> ncX, tc, c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double eps;
  Dims step;
  static constexpr Fields fields{&ConvolutionSumReluBatchNormSums::eps, &ConvolutionSumReluBatchNormSums::step};
  std::array<Meta, 4> infer(Inputs in) const;
};

struct BatchNormConvolutionGradients : Op {
  static constexpr Signature signature =
      "batch_norm_convolution_gradients(input: Tensor, grad_output: Tensor, norm_input: Tensor, coefficients: Tensor, weight: Tensor) -> (grad_input: Tensor, grad_weight: Tensor)";
  static constexpr auto doc =
      "convolution_gradients of stride 1 by a weight of single places, (O, C, 1, ...), given the gradient of what batch norm makes of the convolution's result norm_input, and the coefficients "
      "of convolution_sum_relu_batch_norm_sums.";
  static constexpr Notation notation = "ncX, noX, noX, to, ocK -> ncX, ocK";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  std::array<Meta, 2> infer(Inputs in) const;
};

using BatchNormConvolutionOps = OpList<BatchNormApplyPositive, ConvolutionBatchNormStatistics, BatchNormConvolutionStatistics, ConvolutionSumReluBatchNormBackward, ConvolutionSumReluBatchNormSums,
                                       BatchNormConvolutionGradients>;

}  // namespace weir
