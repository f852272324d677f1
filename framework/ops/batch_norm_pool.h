// What a graph makes of batch norm, ReLU and a max pool over pictures: between them nothing goes through memory.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct BatchNormReluMaxPool : Op {
  static constexpr Signature signature =
      "batch_norm_relu_max_pool(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, momentum: float, eps: float, kernel_size: list[int], stride: list[int], padding: list[int]) -> (output: Tensor, places: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr auto doc =
      "max_pool2d(relu(batch_norm(input))) in training, rounded after each step, channels last, and as uint8 where in its window each largest number stood, row by row. "
      "Shape: (N, C, H, W) -> (N, C, *out), C from 16 on; windows of up to 255 places.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double momentum, eps;
  Dims kernel_size, stride, padding;
  static constexpr Fields fields{&BatchNormReluMaxPool::momentum, &BatchNormReluMaxPool::eps, &BatchNormReluMaxPool::kernel_size, &BatchNormReluMaxPool::stride, &BatchNormReluMaxPool::padding};
  std::array<Meta, 4> infer(Inputs in) const;
};

struct BatchNormReluMaxPoolBackward : Op {
  static constexpr Signature signature =
      "batch_norm_relu_max_pool_backward(grad_output: Tensor, places: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, kernel_size: list[int], stride: list[int], padding: list[int]) -> (grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc = "Gradients of batch_norm_relu_max_pool, from the statistics and the places that were saved. What ReLU gave is computed again, to the same bits.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double eps;
  Dims kernel_size, stride, padding;
  static constexpr Fields fields{&BatchNormReluMaxPoolBackward::eps, &BatchNormReluMaxPoolBackward::kernel_size, &BatchNormReluMaxPoolBackward::stride, &BatchNormReluMaxPoolBackward::padding};
  std::array<Meta, 3> infer(Inputs in) const;
};

using BatchNormPoolOps = OpList<BatchNormReluMaxPool, BatchNormReluMaxPoolBackward>;

}  // namespace weir
