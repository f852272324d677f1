// The loss that has a kernel of its own: negative log likelihood, and cross entropy over it.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct NllLoss : Op {
  static constexpr Signature signature =
      "nll_loss_nd(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int) -> (output: Tensor, total_weight: Tensor)";
  static constexpr auto doc = "-weight[target] * input at target. Shapes: (N, C, *), (N, *) int64; reduction 'none', 'mean' or 'sum'.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr Save saves{.inputs = 0b110, .output = true};
  Str reduction;
  int64_t ignore_index;
  static constexpr std::tuple fields{&NllLoss::reduction, &NllLoss::ignore_index};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NllLossBackward : Op {
  static constexpr Signature signature =
      "nll_loss_backward(grad_output: Tensor, target: Tensor, weight: Tensor | None, total_weight: Tensor, input_size: list[int], reduction: str, ignore_index: int) -> Tensor";
  static constexpr auto doc = "Gradient of nll_loss_nd's input. Shape: input_size.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1110};
  Dims input_size;
  Str reduction;
  int64_t ignore_index;
  static constexpr std::tuple fields{&NllLossBackward::input_size, &NllLossBackward::reduction, &NllLossBackward::ignore_index};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using LossOps = OpList<NllLoss, NllLossBackward>;

}  // namespace weir
