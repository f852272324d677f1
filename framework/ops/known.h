// Values computed without a history, with the derivatives that PyTorch writes down for them: through the parts of the formula they would be
// rounded more often, or cancel. Source: PyTorch's logsumexp_backward, binary_cross_entropy_with_logits_backward, soft_margin_loss_backward and
// soft_margin_loss_double_backward.
#pragma once
#include "framework/autograd/variable.h"
#include "framework/op/call.h"

namespace weir {

struct LogsumexpOf : Op {
  static constexpr Signature signature = "logsumexp_of(input: Tensor, result: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of result, logsumexp(input) with the reduced axes kept.";
  static constexpr Notation notation = "reduce dim";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct BceWithLogitsOf : Op {
  static constexpr Signature signature = "bce_with_logits_of(input: Tensor, target: Tensor, pos_weight: Tensor | None, loss: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of loss, binary_cross_entropy_with_logits of each element.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b111};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SoftMarginOf : Op {
  static constexpr Signature signature = "soft_margin_of(input: Tensor, target: Tensor, loss: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of loss, log(1 + exp(-target input)).";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b11};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SoftMarginSlopeOf : Op {
  static constexpr Signature signature = "soft_margin_slope_of(grad: Tensor, input: Tensor, target: Tensor, slope: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of slope, the gradient of soft_margin_of's input where `grad` is that of its result.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b111};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using KnownOps = OpList<LogsumexpOf, BceWithLogitsOf, SoftMarginOf, SoftMarginSlopeOf>;

namespace fn {
inline constexpr Fn<LogsumexpOf> logsumexp_of;
inline constexpr Fn<BceWithLogitsOf> bce_with_logits_of;
inline constexpr Fn<SoftMarginOf> soft_margin_of;
inline constexpr Fn<SoftMarginSlopeOf> soft_margin_slope_of;
}  // namespace fn

}  // namespace weir
