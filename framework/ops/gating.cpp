#include "framework/ops/gating.h"

#include <cmath>

#include "framework/core/warn.h"
#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/scatter.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {

Tensor Glu::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t n = x.size(dim), half = n / 2;
  check(n % 2 == 0, "glu: Halving dimension must be even, but dimension ", dim, " is size ", n);
  check<NotImplemented>(is_floating(x.dtype()), "\"glu_cpu\" not implemented for '", name_of(x.dtype()), "'");
  const Tensor wide = in_single(x);  // rounded once, and so is the gradient
  Tensor y;
  {
    GradMode off(false);
    y = fn::narrow(wide, dim, int64_t(0), half) * fn::sigmoid(fn::narrow(wide, dim, half, half));
  }
  return cast_to(is_differentiated(wide) ? fn::glu_of(wide, y, dim) : y, x.dtype());
}

// By ops where it is differentiated itself.
Tensors GluOf::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor x = s.input(0);
  if (!mode.grad && !x.is_batched() && !dy.is_batched()) return {fn::glu_backward(dy, x, dim), Tensor()};
  const int64_t half = x.size(dim) / 2;
  const Tensor gate = fn::sigmoid(fn::narrow(x, dim, half, half));
  return {cat_of({dy * gate, dy * fn::narrow(x, dim, int64_t(0), half) * gate * (1.0 - gate)}, wrap_dim(dim, x.ndim(), "glu")), Tensor()};
}

Tensor Softsign::compose(Inputs in) const { return in[0] / (fn::abs(in[0]) + num(int64_t(1))); }
Tensor Tanhshrink::compose(Inputs in) const { return in[0] - fn::tanh(in[0]); }

Tensor GumbelSoftmax::compose(Inputs in) const {
  const Tensor& x = in[0];
  if (eps != 1e-10) warn("`eps` parameter is deprecated and has no effect.");
  const Tensor noise = -fn::log(fn::drawn_fill(unfilled(Meta(x.sizes(), x.dtype(), x.device())), Str("exponential"), 1.0));
  const Tensor soft = fn::softmax(in[1] ? (x + noise) / in[1] : x + noise, dim);
  if (!hard) return soft;
  const Tensor best = fn::max(soft, dim, true)[1];
  return fn::scatter(zeros_of(Meta(x.sizes(), x.dtype(), x.device())), dim, best, 1.0) - detach(soft) + soft;
}

Tensor Prelu::compose(Inputs in) const {
  const Tensor &x = in[0], &weight = in[1];
  check(weight.ndim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.ndim());
  check(weight.dtype() == x.dtype(), "prelu: Type promoting not supported. Got ", name_of(x.dtype()), " and ", name_of(weight.dtype()));
  Dims along(x.ndim(), 1);
  if (weight.numel() != 1) {
    check(x.ndim() > 0, "Not allow zero-dim input tensor.");
    const int64_t channels = x.ndim() > 1 ? x.size(1) : 1;
    check(channels == weight.numel(), "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
          " and channel size = ", channels, ".");
    along[1] = channels;
  }
  return fn::prelu_kernel(x, weight.numel() == 1 && weight.ndim() <= x.ndim() ? weight : fn::reshape(weight, along));
}

Tensor RRelu::compose(Inputs in) const {
  check(std::isfinite(lower), "rrelu: lower bound must be finite, got ", lower);
  check(std::isfinite(upper), "rrelu: upper bound must be finite, got ", upper);
  check(lower <= upper, "rrelu: lower must be at most upper, got ", lower, " and ", upper);
  const Tensor x = contiguous_of(in[0]);
  if (!training) return fn::leaky_relu(x, (lower + upper) / 2);
  check<NotImplemented>(x.dtype() != DType::float16, "rrelu: in training not implemented for float16");
  return x * fn::rrelu_noise(detach(x), lower, upper, generator);
}

static const GatingOps::Registration ops;

}  // namespace weir
