#include "framework/ops/criterion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/factory.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/known.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/vector_norm.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

Tensor reduced(const Tensor& loss, int64_t reduction) {
  return reduction == 1 ? fn::mean(loss) : reduction == 2 ? fn::sum(loss) : loss;
}

// Weighted and reduced; the mean divides by the weights where it is `weighted`.
Tensor weighed(const Tensor& loss, const Tensor& weight, int64_t reduction, bool weighted) {
  if (!weight) return reduced(loss, reduction);
  check<ValueError>(weight.sizes() == loss.sizes(), "Weights and input must have the same size.");
  return weighted && reduction == 1 ? fn::sum(loss * weight) / fn::sum(weight) : reduced(loss * weight, reduction);
}

void check_fractions(const char* op, const Tensor& t) {
  check<NotImplemented>(is_floating(t.dtype()), op, ": not implemented for ", name_of(t.dtype()));
}

// What PyTorch has loops for in float32 and float64 only.
void check_wide(const char* op, const Tensor& t) {
  check<NotImplemented>(t.numel() == 0 || !is_reduced(t.dtype()), op, ": not implemented for ", name_of(t.dtype()));
}

// PyTorch has no derivative with respect to some arguments.
void check_constant(const char* op, const char* name, const Tensor& t) {
  check(!t || !mode.grad || !t.has_flag(kRequiresGrad), "The function '", op, "' is not differentiable with respect to argument '", name,
        "'. This input cannot have requires_grad True.");
}

Tensor at_least_0(const Tensor& x) { return fn::clamp(x, Scalar(int64_t(0))); }
Tensor zeros_like(const Tensor& x) { return zeros_of(Meta(x.sizes(), x.dtype(), x.device())); }

// Rows and labels of (N, C) and (N), or of one example.
struct Examples {
  Tensor rows, labels;
  bool single;
};

Tensor per_example(const Tensor& loss, const Examples& e, int64_t reduction) {
  return reduced(e.single ? fn::squeeze(loss, Dims{0}) : loss, reduction);
}

void check_examples(const Tensor& x) {
  check(x.ndim() <= 2 && (x.ndim() == 0 || x.size(-1) > 0), "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", x.sizes());
}

Tensor of_no_examples(const Tensor& x, int64_t reduction) { return zeros_of(Meta(reduction ? Dims{} : Dims{0}, x.dtype(), x.device())); }

Dims up_to_last(Dims sizes) {
  sizes.n--;
  return sizes;
}
// As many variances as input has elements, or one for each row.
Tensor variances(const Tensor& input, const Tensor& var) {
  const Dims &sizes = input.sizes(), &given = var.sizes();
  if (given == sizes) return var;
  if (sizes.n && given == up_to_last(sizes)) return fn::unsqueeze(var, int64_t(-1));
  int others = 0;
  bool ones = sizes.n == given.n;
  for (int i = 0; ones && i < sizes.n; i++)
    if (sizes[i] != given[i]) others++, ones = given[i] == 1;
  check<ValueError>(ones && others == 1, "gaussian_nll_loss: var is of incorrect size, expected that of input, ", sizes, ", got ", given);
  return var;
}

}  // namespace

Tensor MseLoss::compose(Inputs in) const {
  const DType type = result_type(in.first(2));
  check<NotImplemented>(is_floating(type), "mse_loss: not implemented for ", name_of(type));
  const Tensor x = cast_to(in[0], type), target = cast_to(in[1], type);  // one of bools counts as numbers here
  // Source: PyTorch, which rounds differences to halves.
  return weighed(is_reduced(type) ? fn::square(x - target) : fn::squared_difference(x, target), in[2], reduction, true);
}
Tensor L1Loss::compose(Inputs in) const { return weighed(fn::abs(in[0] - in[1]), in[2], reduction, true); }
Tensor SmoothL1Loss::compose(Inputs in) const {
  check(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return reduced(fn::abs(in[0] - in[1]), reduction);
  check<NotImplemented>(is_floating(in[0].dtype()) || is_floating(in[1].dtype()), "smooth_l1_loss: not implemented for ", name_of(in[0].dtype()));
  return reduced(fn::bowl(in[0], in[1], beta, 1 / beta), reduction);
}
Tensor HuberLoss::compose(Inputs in) const {
  check(delta > 0, "huber_loss does not support non-positive values for delta.");
  check(is_floating(in[0].dtype()) || !is_floating(in[1].dtype()), "huber_loss: not implemented for ", name_of(in[0].dtype()));
  check_fractions("huber_loss", in[0]);
  check<ValueError>(!in[2] || in[2].sizes() == in[0].sizes(), "Weights and input must have the same size.");
  const Tensor loss = cast_to(fn::bowl(in[0], in[1], delta, 1.0), in[0].dtype());  // target does not widen the result
  return weighed(loss, in[2], reduction, false);
}

Meta BinaryCrossEntropyForward::infer(Inputs in) const {
  const Tensor& x = in[0];
  check(x.dtype() == in[1].dtype(), "Found dtype ", name_of(in[1].dtype()), " but expected ", name_of(x.dtype()));
  check_fractions("binary_cross_entropy", x);
  return {x.sizes(), x.dtype(), x.device()};
}
Tensors BinaryCrossEntropyForward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor p = s.input(0), t = s.input(1);
  Tensors g(2);
  if (s.needs(0)) g[0] = fn::binary_cross_entropy_backward(dy, p, t);
  if (s.needs(1)) g[1] = -dy * fn::logit(p);
  return g;
}
Tensor BinaryCrossEntropy::compose(Inputs in) const {
  check<ValueError>(in[0].sizes() == in[1].sizes(), "Using a target size (", in[1].sizes(), ") that is different to the input size (",
                    in[0].sizes(), ") is deprecated. Please ensure they have the same size.");
  check_constant("binary_cross_entropy", "weight", in[2]);
  check(!in[2] || broadcast("binary_cross_entropy", in[0].sizes(), in[2].sizes()) == in[0].sizes(), "binary_cross_entropy: output with shape ", in[0].sizes(),
        " doesn't match the broadcast shape of a weight of ", in[2] ? in[2].sizes() : Dims());
  Tensor loss = fn::binary_cross_entropy_forward(in[0], in[1]);
  return reduced(in[2] ? loss * in[2] : loss, reduction);
}

// Of each element, and without a history.
static Tensor with_logits(const Tensor& x, const Tensor& t, const Tensor& pos_weight) {
  Tensor log_sigmoid = fn::logsigmoid(x), kept = laid_out_as(1.0 - t, t);
  if (pos_weight) {
    Tensor weight = (pos_weight - 1.0) * t + 1.0;
    check(broadcast("mul", log_sigmoid.sizes(), weight.sizes()) == log_sigmoid.sizes(), "output with shape ", log_sigmoid.sizes(),
          " doesn't match the broadcast shape ", broadcast("mul", log_sigmoid.sizes(), weight.sizes()));
    log_sigmoid = log_sigmoid * weight;
  }
  Dims sizes = broadcast("mul", kept.sizes(), x.sizes());  // PyTorch multiplies in place
  check(sizes == kept.sizes(), "output with shape ", kept.sizes(), " doesn't match the broadcast shape ", sizes);
  fn::mul.inplace(kept, x);
  fn::sub.inplace(kept, log_sigmoid);
  return kept;
}

Tensor BceWithLogits::compose(Inputs in) const {
  const Tensor &x = in[0], &t = in[1];
  check(can_cast(promote_types(x.dtype(), t.dtype()), t.dtype()), "binary_cross_entropy_with_logits: result type ", name_of(x.dtype()),
        " can't be cast to the desired output type ", name_of(t.dtype()));
  check_constant("binary_cross_entropy_with_logits", "weight", in[2]);
  check_constant("binary_cross_entropy_with_logits", "pos_weight", in[3]);
  check(!is_complex(t.dtype()) || !is_differentiated(x), "binary_cross_entropy_with_logits does not support automatic differentiation for outputs with complex dtype.");
  Tensor loss;
  {
    GradMode off(false);
    loss = with_logits(x, t, in[3]);
  }
  // The result has target's dtype, in whose place PyTorch computes, but a gradient of its mean has all digits of input's.
  const DType wide = promote_types(x.dtype(), t.dtype());
  const bool differentiated = is_differentiated(x) || is_differentiated(t);
  if (differentiated) loss = fn::bce_with_logits_of(x, t, in[3], cast_to(loss, wide));
  if (in[2]) {
    Dims sizes = broadcast("mul", loss.sizes(), in[2].sizes());
    check(sizes == loss.sizes(), "output with shape ", loss.sizes(), " doesn't match the broadcast shape ", sizes);
    fn::mul.inplace(loss, in[2]);
  }
  return differentiated && wide != t.dtype() ? cast_to(reduced(loss, reduction), t.dtype()) : reduced(cast_to(loss, t.dtype()), reduction);
}

Tensor KlDiv::compose(Inputs in) const {
  const Tensor &x = in[0], &t = in[1];
  check(!is_complex(x.dtype()) && !is_complex(t.dtype()), "kl_div: Complex inputs not supported.");
  check(is_inexact(x.dtype()) && is_inexact(t.dtype()), "kl_div: Integral inputs not supported.");
  return reduced(log_target ? fn::exp(t) * (t - x) : fn::xlogy(t, t) - t * x, reduction);
}

Tensor KlDivBatchMean::compose(Inputs in) const {
  const Tensor r = fn::kl_div(in[0], in[1], reduction, log_target);
  return in[0].ndim() ? r / double(in[0].size(0)) : r;
}

Tensor PoissonNllLoss::compose(Inputs in) const {
  const Tensor &x = in[0], &t = in[1];
  Tensor loss = log_input ? fn::exp(x) - t * x : x - t * fn::log(x + eps);
  if (full) {
    Tensor stirling = t * fn::log(t) - t + 0.5 * fn::log(t * (2 * M_PI));
    fn::add.inplace(loss, fn::masked_fill(stirling, t <= 1.0, 0.0));
  }
  return reduced(loss, reduction);
}

Tensor HingeEmbeddingLoss::compose(Inputs in) const {
  const Tensor &x = in[0], &t = in[1];
  if (x.numel() != 1) check_held(Held::own, Scalar(margin), x.dtype());  // beside a single element PyTorch takes the margin as it is
  Tensor zeros = zeros_like(x), below = at_least_0(is_inexact(x.dtype()) ? margin - x : num(int64_t(margin)) - x);  // of whole numbers a whole one, as PyTorch's
  return reduced(fn::where(fn::ne(t, num(int64_t(1))), below, zeros) + fn::where(fn::ne(t, num(int64_t(-1))), x, zeros), reduction);
}

Tensor MarginRankingLoss::compose(Inputs in) const {
  Tensor loss = -in[2] * (in[0] - in[1]) + margin;
  fn::clamp.inplace(loss, Scalar(int64_t(0)));  // in place as in PyTorch, so that axes of size 1 keep their strides
  return reduced(loss, reduction);
}

Tensor CosineEmbeddingLoss::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1], &t = in[2];
  check(t.ndim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  for (const Tensor& x : {a, b})
    check(x.ndim() == t.ndim() + 1, t.ndim(), "D target tensor expects ", t.ndim() + 1, "D input tensors, but found inputs with sizes ",
          a.sizes(), " and ", b.sizes(), ".");
  constexpr double epsilon = 1e-12;  // as in PyTorch, inside the root
  Dims axis{t.ndim()};
  Tensor scale = (fn::sum(a * a, axis) + epsilon) * (fn::sum(b * b, axis) + epsilon);
  Tensor cosine = fn::sum(a * b, axis) / fn::sqrt(scale), zeros = zeros_like(cosine);
  Tensor near = fn::where(fn::eq(t, num(int64_t(1))), 1.0 - cosine, zeros);
  return reduced(near + fn::where(fn::eq(t, num(int64_t(-1))), at_least_0(cosine - margin), zeros), reduction);
}

// Of each element, and without a history.
static Tensor soft_margin(const Tensor& x, const Tensor& t) {
  const Tensor product = -x * t;
  check(can_cast(product.dtype(), x.dtype()) && is_inexact(x.dtype()), "result type ", name_of(product.dtype()), " can't be cast to the desired output type ",
        name_of(x.dtype()));
  return fn::log1p(fn::exp(cast_to(product, x.dtype())));
}

Tensor SoftMarginLoss::compose(Inputs in) const {
  const Tensor &x = in[0], &t = in[1];
  check_constant("soft_margin_loss", "target", t);
  Dims sizes = broadcast("mul", x.sizes(), t.sizes());  // PyTorch multiplies in place
  check(sizes == x.sizes(), "output with shape ", x.sizes(), " doesn't match the broadcast shape ", sizes);
  Tensor loss;
  {
    GradMode off(false);
    loss = soft_margin(x, t);
  }
  return reduced(is_differentiated(x) ? fn::soft_margin_of(x, t, loss) : loss, reduction);
}

Meta MultiMarginOf::infer(Inputs in) const {
  check(!in[2] || in[2].dtype() == in[0].dtype() || in[0].numel() == 0, "multi_margin_loss: expected scalar type ", name_of(in[0].dtype()), " but found ",
        name_of(in[2] ? in[2].dtype() : in[0].dtype()));
  return Meta(Dims{in[0].sizes()[0]}, in[0].dtype(), in[0].device());
}
Tensors MultiMarginOf::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::multi_margin_backward(dy, s.input(0), s.input(1), s.input(2), squared, margin), {}, {}};
}
Meta MultiMarginBackward::infer(Inputs in) const { return Meta(in[1].sizes(), in[1].dtype(), in[1].device()); }
Meta MultilabelMarginOf::infer(Inputs in) const { return Meta(Dims{in[0].sizes()[0]}, in[0].dtype(), in[0].device()); }
Tensors MultilabelMarginOf::vjp(const Saved& s, const Tensor& dy) const { return {fn::multilabel_margin_backward(dy, s.input(0), s.input(1)), {}}; }
Meta MultilabelMarginBackward::infer(Inputs in) const { return Meta(in[1].sizes(), in[1].dtype(), in[1].device()); }

Tensor MultiMarginLoss::compose(Inputs in) const {
  const Tensor &x = in[0], &target = in[1], &w = in[2];
  check<ValueError>(!w || w.ndim() == 1, "weight must be one-dimensional");
  check<ValueError>(p.to_double() == 1 || p.to_double() == 2, "only p == 1 and p == 2 supported");
  check(!w || w.numel() == (x.ndim() ? x.size(-1) : 1), "multi_margin_loss: inconsistent weight size, expected ", x.ndim() ? x.size(-1) : 1, " but got ",
        w ? w.sizes() : Dims());
  check_examples(x);
  check_wide("multi_margin_loss", x);
  check(target.dtype() == DType::int64 || x.numel() == 0, "multi_margin_loss: expected scalar type Long but found ", name_of(target.dtype()));
  check(!is_complex(x.dtype()) || !is_differentiated(x), "multi_margin_loss does not support automatic differentiation for outputs with complex dtype.");
  Examples e{x, target, x.ndim() < 2};
  if (e.single) e.rows = fn::reshape(x, Dims{1, x.numel()});
  if (target.ndim() == 0) e.labels = fn::reshape(target, Dims{1});  // of one example, also of a matrix of one row
  check(e.labels.ndim() == 1 && e.labels.numel() == e.rows.sizes()[0], "multi_margin_loss: target tensor should be 1-D with size equal to the number "
        "of input samples (batch size). Expected target size [", e.rows.sizes()[0], "], but got ", target.sizes(), ". Input has shape ", x.sizes(), ".");
  e.single = target.ndim() == 0;  // a list of one label keeps its axis
  if (x.numel() == 0 && !is_floating(x.dtype())) return of_no_examples(x, reduction);
  if (x.numel()) check_fractions("multi_margin_loss", x);
  const Tensor loss = fn::multi_margin_of(e.rows, e.labels, w, p.to_double() == 2, margin.to_double());
  check_constant("multi_margin_loss", "weight", w);  // behind what else may be wrong
  return per_example(loss, e, reduction);
}

Tensor MultilabelMarginLoss::compose(Inputs in) const {
  const Tensor &x = in[0], &target = in[1];
  const bool one = x.ndim() < 2 && target.ndim() < 2 && x.numel() == 1 && target.numel() == 1;  // a number and a list of one are the same
  check(one || (x.ndim() <= 2 && x.sizes() == target.sizes()), "inconsistent target size: ", target.sizes(), " for input of size: ", x.sizes());
  check_examples(x);
  check_wide("multilabel_margin_loss", x);
  check(!is_complex(x.dtype()) || !is_differentiated(x), "multilabel_margin_loss does not support automatic differentiation for outputs with complex dtype.");
  if (x.numel() == 0 && !is_floating(x.dtype())) return of_no_examples(x, reduction);
  if (x.numel()) check_fractions("multilabel_margin_loss", x);
  check(x.numel() == 0 || target.dtype() == DType::int64, "multilabel_margin_loss: expected a target of int64, but got ", name_of(target.dtype()));
  int64_t classes = x.ndim() ? x.size(-1) : 1;
  Dims flat{x.ndim() == 2 ? x.sizes()[0] : 1, classes};
  Examples e{fn::reshape(x, flat), fn::reshape(target, flat), x.ndim() < 2};
  return per_example(fn::multilabel_margin_of(e.rows, e.labels), e, reduction);
}

Tensor GaussianNllLoss::compose(Inputs in) const {
  const Tensor &input = in[0], &target = in[1];
  fn::check_not_negative(detach(in[2]), Str("gaussian_nll_loss: var"), Str("ValueError"));
  const Tensor var = in[2].has_flag(kWrappedNumber) ? fn::ones_like(input) * in[2] : variances(input, in[2]);
  const Tensor bounded = fn::clone(var);
  fn::clamp.inplace(detach(bounded), std::optional<Scalar>(eps));  // which lets the gradient through
  const Tensor loss = (fn::log(bounded) + fn::square(input - target) / bounded) * 0.5;
  return reduced(full ? loss + 0.5 * std::log(2 * std::numbers::pi) : loss, reduction);
}

Tensor TripletMarginLoss::compose(Inputs in) const {
  check(in[0].ndim() == in[1].ndim() && in[1].ndim() == in[2].ndim(), "The anchor, positive, and negative tensors are expected to have the same number of "
        "dimensions, but got: anchor ", in[0].ndim(), "D, positive ", in[1].ndim(), "D, and negative ", in[2].ndim(), "D inputs");
  auto distance = [&](const Tensor& a, const Tensor& b) { return fn::pairwise_distance(a, b, p, eps); };
  const Tensor near = distance(in[0], in[1]);
  Tensor far = distance(in[0], in[2]);
  if (swap) far = fn::minimum(far, distance(in[1], in[2]));
  return reduced(at_least_0(margin + near - far), reduction);
}

Tensor MultilabelSoftMarginLoss::compose(Inputs in) const {
  const Tensor &x = in[0], &target = in[1];
  Tensor loss = -(target * fn::logsigmoid(x) + (num(int64_t(1)) - target) * fn::logsigmoid(-x));
  if (in[2]) loss = loss * in[2];
  check<IndexError>(x.ndim() > 0, "multilabel_soft_margin_loss: Dimension specified as -1 but tensor has no dimensions");
  // The classes are input's last axis, and stay that where target has more axes, as in PyTorch.
  return reduced(fn::sum(loss, Dims{x.ndim() - 1}) / double(x.size(-1)), reduction);
}

Tensor CrossEntropyOfProbabilities::compose(Inputs in) const {
  const Tensor& x = in[0];
  const int64_t axis = x.ndim() == 1 ? 0 : 1, classes = x.size(axis);
  check(!in[2] || (in[2].ndim() == 1 && in[2].numel() == classes), "cross_entropy: weight tensor should be defined either for all ", classes,
        " classes or no classes but got weight tensor of shape: ", in[2] ? in[2].sizes() : Dims());
  const Tensor target = label_smoothing > 0 ? in[1] * (1 - label_smoothing) + label_smoothing / double(classes) : in[1];
  Tensor loss = -fn::log_softmax(x, axis) * target;
  if (in[2]) {
    Dims along(x.ndim(), 1);
    along[int(axis)] = -1;
    loss = loss * fn::reshape(in[2], along);
  }
  if (reduction == 1) return fn::sum(loss) / double(classes ? x.numel() / classes : 0);  // NaN of no examples
  return reduction == 2 ? fn::sum(loss) : fn::sum(loss, Dims{axis});
}

static const CriterionOps::Registration ops;

}  // namespace weir
