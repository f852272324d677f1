#include "framework/ops/elementwise.h"

#include <cmath>
#include <numbers>

#include "framework/core/layout.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/straight_through.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

/// `x` in `type`, or as a number with a fraction, complex where it is: what Python counts as False is zero to a power, and 2^63 positive.
Tensor widened(const Tensor& x, DType type) {
  if (!x.has_flag(kWrappedNumber)) return cast_to(x, type);
  return is_inexact(x.dtype()) ? x : num(item(x).to_double());
}

}  // namespace

Tensor ClampMinTensor::compose(Inputs in) const { return fn::clamp(in[0], in[1]); }
Tensor ClampMin::compose(Inputs in) const { return fn::clamp(in[0], std::optional<Scalar>(min)); }
Tensor ClampMaxTensor::compose(Inputs in) const { return fn::clamp(in[0], std::nullopt, in[1]); }
Tensor ClampMax::compose(Inputs in) const { return fn::clamp(in[0], std::optional<Scalar>(), std::optional<Scalar>(max)); }

Tensor Rsub::compose(Inputs in) const { return fn::sub(in[1], in[0], alpha); }

Tensor FloatPower::compose(Inputs in) const {
  const DType type = is_complex(in[0].dtype()) || is_complex(in[1].dtype()) ? DType::complex128 : DType::float64;
  return fn::pow(widened(in[0], type), widened(in[1], type));
}

// By whole exponents a number keeps its dtype and moves in two steps, since 2 to the exponent may lie beyond any dtype where the result does not.
Tensor Ldexp::compose(Inputs in) const {
  const Tensor& x = in[0];
  const Tensor& exponent = in[1];
  check<NotImplemented>(exponent.dtype() != DType::boolean || !is_floating(x.dtype()), "ldexp: not implemented for exponents of bool");
  if (!is_floating(x.dtype()) || is_inexact(exponent.dtype())) {
    // Gradients are added up after they meet the powers, which may be infinite; so are those of nothing. Beside whole numbers and float32 the base is
    // a number, whose powers are row-major and of the exponent's dtype, else a tensor of x's dtype. Source: PyTorch, where ldexp has a gradient of its own.
    const Dims sizes = broadcast("ldexp", x.sizes(), exponent.sizes());
    const bool number = !is_inexact(x.dtype()) || x.dtype() == DType::float32;
    const Tensor base = number ? num(2.0) : full_of(Meta(Dims{}, x.dtype(), exponent.device()), Scalar(2.0));
    check<NotImplemented>(result_type(std::array{base, exponent}) != DType::complex32, "ldexp: not implemented for powers of complex32");
    const bool of_each = (is_differentiated(exponent) && exponent.ndim() > 0 && exponent.sizes() != sizes) || sizes.product() == 0;
    // Powers of half precision are rounded to it, but the exponents' gradient once only, at its end.
    const bool rounded = is_reduced(exponent.dtype()) && is_floating(x.dtype()) && !is_reduced(x.dtype()) && x.ndim() >= std::min(exponent.ndim(), 1);
    auto powers_of = [&](const Tensor& e) {
      if (!rounded || !is_differentiated(e)) return fn::pow(base, e);
      return fn::straight_through(cast_to(detach(fn::pow(base, detach(e))), x.dtype()), fn::pow(base, cast_to(e, x.dtype())));
    };
    if (!of_each) return x * powers_of(exponent);
    // Spread over the elements an exponent without axes still weighs as one where the result's dtype is chosen.
    const Tensor powers = powers_of(fn::expand(exponent, sizes));
    return x * (exponent.ndim() == 0 && is_inexact(exponent.dtype()) ? cast_to(powers, result_type(std::array{x, exponent})) : powers);
  }
  // Source: PyTorch's kernel, which reads exponents as int32, so that those of int64 wrap around.
  const Tensor whole = fn::clamp(cast_to(cast_to(exponent, DType::int32), DType::float64), std::optional<Scalar>(-2046.0), std::optional<Scalar>(2046.0)), half = fn::trunc(whole * 0.5);
  const Tensor two = full_of(Meta(Dims{}, DType::float64, exponent.device()), Scalar(2.0));  // a tensor: its powers keep their exponent's strides
  return cast_to(cast_to(x, DType::float64) * fn::pow(two, half) * fn::pow(two, whole - half), x.dtype());
}

std::array<Meta, 2> Frexp::infer(Inputs in) const {
  const Tensor& x = in[0];
  check(is_floating(x.dtype()), "torch.frexp() only supports floating-point dtypes, got ", name_of(x.dtype()));
  Meta mantissa(x.sizes(), x.dtype(), x.device());
  mantissa.strides = is_non_overlapping_and_dense(x.sizes(), x.strides()) ? x.strides() : dense_strides(x.sizes(), std::array{x.strides()});
  Meta exponent = mantissa;
  exponent.dtype = DType::int32;
  return {mantissa, exponent};
}
Tensors Frexp::vjp(const Saved& s, const Tensor& dy) const { return {dy / fn::exp2(cast_to(s.output(1), dy.dtype()))}; }

Tensor Mvlgamma::compose(Inputs in) const {
  check(in[0].dtype() != DType::boolean, "mvlgamma: The input tensor may not be a boolean tensor.");
  check<NotImplemented>(!is_complex(in[0].dtype()), "mvlgamma: not implemented for ", name_of(in[0].dtype()));
  check(p >= 1, "mvlgamma: p has to be greater than or equal to 1, got ", p);
  const Tensor x = is_floating(in[0].dtype()) ? in[0] : cast_to(in[0], default_dtype());
  // The last half is a zero to add: it leaves no -0.
  const Tensor halves = cast_to((arange_of(p) - num(p - 1)) * 0.5, x.dtype());
  return fn::sum(fn::lgamma(fn::unsqueeze(x, int64_t(-1)) + halves), Dims{-1}) + double(p) * double(p - 1) / 4 * std::log(std::numbers::pi);
}

Tensor Isclose::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1];
  check(a.dtype() == b.dtype(), "isclose: ", name_of(a.dtype()), " did not match ", name_of(b.dtype()));
  check(rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", rtol);
  check(atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", atol);
  Tensor close = fn::eq(a, b);
  const bool inexact = is_inexact(a.dtype());
  if (equal_nan && inexact) fn::logical_or.inplace(close, fn::logical_and(fn::isnan(a), fn::isnan(b)));
  if (rtol == 0 && atol == 0) return close;
  const Tensor x = inexact ? a : cast_to(a, DType::float64), y = inexact ? b : cast_to(b, DType::float64), distance = fn::abs(x - y);
  fn::logical_or.inplace(close, fn::logical_and(fn::isfinite(distance), distance <= atol + rtol * fn::abs(y)));
  return close;
}

static const ElementwiseOps::Registration ops;

}  // namespace weir
