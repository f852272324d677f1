// The loss that has a kernel of its own: negative log likelihood, and cross entropy over it.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct NllLoss : Op {
  static constexpr Signature signature =
      "nll_loss_forward(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> (output: Tensor, total_weight: Tensor)";
  static constexpr auto doc = "-weight[target] * input at target. Shapes: (N, C, *), (N, *) int64; reduction 'none', 'mean' or 'sum'.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b110, .outputs = 0b10};
  Str reduction;
  int64_t ignore_index;
  static constexpr std::tuple fields{&NllLoss::reduction, &NllLoss::ignore_index};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NllLossBackward : Op {
  static constexpr Signature signature =
      "nll_loss_backward(grad_output: Tensor, target: Tensor, weight: Tensor | None, total_weight: Tensor, input_size: list[int], reduction: str, ignore_index: int) -> Tensor";
  static constexpr auto doc = "Gradient of nll_loss_forward's input. Shape: input_size.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1110};
  Dims input_size;
  Str reduction;
  int64_t ignore_index;
  static constexpr std::tuple fields{&NllLossBackward::input_size, &NllLossBackward::reduction, &NllLossBackward::ignore_index};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NllLossNd : Op {
  static constexpr Signature signature =
      "nll_loss_nd(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> Tensor";
  static constexpr auto doc = "As nll_loss_forward, without the sum of weights.";
  static constexpr Module module = Module::hidden;
  Str reduction;
  int64_t ignore_index;
  static constexpr std::tuple fields{&NllLossNd::reduction, &NllLossNd::ignore_index};
  Tensor compose(Inputs in) const;
};

struct CrossEntropy : Op {
  static constexpr Signature signature =
      "cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float) -> Tensor";
  static constexpr auto doc = "nll_loss of log_softmax over the classes; targets are class indices. Shapes: (N, C, *), (N, *).";
  static constexpr Module module = Module::hidden;
  int64_t ignore_index;
  Str reduction;
  double label_smoothing;
  static constexpr std::tuple fields{&CrossEntropy::ignore_index, &CrossEntropy::reduction, &CrossEntropy::label_smoothing};
  Tensor compose(Inputs in) const;
};

using LossOps = OpList<NllLoss, NllLossBackward, NllLossNd, CrossEntropy>;

namespace fn {
inline constexpr Fn<NllLoss> nll_loss_forward;
inline constexpr Fn<NllLossBackward> nll_loss_backward;
inline constexpr Fn<NllLossNd> nll_loss_nd;
inline constexpr Fn<CrossEntropy> cross_entropy;
}  // namespace fn

}  // namespace weir
