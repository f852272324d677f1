// Connectionist temporal classification. Source: Graves et al. 2006; the gradient is PyTorch's, with respect to log_softmax's input.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct CtcLoss : Op {
  static constexpr Signature signature =
      "ctc_loss_forward(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int, zero_infinity: bool) -> (loss: Tensor, log_alpha: Tensor)";
  static constexpr auto doc =
      "-log of the probability of all alignments of each target. Shapes: log_probs (T, N, C), int64 targets (N, S) or joined (sum of "
      "target_lengths), int64 lengths (N) -> loss (N), log_alpha (N, T, 2 S + 1) float64. RuntimeError for lengths or targets out of range.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1111, .outputs = 0b11};
  static constexpr GradientRule gradient{.outputs = 0b1};
  int64_t blank;
  bool zero_infinity;
  static constexpr Fields fields{&CtcLoss::blank, &CtcLoss::zero_infinity};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct CtcLossBackward : Op {
  static constexpr Signature signature =
      "ctc_loss_backward(grad_output: Tensor, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, loss: Tensor, log_alpha: Tensor, blank: int, zero_infinity: bool) -> Tensor";
  static constexpr auto doc = "Gradient of ctc_loss_forward's log_probs. Shape: (T, N, C).";
  static constexpr Module module = Module::hidden;
  int64_t blank;
  bool zero_infinity;
  static constexpr Fields fields{&CtcLossBackward::blank, &CtcLossBackward::zero_infinity};
  Meta infer(Inputs in) const;
};

struct CtcLossReduced : Op {
  static constexpr Signature signature =
      "ctc_loss_reduced(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int, reduction: int, zero_infinity: bool) -> Tensor";
  static constexpr auto doc =
      "ctc_loss_forward's losses, summed (reduction 2) or divided by the target lengths and averaged (1). Shapes: log_probs (T, N, C) or (T, C), "
      "integral targets (N, S) or joined, integral lengths (N) or () -> (N), () for a reduction or no batch.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t blank, reduction;
  bool zero_infinity;
  static constexpr Fields fields{&CtcLossReduced::blank, &CtcLossReduced::reduction, &CtcLossReduced::zero_infinity};
  Tensor compose(Inputs in) const;
};

using CtcOps = OpList<CtcLoss, CtcLossBackward, CtcLossReduced>;

namespace fn {
inline constexpr Fn<CtcLoss> ctc_loss_forward;
inline constexpr Fn<CtcLossBackward> ctc_loss_backward;
inline constexpr Fn<CtcLossReduced> ctc_loss_reduced;
}  // namespace fn

}  // namespace weir
