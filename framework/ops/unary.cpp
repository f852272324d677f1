#include "framework/ops/unary.h"

#include <cmath>

#include "framework/op/out.h"
#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"

namespace weir {
using namespace fn;
namespace {

const double kTwoOverSqrtPi = 2 / std::sqrt(M_PI);
Tensor x_of(const Saved& s) { return s.input(0); }
Tensor y_of(const Saved& s) { return s.output(); }
// Where i1(x) / x has no digits left, and at NaN. Source: PyTorch's i1_backward.
Tensor near_zero(const Tensor& x) { return logical_not(abs(x) > epsilon_of(x.dtype())); }
Tensor zeros_like(const Tensor& t) { return zeros_of(t.meta()); }  // not t * 0, which keeps NaN
Meta rounded(const char* op, Rule rule, Inputs in) {
  check<NotImplemented>(in[0].dtype() != DType::boolean, NameIn{op}, ": not implemented for 'bool'");
  return pointwise_meta(op, rule, in);
}

}  // namespace

Meta Neg::infer(Inputs in) const {
  check(in[0].dtype() != DType::boolean, "neg: Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.");
  return pointwise_meta("neg(", Rule::promote, in);
}
Tensors Neg::vjp(const Saved&, const Tensor& dy) const { return {-dy}; }
Meta Abs::infer(Inputs in) const {
  check<NotImplemented>(in[0].dtype() != DType::boolean, "\"abs_cpu\" not implemented for 'Bool'");
  Meta m = pointwise_meta("abs(", Rule::promote, in);
  if (!is_complex(m.dtype)) return m;
  m.dtype = real_type(m.dtype);
  return with_strides(m, in[0]);
}
Tensors Abs::vjp(const Saved& s, const Tensor& dy) const { return {dy * sgn(x_of(s))}; }
Tensors Sign::vjp(const Saved&, const Tensor& dy) const { return {zeros_like(dy)}; }
Meta Square::infer(Inputs in) const {
  Meta m = pointwise_meta("square(", Rule::promote, in);
  if (m.dtype == DType::boolean) m.dtype = DType::int64;
  return m;
}
Tensors Square::vjp(const Saved& s, const Tensor& dy) const { return {dy * x_of(s) * 2.0}; }
Tensors Sqrt::vjp(const Saved& s, const Tensor& dy) const { return {dy / (2.0 * y_of(s))}; }
Tensors Rsqrt::vjp(const Saved& s, const Tensor& dy) const {
  Tensor y = y_of(s);
  return {-0.5 * dy * (y * y * y)};
}
Tensors Reciprocal::vjp(const Saved& s, const Tensor& dy) const {
  Tensor y = y_of(s);
  return {-dy * (y * y)};
}
Tensors Exp::vjp(const Saved& s, const Tensor& dy) const { return {dy * y_of(s)}; }
Tensors Exp2::vjp(const Saved& s, const Tensor& dy) const { return {dy * y_of(s) * M_LN2}; }
Tensors Expm1::vjp(const Saved& s, const Tensor& dy) const { return {dy * (y_of(s) + 1.0)}; }
Tensors Log::vjp(const Saved& s, const Tensor& dy) const { return {dy / x_of(s)}; }
Tensors Log2::vjp(const Saved& s, const Tensor& dy) const { return {dy / (x_of(s) * M_LN2)}; }
Tensors Log10::vjp(const Saved& s, const Tensor& dy) const { return {dy / (x_of(s) * M_LN10)}; }
Tensors Log1p::vjp(const Saved& s, const Tensor& dy) const { return {dy / (x_of(s) + 1.0)}; }
Tensors Sin::vjp(const Saved& s, const Tensor& dy) const { return {dy * cos(x_of(s))}; }
Tensors Cos::vjp(const Saved& s, const Tensor& dy) const { return {dy * -sin(x_of(s))}; }
Tensors Tan::vjp(const Saved& s, const Tensor& dy) const { return {dy * (square(y_of(s)) + 1.0)}; }
Tensors Asin::vjp(const Saved& s, const Tensor& dy) const { return {dy * rsqrt(1.0 - square(x_of(s)))}; }
Tensors Acos::vjp(const Saved& s, const Tensor& dy) const { return {dy * -rsqrt(1.0 - square(x_of(s)))}; }
Tensors Atan::vjp(const Saved& s, const Tensor& dy) const { return {dy / (square(x_of(s)) + 1.0)}; }
Tensors Sinh::vjp(const Saved& s, const Tensor& dy) const { return {dy * cosh(x_of(s))}; }
Tensors Cosh::vjp(const Saved& s, const Tensor& dy) const { return {dy * sinh(x_of(s))}; }
Tensors Tanh::vjp(const Saved& s, const Tensor& dy) const { return {fn::tanh_backward(dy, y_of(s))}; }
Tensors Asinh::vjp(const Saved& s, const Tensor& dy) const { return {dy * rsqrt(square(x_of(s)) + 1.0)}; }
// As two roots for complex numbers: the root of the product lies on another branch.
Tensors Acosh::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = x_of(s);
  if (is_complex(x.dtype())) return {dy * rsqrt(x + -1.0) * rsqrt(x + 1.0)};  // a sum makes 0 of an imaginary -0, as PyTorch's difference
  return {dy * rsqrt(square(x) - 1.0)};
}
Tensors Atanh::vjp(const Saved& s, const Tensor& dy) const { return {dy / (1.0 - square(x_of(s)))}; }
Tensors Erf::vjp(const Saved& s, const Tensor& dy) const { return {dy * (kTwoOverSqrtPi * exp(-square(x_of(s))))}; }
Tensors Erfc::vjp(const Saved& s, const Tensor& dy) const { return {dy * (-kTwoOverSqrtPi * exp(-square(x_of(s))))}; }
Tensors Erfinv::vjp(const Saved& s, const Tensor& dy) const { return {dy * (exp(square(y_of(s))) / kTwoOverSqrtPi)}; }
Tensors Lgamma::vjp(const Saved& s, const Tensor& dy) const { return {dy * digamma(x_of(s))}; }
Tensors Digamma::vjp(const Saved& s, const Tensor& dy) const { return {dy * polygamma(1, x_of(s))}; }
Tensors Polygamma::vjp(const Saved& s, const Tensor& dy) const { return {dy * polygamma(int64_t(uint64_t(n) + 1), x_of(s))}; }
Tensors Floor::vjp(const Saved&, const Tensor& dy) const { return {zeros_like(dy)}; }
Tensors Ceil::vjp(const Saved&, const Tensor& dy) const { return {zeros_like(dy)}; }
Meta Polygamma::infer(Inputs in) const {
  check(n >= 0, "polygamma(n, x) does not support negative n, got n=", n);
  return pointwise_meta("polygamma", Rule::floating, in);
}
Meta Floor::infer(Inputs in) const { return rounded("floor(", Rule::promote, in); }
Meta Ceil::infer(Inputs in) const { return rounded("ceil(", Rule::promote, in); }
Meta Trunc::infer(Inputs in) const { return rounded("trunc(", Rule::promote, in); }
Meta Round::infer(Inputs in) const { return rounded("round(", decimals ? Rule::real : Rule::promote, in); }
Tensors Round::vjp(const Saved&, const Tensor& dy) const { return {zeros_like(dy)}; }
Tensors Trunc::vjp(const Saved&, const Tensor& dy) const { return {zeros_like(dy)}; }
Tensors Frac::vjp(const Saved&, const Tensor& dy) const { return {dy}; }
Tensors Sigmoid::vjp(const Saved& s, const Tensor& dy) const { return {fn::sigmoid_backward(dy, y_of(s))}; }
// Source: PyTorch's kernels, whose bounds have the dtype of their numbers.
Bounds logit_bounds(double eps, DType t) {
  const double low = is_reduced(t) ? rounded(eps, t) : eps;
  return {low, is_reduced(t) ? rounded(1 - low, t) : 1 - low};
}
void Logit::round(Tensors& in, const Meta& m) {
  GradMode off(false);
  const auto [low, high] = logit_bounds(*eps, m.dtype);
  if (low > high) in[0] = where(in[0] < low, num(low), fn::clamp(in[0], std::optional<Scalar>(), std::optional<Scalar>(high)));  // the low bound first, unlike clamp
  else if (!std::isnan(*eps)) in[0] = fn::clamp(in[0], std::optional<Scalar>(low), std::optional<Scalar>(high));  // below NaN lies nothing
  eps.reset();
}
void LogitBackward::bound(Tensors& in, DType t) {
  GradMode off(false);
  const auto [low, high] = logit_bounds(*eps, t);
  const Tensor beyond = fn::logical_or(in[1] < low, in[1] > high);
  in = {where(beyond, num(0.0), in[0]), where(beyond, num(0.5), in[1])};
  eps.reset();
}
Tensors Logit::vjp(const Saved& s, const Tensor& dy) const {
  if (!mode.grad) return {fn::logit_backward(dy, x_of(s), eps)};
  // Of NaN, of -0 and beside a negative eps another gradient than the kernel's. Source: PyTorch's infinitely_differentiable_logit_backward.
  const Tensor x = x_of(s);
  const auto [low, high] = eps ? logit_bounds(*eps, x.dtype()) : Bounds{0, 1};
  return {where(fn::logical_and(x >= low, x <= high), dy / (x * (1.0 - x)), num(eps ? 0.0 : NAN))};
}
// Source of the layout: PyTorch computes these three into an empty_like, or into out= as a product with a number, or by its own rule; nan_to_num
// copies whole numbers there.
void shape_by_product(const Tensor& x, const Tensor& out) {
  const Tensor factors[2] = {x, wrapped_number(Scalar(1.0))};
  shape_out(out, pointwise_meta("mul(", Rule::floating, factors));
}
void Deg2rad::take_out(Inputs in, const Tensor& out) const { shape_by_product(in[0], out); }
void Rad2deg::take_out(Inputs in, const Tensor& out) const { shape_by_product(in[0], out); }
void NanToNum::take_out(Inputs in, const Tensor& out) const {
  const Meta m = Pointwise::infer(in);
  if (m.dtype == out.dtype()) shape_out(out, is_inexact(m.dtype) ? m : Meta(m.sizes, m.dtype, m.device));
}
Meta Deg2rad::infer(Inputs in) const { return with_strides(Pointwise::infer(in), in[0]); }
Meta Rad2deg::infer(Inputs in) const { return with_strides(Pointwise::infer(in), in[0]); }
Meta NanToNum::infer(Inputs in) const { return with_strides(Pointwise::infer(in), in[0]); }
Tensors Deg2rad::vjp(const Saved&, const Tensor& dy) const { return {dy * (M_PI / 180)}; }
Tensors Rad2deg::vjp(const Saved&, const Tensor& dy) const { return {dy * (180 / M_PI)}; }
Tensors Sinc::vjp(const Saved& s, const Tensor& dy) const {
  if (!mode.grad && !is_complex(dy.dtype())) return {fn::sinc_backward(dy, x_of(s))};
  // The quotient cancels near 0, where the series is exact to rounding. Neither sees a number that is the other's, of which a power, or a quotient by
  // it, may be infinite: a further derivative would multiply that by zero.
  const Tensor px = x_of(s) * M_PI, is_near = abs(px) < 0.5, near = where(is_near, px, num(0.0)), far = where(is_near, num(1.0), px), p2 = near * near;
  const Tensor tail = 1.0 / 840 - p2 * (1.0 / 45360 - p2 * (1.0 / 3991680 - p2 * (1.0 / 518918400 - p2 * (1.0 / 93405312000))));
  const Tensor series = near * (p2 * (1.0 / 30 - p2 * tail) - 1.0 / 3), quotient = (cos(far) - sin(far) / far) / far;
  return {dy * (M_PI * where(is_near, series, quotient))};
}
Tensors NanToNum::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = x_of(s);
  return {dy * fn::isfinite(x)};
}
Tensors I0::vjp(const Saved& s, const Tensor& dy) const { return {dy * i1(x_of(s))}; }
Tensors I0e::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = x_of(s);
  return {dy * (i1e(x) - sign(x) * y_of(s))};
}
Tensors I1::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = x_of(s), near = near_zero(x), safe = where(near, num(epsilon_of(x.dtype())), x);
  return {dy * where(near, num(0.5), i0(safe) - y_of(s) * fn::reciprocal(safe))};
}
Tensors I1e::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = x_of(s), near = near_zero(x), safe = where(near, num(epsilon_of(x.dtype())), x);
  return {dy * where(near, num(0.5), i0e(safe) - y_of(s) * (sign(safe) + fn::reciprocal(safe)))};
}
Tensors Ndtri::vjp(const Saved& s, const Tensor& dy) const {
  return {dy * std::sqrt(2 * M_PI) * exp(square(y_of(s)) * 0.5)};  // in this order: the slope alone may be beyond the dtype
}
Tensors LogNdtr::vjp(const Saved& s, const Tensor& dy) const { return {fn::log_ndtr_backward(dy, x_of(s))}; }
Tensors LogNdtrBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1), slope = fn::log_ndtr_backward(num(1.0), x);
  return {dy * slope, -(dy * g) * slope * (x + slope)};
}
Tensors Erfcx::vjp(const Saved& s, const Tensor& dy) const { return {dy * (2.0 * x_of(s) * y_of(s) - kTwoOverSqrtPi)}; }
Tensors Entr::vjp(const Saved& s, const Tensor& dy) const { return {dy * (-log(x_of(s)) - 1.0)}; }

static const UnaryOps::Registration ops;

}  // namespace weir
