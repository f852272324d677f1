#include "framework/ops/loss.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/criterion.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

std::array<Meta, 2> NllLoss::infer(Inputs in) const {
  const Tensor &x = in[0], &t = in[1], &w = in[2];
  check<ValueError>(x.ndim() >= 1, "nll_loss: input tensor should be at least 1D, got ", x.ndim(), "D");
  check(t.dtype() == DType::int64, "nll_loss: expected scalar type Long but found ", name_of(t.dtype()));
  int64_t c = x.ndim() == 1 ? x.sizes()[0] : x.sizes()[1];
  if (x.ndim() > 1) t.size(0);  // IndexError of a target without axes
  Dims want = x.sizes();
  want.erase(x.ndim() == 1 ? 0 : 1);
  check(t.sizes() == want, "nll_loss: expected target of size ", want, ", got ", t.sizes(), " for input of size ", x.sizes());
  // PyTorch, which joins the axes behind the classes, loses them where there are no classes.
  check(x.ndim() <= 2 || x.ndim() == 4 || x.numel() || !t.numel(), "size mismatch (got input: ", x.sizes(), " , target: ", t.sizes(), ")");
  check(!w || (w.ndim() == 1 && w.numel() == c), "nll_loss: weight tensor should be defined either for all ", c,
        " classes or no classes but got weight tensor of shape: ", w ? w.sizes() : Dims());
  check(!w || w.dtype() == x.dtype(), "nll_loss: expected scalar type ", name_of(x.dtype()), " for weight but found ", w ? name_of(w.dtype()) : "");
  check<ValueError>(reduction == "none" || reduction == "mean" || reduction == "sum", reduction.view(), " is not a valid value for reduction");
  return {Meta(reduction == "none" ? t.sizes() : Dims{}, x.dtype(), x.device()), Meta(Dims{}, x.dtype(), x.device())};
}
Tensors NllLoss::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::nll_loss_backward(dy, s.input(1), s.input(2), detach(s.output(1)), s.input_meta(0).sizes, reduction, ignore_index)};
}
Meta NllLossBackward::infer(Inputs in) const { return {input_size, in[0].dtype(), in[0].device()}; }
Tensors NllLossBackward::vjp(const Saved& s, const Tensor& d) const {
  // Linear in grad_output: its gradient is the loss of d itself.
  return {fn::nll_loss_forward(d, s.input(1), s.input(2), reduction, ignore_index)[0]};
}

// Cross entropy at class indices.
static Tensor at_indices(const CrossEntropy& op, const Tensor& x, const Tensor& target, const Tensor& w, double smoothing) {
  check<IndexError>(x.ndim() >= 1 || target.ndim() == 0, "cross_entropy_loss: input should be at least 1D, got ", x.ndim(), "D");
  check(x.ndim() >= 1, "cross_entropy_loss: input should be at least 1D, got ", x.ndim(), "D");
  int64_t axis = x.ndim() == 1 ? 0 : 1, classes = x.size(axis);
  Tensor logp = log_softmax(x, axis);
  Tensor nll = fn::nll_loss_nd(logp, target, w, op.reduction, op.ignore_index);
  if (smoothing == 0) return nll;
  check(x.ndim() != 1 || target.ndim() != 1, "output with shape [] doesn't match the broadcast shape [1]");  // a number's mask of one axis
  Dims shape(x.ndim(), 1);
  shape[int(axis)] = classes;
  Tensor smooth = -sum(w ? logp * reshape(w, shape) : logp, Dims{axis});
  Tensor ignored = fn::eq(target, num(op.ignore_index));
  smooth = where(ignored, num(0.0), smooth);
  if (op.reduction == "sum") {
    smooth = sum(smooth);
  } else if (op.reduction == "mean") {
    Tensor valid = where(ignored, num(0.0), w ? index(w, {where(ignored, num(int64_t(0)), target)}) : num(1.0));
    smooth = cast_to(sum(smooth) / sum(valid), logp.dtype());  // counted in float32, which half precision cannot
  }
  return nll * (1 - smoothing) + smooth * (smoothing / double(classes));
}

Tensor NllLossNd::compose(Inputs in) const {
  check<NotImplemented>(is_floating(in[0].dtype()), "nll_loss: not implemented for ", name_of(in[0].dtype()));
  check(in[0].ndim() != 1 || in[1].ndim() != 1 || in[1].dtype() == DType::int64 || in[1].dtype() == DType::uint8 || in[1].numel() == 1,
        "nll_loss: expected target dtype to be Long or Byte, but got ", name_of(in[1].dtype()));
  check<ValueError>(in[0].ndim() != 1 || in[1].ndim() != 1 || in[1].numel() == 1,
                    "For 1D input, 1D target must have size 1, but got target size: ", in[1].numel());
  int64_t batch = in[0].ndim() ? in[0].size(0) : 0, targets = in[1].ndim() ? in[1].size(0) : 0;
  check<ValueError>(in[0].ndim() < 2 || batch == targets, "Expected input batch_size (", batch,
                    ") to match target batch_size (", targets, ").");
  const bool bytes = in[1].dtype() == DType::uint8 && in[0].ndim() <= 2;  // Source: PyTorch, whose loss of pictures takes no bytes
  Tensor target = bytes ? cast_to(in[1], DType::int64) : in[1];
  if (in[0].ndim() == 1 && target.ndim() == 1) target = reshape(target, Dims{});  // one example and its class, whose loss is a number
  check<ValueError>(in[0].ndim() > 0, "Expected 1 or more dimensions (got 0)");
  check(!in[2] || !mode.grad || !in[2].has_flag(kRequiresGrad), "nll_loss: not differentiable with respect to argument 'weight'. This input cannot have "
        "requires_grad True.");
  return fn::nll_loss_forward(in[0], target, in[2], reduction, ignore_index)[0];
}

Tensor CrossEntropy::compose(Inputs in) const {
  const Tensor &x = in[0], &target = in[1];
  check(!(label_smoothing > 1), "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  const double smoothing = label_smoothing > 0 ? label_smoothing : 0;
  if (!(x.sizes() == target.sizes())) return at_indices(*this, x, target, in[2], smoothing);
  check(is_floating(target.dtype()), "Expected floating point type for target with class probabilities, got ", name_of(target.dtype()));
  check(ignore_index < 0, "ignore_index is not supported for floating point target");
  check<ValueError>(reduction == "none" || reduction == "mean" || reduction == "sum", reduction.view(), " is not a valid value for reduction");
  return fn::cross_entropy_of_probabilities(x, target, in[2], int64_t(reduction == "mean" ? 1 : reduction == "sum" ? 2 : 0), smoothing);
}

Tensor LinearCrossEntropy::compose(Inputs in) const {
  const Tensor &x = in[0], &w = in[1], &target = in[2], &bias = in[3];
  check(x.ndim() == 1 || x.ndim() == 2, "expected input with dimensionality 1 or 2, got ", x.ndim());
  check(w.ndim() >= 2, "expected linear_weight with dimensionality at least 2, got ", w.ndim());
  check(x.size(-1) == w.size(-1), "expected equal input and linear_weight last dimensions (in_features), got ", x.size(-1), " and ", w.size(-1), ", respectively");
  Dims outputs = w.sizes();
  outputs.erase(outputs.n - 1);
  check(!bias || bias.sizes() == outputs, "expected linear_bias shape ", outputs, ", got ", bias ? bias.sizes() : Dims());
  check(outputs.n == 1 || x.ndim() == 2, "linear_weight of shape ", w.sizes(), " requires batched input, (N, ", w.size(-1), "), got unbatched input with shape ",
        x.sizes());
  Dims logits = outputs;
  if (x.ndim() == 2) logits.insert(0, x.size(0));
  check(!ignore_index || !(target.sizes() == logits), "ignore_index cannot be specified when target contains probabilities");
  const Tensor y = fn::linear(x, reshape(w, Dims{outputs.product(), w.size(-1)}), bias ? reshape(bias, Dims{outputs.product()}) : Tensor());
  return fn::cross_entropy(reshape(y, logits), target, in[4], ignore_index.value_or(-100), reduction, label_smoothing);
}

static const LossOps::Registration ops;

}  // namespace weir
