#include "framework/ops/known.h"

#include "framework/ops/activation.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/unary.h"

namespace weir {

static Meta as(const Tensor& t) { return {t.sizes(), t.strides(), t.dtype(), t.device()}; }

Meta LogsumexpOf::infer(Inputs in) const { return as(in[1]); }
Tensors LogsumexpOf::vjp(const Saved& s, const Tensor& dy) const { return {dy * fn::exp(s.input(0) - s.output(0)), Tensor()}; }

Meta BceWithLogitsOf::infer(Inputs in) const { return as(in[3]); }
Tensors BceWithLogitsOf::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor x = s.input(0), t = s.input(1), p = s.input(2);
  Tensors g(4);
  if (s.needs(0)) g[0] = (p ? (p * t + 1.0 - t) * fn::sigmoid(x) - p * t : fn::sigmoid(x) - t) * dy;
  if (s.needs(1)) g[1] = (p ? fn::logsigmoid(-x) - p * fn::logsigmoid(x) : -x) * dy;
  return g;
}

static Tensor soft_margin_power(const Tensor& x, const Tensor& t) { return fn::exp(cast_to(-t * x, x.dtype())); }
static Tensor soft_margin_slope(const Tensor& dy, const Tensor& x, const Tensor& t) {
  Tensor slope;
  {
    GradMode off(false);
    // Of a target of another dtype only the results of products are of x's. Source: PyTorch, which writes them into the gradient.
    const Tensor z = fn::exp(-t * x);
    slope = cast_to(cast_to(-(t * z), x.dtype()) / (z + 1.0), x.dtype()) * dy;
  }
  return is_differentiated(dy) || is_differentiated(x) ? fn::soft_margin_slope_of(dy, x, t, slope) : slope;
}

Meta SoftMarginOf::infer(Inputs in) const { return as(in[2]); }
Tensors SoftMarginOf::vjp(const Saved& s, const Tensor& dy) const { return {soft_margin_slope(dy, s.input(0), s.input(1)), Tensor(), Tensor()}; }

Meta SoftMarginSlopeOf::infer(Inputs in) const { return as(in[3]); }
Tensors SoftMarginSlopeOf::vjp(const Saved& s, const Tensor& g) const {
  const Tensor dy = s.input(0), x = s.input(1), t = s.input(2);
  Tensors r(4);
  if (s.needs(0)) r[0] = soft_margin_slope(g, x, t);
  if (s.needs(1)) {
    const Tensor z = soft_margin_power(x, t), more = z + 1.0;
    r[1] = g * dy * (t * t) * z / (more * more);
  }
  return r;
}

static const KnownOps::Registration ops;

}  // namespace weir
