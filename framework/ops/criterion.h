// Losses between predictions and targets. Source of each: the PyTorch page of its name. reduction: 1 mean, 2 sum, anything else none,
// which is PyTorch's own default.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct MseLoss : Op {
  static constexpr Signature signature = "mse_loss(input: Tensor, target: Tensor, reduction: int = 1, weight: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "(input - target)^2; a weighted mean divides by the weights.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  static constexpr Fields fields{&MseLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct L1Loss : Op {
  static constexpr Signature signature = "l1_loss(input: Tensor, target: Tensor, reduction: int = 1, weight: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "|input - target|; a weighted mean divides by the weights.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  static constexpr Fields fields{&L1Loss::reduction};
  Tensor compose(Inputs in) const;
};

struct SmoothL1Loss : Op {
  static constexpr Signature signature = "smooth_l1_loss(input: Tensor, target: Tensor, reduction: int = 1, beta: float = 1.0) -> Tensor";
  static constexpr auto doc = "d^2 / (2 beta) where d = |input - target| < beta, d - beta / 2 elsewhere. Source: Girshick 2015.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  double beta;
  static constexpr Fields fields{&SmoothL1Loss::reduction, &SmoothL1Loss::beta};
  Tensor compose(Inputs in) const;
};

struct HuberLoss : Op {
  static constexpr Signature signature = "huber_loss(input: Tensor, target: Tensor, reduction: int = 1, delta: float = 1.0, weight: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "d^2 / 2 where d = |input - target| <= delta, delta (d - delta / 2) elsewhere, in input's dtype. Source: Huber 1964.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  double delta;
  static constexpr Fields fields{&HuberLoss::reduction, &HuberLoss::delta};
  Tensor compose(Inputs in) const;
};

struct BinaryCrossEntropyForward : Op {
  static constexpr Signature signature = "binary_cross_entropy_forward(input: Tensor, target: Tensor) -> Tensor";
  static constexpr auto doc = "-(t log p + (1 - t) log(1 - p)), logarithms at least -100. RuntimeError for p outside [0, 1].";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct BinaryCrossEntropy : Op {
  static constexpr Signature signature =
      "binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1) -> Tensor";
  static constexpr auto doc = "binary_cross_entropy_forward, weighted and reduced.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  static constexpr Fields fields{&BinaryCrossEntropy::reduction};
  Tensor compose(Inputs in) const;
};

struct BceWithLogits : Op {
  static constexpr Signature signature =
      "binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0) -> Tensor";
  static constexpr auto doc = "binary_cross_entropy of sigmoid(input), without overflow; pos_weight scales the positive part.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  int64_t reduction;
  static constexpr Fields fields{&BceWithLogits::reduction};
  Tensor compose(Inputs in) const;
};

struct KlDiv : Op {
  static constexpr Signature signature = "kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor";
  static constexpr auto doc = "target (log target - input), input being log-probabilities, and target too with log_target.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  int64_t reduction;
  bool log_target;
  static constexpr Fields fields{&KlDiv::reduction, &KlDiv::log_target};
  Tensor compose(Inputs in) const;
};

struct KlDivBatchMean : Op {
  static constexpr Signature signature = "kl_div_batchmean(input: Tensor, target: Tensor, reduction: int = 2, *, log_target: bool = False) -> Tensor";
  static constexpr auto doc = "kl_div, divided by the size of input's first axis where it has one.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  int64_t reduction;
  bool log_target;
  static constexpr Fields fields{&KlDivBatchMean::reduction, &KlDivBatchMean::log_target};
  Tensor compose(Inputs in) const;
};

struct PoissonNllLoss : Op {
  static constexpr Signature signature =
      "poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor";
  static constexpr auto doc = "Negative log likelihood of Poisson counts of rate exp(input), or input without log_input.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  bool log_input, full;
  double eps;
  int64_t reduction;
  static constexpr Fields fields{&PoissonNllLoss::log_input, &PoissonNllLoss::full, &PoissonNllLoss::eps, &PoissonNllLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct HingeEmbeddingLoss : Op {
  static constexpr Signature signature = "hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor";
  static constexpr auto doc = "input where target is 1, max(0, margin - input) where it is -1.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  double margin;
  int64_t reduction;
  static constexpr Fields fields{&HingeEmbeddingLoss::margin, &HingeEmbeddingLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct MarginRankingLoss : Op {
  static constexpr Signature signature =
      "margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor";
  static constexpr auto doc = "max(0, -target (input1 - input2) + margin); target is 1 or -1.";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  double margin;
  int64_t reduction;
  static constexpr Fields fields{&MarginRankingLoss::margin, &MarginRankingLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct CosineEmbeddingLoss : Op {
  static constexpr Signature signature =
      "cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor";
  static constexpr auto doc = "1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1. Shapes: (N, D), (N, D), (N).";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  double margin;
  int64_t reduction;
  static constexpr Fields fields{&CosineEmbeddingLoss::margin, &CosineEmbeddingLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct SoftMarginLoss : Op {
  static constexpr Signature signature = "soft_margin_loss(input: Tensor, target: Tensor, reduction: int = 1) -> Tensor";
  static constexpr auto doc = "log(1 + exp(-target input)), of input's shape and dtype.";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  static constexpr Fields fields{&SoftMarginLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct MultiMarginOf : Op {
  static constexpr Signature signature = "multi_margin_of(input: Tensor, target: Tensor, weight: Tensor | None, squared: bool, margin: float) -> Tensor";
  static constexpr auto doc = "Mean over classes i != t of weight[t] max(0, margin - x_t + x_i), or its square. Shapes: (N, C), (N) int64, (C) -> (N).";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b111};
  bool squared;
  double margin;
  static constexpr Fields fields{&MultiMarginOf::squared, &MultiMarginOf::margin};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MultiMarginBackward : Op {
  static constexpr Signature signature =
      "multi_margin_backward(grad_output: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, squared: bool, margin: float) -> Tensor";
  static constexpr auto doc = "Gradient of multi_margin_of's input. Shape: (N, C).";
  static constexpr Module module = Module::hidden;
  bool squared;
  double margin;
  static constexpr Fields fields{&MultiMarginBackward::squared, &MultiMarginBackward::margin};
  Meta infer(Inputs in) const;
};

struct MultilabelMarginOf : Op {
  static constexpr Signature signature = "multilabel_margin_of(input: Tensor, target: Tensor) -> Tensor";
  static constexpr auto doc =
      "Sum over labels j and other classes i of max(0, 1 - x_j + x_i) / C; a row's labels end at its first -1. Shapes: (N, C), (N, C) int64 -> (N).";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MultilabelMarginBackward : Op {
  static constexpr Signature signature = "multilabel_margin_backward(grad_output: Tensor, input: Tensor, target: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of multilabel_margin_of's input. Shape: (N, C).";
  static constexpr Module module = Module::hidden;
  Meta infer(Inputs in) const;
};

struct MultiMarginLoss : Op {
  static constexpr Signature signature =
      "multi_margin_loss(input: Tensor, target: Tensor, p: Number = 1, margin: Number = 1, weight: Tensor | None = None, reduction: int = 1) -> Tensor";
  static constexpr auto doc = "Mean over classes i != t of weight[t] max(0, margin - x_t + x_i)^p. Shapes: (N, C), (N).";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  Scalar p, margin;
  int64_t reduction;
  static constexpr Fields fields{&MultiMarginLoss::p, &MultiMarginLoss::margin, &MultiMarginLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct MultilabelMarginLoss : Op {
  static constexpr Signature signature = "multilabel_margin_loss(input: Tensor, target: Tensor, reduction: int = 1) -> Tensor";
  static constexpr auto doc = "Sum over labels j and other classes i of max(0, 1 - (x_j - x_i)) / C; a row's labels end at its first -1.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  int64_t reduction;
  static constexpr Fields fields{&MultilabelMarginLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct GaussianNllLoss : Op {
  static constexpr Signature signature =
      "gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | Number, full: bool = False, eps: Number = 1e-06, reduction: int = 1) -> Tensor";
  static constexpr auto doc =
      "Negative log-likelihood of normal distributions with means input and variances var, at least eps; the gradient of var ignores that bound. "
      "var is a number, or as input, or lacks its last axis or has 1 there. ValueError for another shape and for negative variances.";
  static constexpr Module module = Module::hidden;
  static constexpr CallRule calling{.numpy_names = false, .truthy = true};
  bool full;
  Scalar eps;
  int64_t reduction;
  static constexpr Fields fields{&GaussianNllLoss::full, &GaussianNllLoss::eps, &GaussianNllLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct TripletMarginLoss : Op {
  static constexpr Signature signature =
      "triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, "
      "swap: bool = False, reduction: int = 0) -> Tensor";
  static constexpr auto doc =
      "max(0, d(anchor, positive) - d(anchor, negative) + margin); `swap` takes the nearer of anchor and positive to the negative. Source: "
      "Balntas et al. 2016.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::float32;
  double margin, p, eps;
  bool swap;
  int64_t reduction;
  static constexpr Fields fields{&TripletMarginLoss::margin, &TripletMarginLoss::p, &TripletMarginLoss::eps, &TripletMarginLoss::swap,
                                     &TripletMarginLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct MultilabelSoftMarginLoss : Op {
  static constexpr Signature signature =
      "multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1) -> Tensor";
  static constexpr auto doc = "Mean over classes of binary_cross_entropy_with_logits. Shapes: (N, C), (N, C).";
  static constexpr Module module = Module::hidden;
  int64_t reduction;
  static constexpr Fields fields{&MultilabelSoftMarginLoss::reduction};
  Tensor compose(Inputs in) const;
};

struct CrossEntropyOfProbabilities : Op {
  static constexpr Signature signature =
      "cross_entropy_of_probabilities(input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float) -> Tensor";
  static constexpr auto doc = "-log softmax(input) times target, both (N, C, *), summed over classes; the mean is over all but them.";
  static constexpr Module module = Module::hidden;
  int64_t reduction;
  double label_smoothing;
  static constexpr Fields fields{&CrossEntropyOfProbabilities::reduction, &CrossEntropyOfProbabilities::label_smoothing};
  Tensor compose(Inputs in) const;
};

using CriterionOps = OpList<MseLoss, L1Loss, SmoothL1Loss, HuberLoss, BinaryCrossEntropyForward, BinaryCrossEntropy, BceWithLogits, KlDiv,
                            KlDivBatchMean, PoissonNllLoss, HingeEmbeddingLoss, MarginRankingLoss, CosineEmbeddingLoss, SoftMarginLoss, MultiMarginOf, MultiMarginBackward, MultilabelMarginOf,
                            MultilabelMarginBackward, MultiMarginLoss,
                            MultilabelMarginLoss, GaussianNllLoss, TripletMarginLoss, MultilabelSoftMarginLoss, CrossEntropyOfProbabilities>;

namespace fn {
inline constexpr Fn<MseLoss> mse_loss;
inline constexpr Fn<BinaryCrossEntropyForward> binary_cross_entropy_forward;
inline constexpr Fn<BinaryCrossEntropy> binary_cross_entropy;
inline constexpr Fn<MultiMarginOf> multi_margin_of;
inline constexpr Fn<MultiMarginBackward> multi_margin_backward;
inline constexpr Fn<MultilabelMarginOf> multilabel_margin_of;
inline constexpr Fn<MultilabelMarginBackward> multilabel_margin_backward;
inline constexpr Fn<BceWithLogits> binary_cross_entropy_with_logits;
inline constexpr Fn<KlDiv> kl_div;
inline constexpr Fn<CrossEntropyOfProbabilities> cross_entropy_of_probabilities;
}  // namespace fn

}  // namespace weir
