#include "framework/ops/gating.h"

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
  return fn::narrow(x, dim, int64_t(0), half) * fn::sigmoid(fn::narrow(x, dim, half, half));
}

Tensor Softsign::compose(Inputs in) const { return in[0] / (fn::abs(in[0]) + num(int64_t(1))); }
Tensor Tanhshrink::compose(Inputs in) const { return in[0] - fn::tanh(in[0]); }

Tensor GumbelSoftmax::compose(Inputs in) const {
  const Tensor& x = in[0];
  const Tensor noise = -fn::log(fn::drawn_fill(unfilled(Meta(x.sizes(), x.dtype(), x.device())), Str("exponential"), 1.0));
  const Tensor soft = fn::softmax((x + noise) / tau, dim);
  if (!hard) return soft;
  const Tensor best = fn::argmax(soft, std::optional<int64_t>(dim), true);
  return fn::scatter(zeros_of(Meta(x.sizes(), x.dtype(), x.device())), dim, best, 1.0) - detach(soft) + soft;
}

static const GatingOps::Registration ops;

}  // namespace weir
