// Where a pointwise op reads differently on complex numbers than kernels/formulas.h has it, and which ops have complex
// loops at all.
#pragma once
#include "framework/kernels/cpu/vec_complex.h"
#include "framework/kernels/formulas.h"

namespace weir {
namespace formulas {

template <class R> using ComplexVec = WEIR_ISA::ComplexVec<R>;

template <class R> ComplexVec<R> formula(const Isinf&, ComplexVec<R> x) {
  auto top = largest(x.re);
  return where((abs(x.re) > top) | (abs(x.im) > top), ComplexVec<R>(1), ComplexVec<R>(0));
}
template <class R> ComplexVec<R> formula(const Isfinite&, ComplexVec<R> x) {
  auto top = largest(x.re);
  return where((abs(x.re) <= top) & (abs(x.im) <= top), ComplexVec<R>(1), ComplexVec<R>(0));
}
template <class R> ComplexVec<R> formula(const NanToNum& op, ComplexVec<R> x) {
  return {formula(op, x.re), formula(op, x.im)};
}
template <class R> ComplexVec<R> formula(const Sgn&, ComplexVec<R> x) {
  const auto size = length(x.re, x.im), zero = decltype(size)(R(0));
  return {where(size == zero, zero, x.re / size), where(size == zero, zero, x.im / size)};
}
template <class R> ComplexVec<R> formula(const Angle&, ComplexVec<R> x) { return ComplexVec<R>(atan2(x.im, x.re)); }
template <class R> ComplexVec<R> formula(const Conjugate&, ComplexVec<R> x) { return {x.re, -x.im}; }
template <class R> ComplexVec<R> formula(const Lerp&, ComplexVec<R> a, ComplexVec<R> b, ComplexVec<R> w) {
  auto near = w.re * w.re + w.im * w.im < WEIR_ISA::Vec<R>(0.25);
  return where(near, a + w * (b - a), b - (b - a) * (ComplexVec<R>(1) - w));
}
template <class R> ComplexVec<R> formula(const Logaddexp&, ComplexVec<R> a, ComplexVec<R> b) {
  // By the larger real part, as PyTorch orders complex numbers here.
  return per_lanes(a, b, [](auto x, auto y) {
    if (std::isnan(x.real()) || std::isnan(x.imag()) || std::isnan(y.real()) || std::isnan(y.imag())) return decltype(x)(NAN, NAN);
    auto high = x.real() >= y.real() ? x : y, low = x.real() >= y.real() ? y : x;
    if (std::isinf(high.real()) && high.real() == low.real())
      return high.real() < 0 ? low : std::log(std::exp(high) + std::exp(low));
    auto z = std::exp(low - high);
    double re = z.real(), im = z.imag();
    decltype(x) log1p = std::abs(z) < 0.5 ? decltype(x)(0.5 * std::log1p(re * (re + 2) + im * im), std::atan2(im, 1 + re))
                                          : std::log(1.0 + z);
    return high + log1p;
  });
}

/// Ops with a loop per complex dtype: those whose arithmetic is that of vectors, or whose limits are the dtype's own.
using FastComplexOps = OpList<Neg, Abs, Square, Reciprocal, Isnan, Isinf, Isfinite, LogicalNot, NanToNum, Conjugate, Sgn, Add, Sub,
    Mul, Div, Where, Addcmul, Addcdiv, Lerp, Eq, Ne, SigmoidBackward, TanhBackward>;
/// Ops whose complex64 numbers go through the complex128 loop.
using ComplexOps = OpList<Sqrt, Rsqrt, Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh,
    Tanh, Asinh, Acosh, Atanh, Sigmoid, Sinc, Angle, Pow, Logaddexp, LogicalAnd, LogicalOr, LogicalXor, Silu, SiluBackward>;

}  // namespace formulas
}  // namespace weir
