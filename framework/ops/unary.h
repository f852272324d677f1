// Functions of one tensor, element by element. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

struct Neg : Pointwise<Neg, Rule::promote> {
  static constexpr Signature signature = "neg(input: Tensor) -> Tensor";
  static constexpr auto doc = "-x.";
  static constexpr OutRule out{Out::same};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Abs : Pointwise<Abs, Rule::promote> {
  static constexpr Signature signature = "abs(input: Tensor) -> Tensor";
  static constexpr auto doc = "Absolute value, real for complex numbers too.";
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  static constexpr GradientRule gradient{.holomorphic = false};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Sign : Pointwise<Sign, Rule::promote> {
  static constexpr Signature signature = "sign(input: Tensor) -> Tensor";
  static constexpr auto doc = "-1, 0 or 1.";
  static constexpr OutRule out{Out::same};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Square : Pointwise<Square, Rule::promote> {
  static constexpr Signature signature = "square(input: Tensor) -> Tensor";
  static constexpr auto doc = "x * x. Of bools it is int64.";
  static constexpr Save saves{.inputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct Sqrt : Pointwise<Sqrt, Rule::floating> {
  static constexpr Signature signature = "sqrt(input: Tensor) -> Tensor";
  static constexpr auto doc = "Square root.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Rsqrt : Pointwise<Rsqrt, Rule::floating> {
  static constexpr Signature signature = "rsqrt(input: Tensor) -> Tensor";
  static constexpr auto doc = "1 / sqrt(x).";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Reciprocal : Pointwise<Reciprocal, Rule::floating> {
  static constexpr Signature signature = "reciprocal(input: Tensor) -> Tensor";
  static constexpr auto doc = "1 / x.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Exp : Pointwise<Exp, Rule::floating> {
  static constexpr Signature signature = "exp(input: Tensor) -> Tensor";
  static constexpr auto doc = "e**x.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Exp2 : Pointwise<Exp2, Rule::floating> {
  static constexpr Signature signature = "exp2(input: Tensor) -> Tensor";
  static constexpr auto doc = "2**x.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Expm1 : Pointwise<Expm1, Rule::floating> {
  static constexpr Signature signature = "expm1(input: Tensor) -> Tensor";
  static constexpr auto doc = "exp(x) - 1, accurate near 0.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Log : Pointwise<Log, Rule::floating> {
  static constexpr Signature signature = "log(input: Tensor) -> Tensor";
  static constexpr auto doc = "Natural logarithm.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Log2 : Pointwise<Log2, Rule::floating> {
  static constexpr Signature signature = "log2(input: Tensor) -> Tensor";
  static constexpr auto doc = "Logarithm to base 2.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Log10 : Pointwise<Log10, Rule::floating> {
  static constexpr Signature signature = "log10(input: Tensor) -> Tensor";
  static constexpr auto doc = "Logarithm to base 10.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Log1p : Pointwise<Log1p, Rule::floating> {
  static constexpr Signature signature = "log1p(input: Tensor) -> Tensor";
  static constexpr auto doc = "log(1 + x), accurate near 0.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Sin : Pointwise<Sin, Rule::floating> {
  static constexpr Signature signature = "sin(input: Tensor) -> Tensor";
  static constexpr auto doc = "Sine of radians.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Cos : Pointwise<Cos, Rule::floating> {
  static constexpr Signature signature = "cos(input: Tensor) -> Tensor";
  static constexpr auto doc = "Cosine of radians.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Tan : Pointwise<Tan, Rule::floating> {
  static constexpr Signature signature = "tan(input: Tensor) -> Tensor";
  static constexpr auto doc = "Tangent of radians.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Asin : Pointwise<Asin, Rule::floating> {
  static constexpr Signature signature = "asin(input: Tensor) -> Tensor";
  static constexpr auto doc = "Arcsine.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Acos : Pointwise<Acos, Rule::floating> {
  static constexpr Signature signature = "acos(input: Tensor) -> Tensor";
  static constexpr auto doc = "Arccosine.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Atan : Pointwise<Atan, Rule::floating> {
  static constexpr Signature signature = "atan(input: Tensor) -> Tensor";
  static constexpr auto doc = "Arctangent.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Sinh : Pointwise<Sinh, Rule::floating> {
  static constexpr Signature signature = "sinh(input: Tensor) -> Tensor";
  static constexpr auto doc = "Hyperbolic sine.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Cosh : Pointwise<Cosh, Rule::floating> {
  static constexpr Signature signature = "cosh(input: Tensor) -> Tensor";
  static constexpr auto doc = "Hyperbolic cosine.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Tanh : Pointwise<Tanh, Rule::floating> {
  static constexpr Signature signature = "tanh(input: Tensor) -> Tensor";
  static constexpr auto doc = "Hyperbolic tangent.";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Asinh : Pointwise<Asinh, Rule::floating> {
  static constexpr Signature signature = "asinh(input: Tensor) -> Tensor";
  static constexpr auto doc = "Inverse hyperbolic sine.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Acosh : Pointwise<Acosh, Rule::floating> {
  static constexpr Signature signature = "acosh(input: Tensor) -> Tensor";
  static constexpr auto doc = "Inverse hyperbolic cosine.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Atanh : Pointwise<Atanh, Rule::floating> {
  static constexpr Signature signature = "atanh(input: Tensor) -> Tensor";
  static constexpr auto doc = "Inverse hyperbolic tangent.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Erf : Pointwise<Erf, Rule::floating> {
  static constexpr Signature signature = "erf(input: Tensor) -> Tensor";
  static constexpr auto doc = "Error function.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Erfc : Pointwise<Erfc, Rule::floating> {
  static constexpr Signature signature = "erfc(input: Tensor) -> Tensor";
  static constexpr auto doc = "1 - erf(x).";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Erfinv : Pointwise<Erfinv, Rule::floating> {
  static constexpr Signature signature = "erfinv(input: Tensor) -> Tensor";
  static constexpr auto doc = "Inverse of erf on (-1, 1).";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Lgamma : Pointwise<Lgamma, Rule::floating> {
  static constexpr Signature signature = "lgamma(input: Tensor) -> Tensor";
  static constexpr auto doc = "Logarithm of |gamma(x)|.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Digamma : Pointwise<Digamma, Rule::floating> {
  static constexpr Signature signature = "digamma(input: Tensor) -> Tensor";
  static constexpr auto doc = "Derivative of lgamma.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Polygamma : Pointwise<Polygamma, Rule::floating> {
  static constexpr Signature signature = "polygamma(n: int, input: Tensor) -> Tensor";
  static constexpr auto doc = "The n-th derivative of digamma.";
  static constexpr Save saves{.inputs = 0b1};
  int64_t n;
  static constexpr Fields fields{&Polygamma::n};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Floor : Pointwise<Floor, Rule::promote> {
  static constexpr Signature signature = "floor(input: Tensor) -> Tensor";
  static constexpr auto doc = "Largest integer not above x.";
  static constexpr OutRule out{Out::same};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Ceil : Pointwise<Ceil, Rule::promote> {
  static constexpr Signature signature = "ceil(input: Tensor) -> Tensor";
  static constexpr auto doc = "Smallest integer not below x.";
  static constexpr OutRule out{Out::same};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Round : Pointwise<Round, Rule::promote> {
  static constexpr Signature signature = "round(input: Tensor, *, decimals: int | None = None) -> Tensor";
  static constexpr auto doc = "Nearest integer, halves to even, at the given number of decimals.";
  static constexpr OutRule out{Out::same};
  std::optional<int64_t> decimals;  // given, even as 0, no integers are taken
  static constexpr Fields fields{&Round::decimals};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Trunc : Pointwise<Trunc, Rule::promote> {
  static constexpr Signature signature = "trunc(input: Tensor) -> Tensor";
  static constexpr auto doc = "Integer part.";
  static constexpr OutRule out{Out::same};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Frac : Pointwise<Frac, Rule::real> {
  static constexpr Signature signature = "frac(input: Tensor) -> Tensor";
  static constexpr auto doc = "Fractional part, with the sign of x.";
  static constexpr OutRule out{Out::same};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Sigmoid : Pointwise<Sigmoid, Rule::floating> {
  static constexpr Signature signature = "sigmoid(input: Tensor) -> Tensor";
  static constexpr auto doc = "1 / (1 + exp(-x)).";
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// Between which numbers of dtype `t` logit clamps.
struct Bounds { double low, high; };
Bounds logit_bounds(double eps, DType t);

struct Logit : Pointwise<Logit, Rule::floating> {
  static constexpr Signature signature = "logit(input: Tensor, eps: float | None = None) -> Tensor";
  static constexpr auto doc = "log(x / (1 - x)), x clamped to [eps, 1 - eps] first.";
  static constexpr Held held = Held::own;
  static constexpr Save saves{.inputs = 0b1};
  std::optional<double> eps;
  static constexpr Fields fields{&Logit::eps};
  bool rounds(Inputs, const Meta& m) const { return eps && is_reduced(m.dtype); }
  void round(Tensors& in, const Meta& m);
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogitBackward : Pointwise<LogitBackward, Rule::floating> {
  static constexpr Signature signature = "logit_backward(grad_output: Tensor, input: Tensor, eps: float | None = None) -> Tensor";
  static constexpr auto doc = "Gradient of logit, where it is not differentiated itself.";
  static constexpr Module module = Module::hidden;
  static constexpr Held held = Held::own;
  std::optional<double> eps;
  static constexpr Fields fields{&LogitBackward::eps};
  bool rounds(Inputs in, const Meta& m) const { return (eps && *eps >= 0 && is_reduced(m.dtype)) || Pointwise::rounds(in, m); }
  void round(Tensors& in, const Meta& m) {
    Pointwise::round(in, m);
    if (eps && *eps >= 0 && is_reduced(m.dtype)) bound(in, m.dtype);
  }
  void bound(Tensors& in, DType t);
};

struct Deg2rad : Pointwise<Deg2rad, Rule::floating> {
  static constexpr Signature signature = "deg2rad(input: Tensor) -> Tensor";
  static constexpr auto doc = "Degrees to radians.";
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Rad2deg : Pointwise<Rad2deg, Rule::floating> {
  static constexpr Signature signature = "rad2deg(input: Tensor) -> Tensor";
  static constexpr auto doc = "Radians to degrees.";
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Sinc : Pointwise<Sinc, Rule::floating> {
  static constexpr Signature signature = "sinc(input: Tensor) -> Tensor";
  static constexpr auto doc = "sin(pi x) / (pi x), 1 at 0.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SincBackward : Pointwise<SincBackward, Rule::real> {
  static constexpr Signature signature = "sinc_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of sinc of real numbers. It has none of its own.";
  static constexpr Module module = Module::hidden;
};

struct NanToNum : Pointwise<NanToNum, Rule::promote> {
  static constexpr Signature signature = "nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor";
  static constexpr auto doc = "NaN and infinities replaced; by 0 and the largest finite numbers unless given.";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};  // of integers, which stay as they are: the kernel asks
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  std::optional<double> nan, posinf, neginf;
  static constexpr Fields fields{&NanToNum::nan, &NanToNum::posinf, &NanToNum::neginf};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct I0 : Pointwise<I0, Rule::floating> {
  static constexpr Signature signature = "i0(input: Tensor) -> Tensor";
  static constexpr auto doc = "Modified Bessel function of order 0.";
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct I0e : Pointwise<I0e, Rule::floating> {
  static constexpr Signature signature = "i0e(input: Tensor) -> Tensor";
  static constexpr auto doc = "exp(-|x|) i0(x).";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct I1 : Pointwise<I1, Rule::floating> {
  static constexpr Signature signature = "i1(input: Tensor) -> Tensor";
  static constexpr auto doc = "Modified Bessel function of order 1.";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct I1e : Pointwise<I1e, Rule::floating> {
  static constexpr Signature signature = "i1e(input: Tensor) -> Tensor";
  static constexpr auto doc = "exp(-|x|) i1(x).";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Ndtri : Pointwise<Ndtri, Rule::wide> {
  static constexpr Signature signature = "ndtri(input: Tensor) -> Tensor";
  static constexpr auto doc = "Inverse of the standard normal distribution function.";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogNdtr : Pointwise<LogNdtr, Rule::wide> {
  static constexpr Signature signature = "log_ndtr(input: Tensor) -> Tensor";
  static constexpr auto doc = "Logarithm of the standard normal distribution function.";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogNdtrBackward : Pointwise<LogNdtrBackward, Rule::real> {
  static constexpr Signature signature = "log_ndtr_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of log_ndtr: the quotient of the normal distribution's density and its function.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Erfcx : Pointwise<Erfcx, Rule::wide> {
  static constexpr Signature signature = "erfcx(input: Tensor) -> Tensor";
  static constexpr auto doc = "exp(x**2) erfc(x).";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Entr : Pointwise<Entr, Rule::floating> {
  static constexpr Signature signature = "entr(input: Tensor) -> Tensor";
  static constexpr auto doc = "-x log(x), 0 at 0, -inf below.";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// The family, for registration and for the kernels.
using UnaryOps = OpList<Neg, Abs, Sign, Square, Sqrt, Rsqrt, Reciprocal, Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sin, Cos, Tan, Asin,
    Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Erfc, Erfinv, Lgamma, Digamma, Polygamma, Floor, Ceil, Round, Trunc, Frac,
    Sigmoid, Logit, LogitBackward, Deg2rad, Rad2deg, Sinc, SincBackward, NanToNum, I0, I0e, I1, I1e, Ndtri, LogNdtr, LogNdtrBackward, Erfcx, Entr>;

namespace fn {
inline constexpr Fn<Neg> neg;
inline constexpr Fn<Abs> abs;
inline constexpr Fn<Sign> sign;
inline constexpr Fn<Square> square;
inline constexpr Fn<Sqrt> sqrt;
inline constexpr Fn<Rsqrt> rsqrt;
inline constexpr Fn<Reciprocal> reciprocal;
inline constexpr Fn<Exp> exp;
inline constexpr Fn<Exp2> exp2;
inline constexpr Fn<Expm1> expm1;
inline constexpr Fn<Log> log;
inline constexpr Fn<Log2> log2;
inline constexpr Fn<Log10> log10;
inline constexpr Fn<Log1p> log1p;
inline constexpr Fn<Sin> sin;
inline constexpr Fn<Cos> cos;
inline constexpr Fn<Tan> tan;
inline constexpr Fn<Asin> asin;
inline constexpr Fn<Acos> acos;
inline constexpr Fn<Atan> atan;
inline constexpr Fn<Sinh> sinh;
inline constexpr Fn<Cosh> cosh;
inline constexpr Fn<Tanh> tanh;
inline constexpr Fn<Asinh> asinh;
inline constexpr Fn<Acosh> acosh;
inline constexpr Fn<Atanh> atanh;
inline constexpr Fn<Erf> erf;
inline constexpr Fn<Erfc> erfc;
inline constexpr Fn<Erfinv> erfinv;
inline constexpr Fn<Lgamma> lgamma;
inline constexpr Fn<Digamma> digamma;
inline constexpr Fn<Polygamma> polygamma;
inline constexpr Fn<Floor> floor;
inline constexpr Fn<Ceil> ceil;
inline constexpr Fn<Round> round;
inline constexpr Fn<Trunc> trunc;
inline constexpr Fn<Frac> frac;
inline constexpr Fn<Sigmoid> sigmoid;
inline constexpr Fn<Logit> logit;
inline constexpr Fn<LogitBackward> logit_backward;
inline constexpr Fn<Deg2rad> deg2rad;
inline constexpr Fn<Rad2deg> rad2deg;
inline constexpr Fn<Sinc> sinc;
inline constexpr Fn<NanToNum> nan_to_num;
inline constexpr Fn<I0> i0;
inline constexpr Fn<I0e> i0e;
inline constexpr Fn<I1> i1;
inline constexpr Fn<I1e> i1e;
inline constexpr Fn<Ndtri> ndtri;
inline constexpr Fn<LogNdtr> log_ndtr;
inline constexpr Fn<LogNdtrBackward> log_ndtr_backward;
inline constexpr Fn<SincBackward> sinc_backward;
inline constexpr Fn<Erfcx> erfcx;
inline constexpr Fn<Entr> entr;
}  // namespace fn

}  // namespace weir
