// The loss that has a kernel of its own: negative log likelihood, and cross entropy over it. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct NllLoss : Op {
  static constexpr Signature signature =
      "nll_loss_forward(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> (output: Tensor, total_weight: Tensor)";
  static constexpr auto doc = "-weight[target] * input at target. Shapes: (N, C, *), (N, *) int64; reduction 'none', 'mean' or 'sum'.";
  static constexpr Notation notation = "gather";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b110, .outputs = 0b10};
  Str reduction;
  int64_t ignore_index;
  static constexpr Fields fields{&NllLoss::reduction, &NllLoss::ignore_index};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NllLossBackward : Op {
  static constexpr Signature signature =
      "nll_loss_backward(grad_output: Tensor, target: Tensor, weight: Tensor | None, total_weight: Tensor, input_size: list[int], reduction: str, ignore_index: int) -> Tensor";
  static constexpr auto doc = "Gradient of nll_loss_forward's input. Shape: input_size.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1110};
  Dims input_size;
  Str reduction;
  int64_t ignore_index;
  static constexpr Fields fields{&NllLossBackward::input_size, &NllLossBackward::reduction, &NllLossBackward::ignore_index};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NllLossNd : Op {
  static constexpr Signature signature =
      "nll_loss_nd(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> Tensor";
  static constexpr auto doc = "As nll_loss_forward, without the sum of weights. No gradient reaches these.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  Str reduction;
  int64_t ignore_index;
  static constexpr Fields fields{&NllLossNd::reduction, &NllLossNd::ignore_index};
  Tensor compose(Inputs in) const;
};

struct CrossEntropy : Op {
  static constexpr Signature signature =
      "cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float) -> Tensor";
  static constexpr auto doc =
      "-log softmax(input) at target: class indices (N, *), or probabilities of input's shape (N, C, *). A label_smoothing below 0, or NaN, is none.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t ignore_index;
  Str reduction;
  double label_smoothing;
  static constexpr Fields fields{&CrossEntropy::ignore_index, &CrossEntropy::reduction, &CrossEntropy::label_smoothing};
  Tensor compose(Inputs in) const;
};

struct LinearCrossEntropy : Op {
  static constexpr Signature signature =
      "linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, linear_bias: Tensor | None, weight: Tensor | None, reduction: str, "
      "ignore_index: int | None, label_smoothing: float) -> Tensor";
  static constexpr auto doc = "cross_entropy of the logits input @ linear_weight.T + linear_bias. Shapes: (N, F) or (F,), (C, *, F), (N, *).";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  Str reduction;
  std::optional<int64_t> ignore_index;
  double label_smoothing;
  static constexpr Fields fields{&LinearCrossEntropy::reduction, &LinearCrossEntropy::ignore_index, &LinearCrossEntropy::label_smoothing};
  Tensor compose(Inputs in) const;
};

using LossOps = OpList<NllLoss, NllLossBackward, NllLossNd, CrossEntropy, LinearCrossEntropy>;

namespace fn {
inline constexpr Fn<NllLoss> nll_loss_forward;
inline constexpr Fn<NllLossBackward> nll_loss_backward;
inline constexpr Fn<NllLossNd> nll_loss_nd;
inline constexpr Fn<CrossEntropy> cross_entropy;
}  // namespace fn

}  // namespace weir
