// Vec<std::complex<R>>: complex numbers as a vector of real parts and one of imaginary parts.
//
// Loading parts the pairs that lie in memory, storing joins them, and arithmetic in between is that of Vec<R>. What exists
// for single numbers only runs lane by lane in double, so that complex64 is right to its own rounding.
#pragma once
#include <complex>

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

template <class R> struct Vec<std::complex<R>> {
  static constexpr int size = Vec<R>::size;
  Vec<R> re, im;

  Vec() = default;
  Vec(Vec<R> r, Vec<R> i) : re(r), im(i) {}
  explicit Vec(Vec<R> r) : re(r), im(0) {}
  template <class N> requires std::is_arithmetic_v<N>
  explicit Vec(N x) : re(x), im(0) {}
  explicit Vec(std::complex<R> x) : re(x.real()), im(x.imag()) {}

  /// Numbers in an order of their own, which `store` undoes: parts stay within 16 bytes of a register, which takes one instruction, not two.
  static Vec load(const std::complex<R>* p) { return load_within<16 / sizeof(R)>(p); }
  void store(std::complex<R>* p) const { store_within<16 / sizeof(R)>(p); }
  /// Number i in lane i.
  static Vec load_in_order(const std::complex<R>* p) { return load_within<size>(p); }
  void store_in_order(std::complex<R>* p) const { store_within<size>(p); }

  friend Vec operator+(Vec a, Vec b) { return {a.re + b.re, a.im + b.im}; }
  friend Vec operator-(Vec a, Vec b) { return {a.re - b.re, a.im - b.im}; }
  friend Vec operator-(Vec a) { return {-a.re, -a.im}; }
  friend Vec operator*(Vec a, Vec b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  // By the larger part of the divisor, so that no square overflows. Source: Smith 1962, as in NumPy and c10::complex.
  friend Vec operator/(Vec a, Vec b) {
    Vec<R> c = abs(b.re), d = abs(b.im), one(1);
    Mask<R> by_real = c >= d;
    Vec<R> large = where(by_real, b.re, b.im), small = where(by_real, b.im, b.re), ratio = small / large;
    Vec<R> scale = one / (large + small * ratio);
    Vec<R> re = where(by_real, a.re + a.im * ratio, a.re * ratio + a.im) * scale;
    Vec<R> im = where(by_real, a.im - a.re * ratio, a.im * ratio - a.re) * scale;
    Mask<R> zero = (c == Vec<R>(0)) & (d == Vec<R>(0));
    return {where(zero, a.re / c, re), where(zero, a.im / d, im)};
  }
  friend Mask<R> operator==(Vec a, Vec b) { return (a.re == b.re) & (a.im == b.im); }
  friend Mask<R> operator!=(Vec a, Vec b) { return (a.re != b.re) | (a.im != b.im); }

 private:
  // Every n lanes of a part hold numbers of the same n lanes of both registers of pairs.
  template <int n> static Vec load_within(const std::complex<R>* p) {
    const R* parts = reinterpret_cast<const R*>(p);
    Vec<R> a = Vec<R>::load(parts), b = Vec<R>::load(parts + size);
    typename Mask<R>::V even, odd;
    for (int i = 0; i < size; i++) even[i] = i / n * n + i % (n / 2) * 2 + (i % n < n / 2 ? 0 : size), odd[i] = even[i] + 1;
    return {Vec<R>(__builtin_shuffle(a.v, b.v, even)), Vec<R>(__builtin_shuffle(a.v, b.v, odd))};
  }
  template <int n> void store_within(std::complex<R>* p) const {
    R* parts = reinterpret_cast<R*>(p);
    typename Mask<R>::V low, high;
    for (int i = 0; i < size; i++) low[i] = i / n * n + i % n / 2 + i % 2 * size, high[i] = low[i] + n / 2;
    Vec<R>(__builtin_shuffle(re.v, im.v, low)).store(parts);
    Vec<R>(__builtin_shuffle(re.v, im.v, high)).store(parts + size);
  }
};
/// The plain formula, as PyTorch's: C's rules for products would make infinities of some NaN.
template <class R> std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class R> using ComplexVec = Vec<std::complex<R>>;

template <class R> ComplexVec<R> where(Mask<R> m, ComplexVec<R> a, ComplexVec<R> b) {
  return {where(m, a.re, b.re), where(m, a.im, b.im)};
}
/// The length of each, whose last digit is right for floats: their squares are exact in double precision, and none overflows.
inline Vec<double> length(Vec<double> x, Vec<double> y) { return hypot(x, y); }
inline Vec<float> length(Vec<float> x, Vec<float> y) {
  constexpr int half = Vec<double>::size;
  Vec<float> r;
  for (int from = 0; from < Vec<float>::size; from += half) {
    Vec<double> a, b;
    for (int i = 0; i < half; i++) a.v[i] = x.v[from + i], b.v[i] = y.v[from + i];
    a = sqrt(a * a + b * b);
    for (int i = 0; i < half; i++) r.v[from + i] = float(a.v[i]);
  }
  return r;
}
/// The modulus, as a complex number.
template <class R> ComplexVec<R> abs(ComplexVec<R> x) { return ComplexVec<R>(hypot(x.re, x.im)); }

template <class R, class F> ComplexVec<R> per_lane(ComplexVec<R> x, F f) {
  for (int i = 0; i < x.size; i++) {
    std::complex<double> y = f(std::complex<double>(x.re.v[i], x.im.v[i]));
    x.re.v[i] = R(y.real()), x.im.v[i] = R(y.imag());
  }
  return x;
}
template <class R, class F> ComplexVec<R> per_lanes(ComplexVec<R> x, ComplexVec<R> y, F f) {
  for (int i = 0; i < x.size; i++) {
    std::complex<double> z = f(std::complex<double>(x.re.v[i], x.im.v[i]), std::complex<double>(y.re.v[i], y.im.v[i]));
    x.re.v[i] = R(z.real()), x.im.v[i] = R(z.imag());
  }
  return x;
}
/// join(lane 0, lane 1, ...), by single numbers: reductions call it once per row.
template <class R, class F> std::complex<R> across_lanes(ComplexVec<R> x, F join) {
  ComplexVec<R> all = x;
  for (int i = 1; i < x.size; i++) all = join(all, ComplexVec<R>(std::complex<R>(x.re.v[i], x.im.v[i])));
  return {all.re.v[0], all.im.v[0]};
}

using Z = std::complex<double>;
template <class R> ComplexVec<R> exp(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::exp(z); }); }
template <class R> ComplexVec<R> exp2(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::exp(z * M_LN2); }); }
template <class R> ComplexVec<R> log(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::log(z); }); }
template <class R> ComplexVec<R> log2(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::log(z) / M_LN2; }); }
template <class R> ComplexVec<R> log10(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::log10(z); }); }
template <class R> ComplexVec<R> sqrt(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::sqrt(z); }); }
template <class R> ComplexVec<R> sin(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::sin(z); }); }
template <class R> ComplexVec<R> cos(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::cos(z); }); }
template <class R> ComplexVec<R> tan(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::tan(z); }); }
template <class R> ComplexVec<R> asin(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::asin(z); }); }
template <class R> ComplexVec<R> acos(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::acos(z); }); }
template <class R> ComplexVec<R> atan(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::atan(z); }); }
template <class R> ComplexVec<R> sinh(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::sinh(z); }); }
template <class R> ComplexVec<R> cosh(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::cosh(z); }); }
template <class R> ComplexVec<R> tanh(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::tanh(z); }); }
template <class R> ComplexVec<R> asinh(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::asinh(z); }); }
template <class R> ComplexVec<R> acosh(ComplexVec<R> x) { return per_lane(x, [](Z z) { return std::acosh(z); }); }
/// f of `fast` vectors, and of the C library's functions in the lanes where the mask does not hold.
template <class R, class F> ComplexVec<R> with_others(Mask<R> usual, ComplexVec<R> fast, ComplexVec<R> x, F f) {
  for (int i = 0; i < x.size; i++)
    if (!usual.v[i]) {
      const Z y = f(Z(x.re.v[i], x.im.v[i]));
      fast.re.v[i] = R(y.real()), fast.im.v[i] = R(y.imag());
    }
  return fast;
}
/// log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 with the sign of x, and half the angle of (1 - |x|) (1 + |x|) - y^2 and 2 y, while no square leaves the range.
inline ComplexVec<double> atanh(ComplexVec<double> z) {
  using D = Vec<double>;
  const D x = abs(z.re), y = z.im, left = D(1) - x, far = left * left + y * y;
  const Mask<double> usual = (x < D(1e150)) & (abs(y) < D(1e150)) & (far > D(1e-290));
  const ComplexVec<double> w = where(usual, ComplexVec<double>(x, y), ComplexVec<double>(2));
  const D a = D(1) - w.re;
  const D re = D(0.25) * log1p(D(4) * w.re / (a * a + w.im * w.im)), im = D(0.5) * atan2(w.im + w.im, a * (D(1) + w.re) - w.im * w.im);
  return with_others(usual, ComplexVec<double>(copysign(re, z.re), im), z, [](Z v) { return std::atanh(v); });
}
template <class R> ComplexVec<R> log1p(ComplexVec<R> x) {
  return per_lane(x, [](Z z) {
    double a = z.real(), b = z.imag();
    if (std::isnan(a) || std::isnan(b)) return Z(NAN, NAN);
    if (std::abs(z) < 0.5) return Z(0.5 * std::log1p(a * (a + 2) + b * b), std::atan2(b, 1 + a));
    return std::log(1.0 + z);
  });
}
/// expm1(x) cos(y) - 2 sin(y / 2)^2, in which nothing cancels near 0, and exp(x) sin(y).
template <class R> ComplexVec<R> expm1(ComplexVec<R> x) {
  const Vec<R> half = sin(Vec<R>(R(0.5)) * x.im);
  return {expm1(x.re) * cos(x.im) - Vec<R>(2) * half * half, exp(x.re) * sin(x.im)};
}
/// Small whole exponents are products, which are exact where the logarithm is not.
inline Z power_of(Z a, Z b) {
  if (b == 0.0) return Z(1);
  if (a == 0.0) return b.imag() == 0 && b.real() > 0 ? Z(0) : std::pow(a, b);
  if (b.imag() != 0) return std::pow(a, b);
  if (b.real() == 0.5) return std::sqrt(a);
  if (std::abs(b.real()) > 3 || b.real() != std::floor(b.real())) return std::pow(a, b);
  Z square(a.real() * a.real() - a.imag() * a.imag(), 2 * a.real() * a.imag());
  int n = std::abs(int(b.real()));
  Z power = n == 1 ? a : n == 2 ? square
            : Z(square.real() * a.real() - square.imag() * a.imag(), square.real() * a.imag() + square.imag() * a.real());
  return b.real() > 0 ? power : 1.0 / power;
}
/// exp(y log(x)) by vectors, where no exponent is one of those and nothing leaves the range of double on the way.
inline ComplexVec<double> pow(ComplexVec<double> x, ComplexVec<double> y) {
  using D = Vec<double>;
  const D re = abs(x.re), im = abs(x.im), large = where(re > im, re, im), small = where(re > im, im, re), size = abs(y.re);
  const Mask<double> product = (y.im == D(0)) & ((size == D(0.5)) | (size == D(0)) | (size == D(1)) | (size == D(2)) | (size == D(3)));
  Mask<double> usual = (large > D(1e-150)) & (large < D(1e150)) & (small < D(1e150)) & !product;
  ComplexVec<double> r = x;
  if (any(usual)) {
    const D a = where(usual, large, D(2)), b = where(usual, small, D(0)), squares = a * a + b * b;
    // Of a length near 1 the logarithm is that of the little that is beyond it.
    const Mask<double> near = (squares > D(0.5)) & (squares < D(2));
    const D length = D(0.5) * where(near, log1p(fma(a - D(1), a + D(1), b * b)), log(squares)), angle = atan2(x.im, x.re);
    const D grows = y.re * length - y.im * angle, turns = y.im * length + y.re * angle;
    usual = usual & (abs(grows) < D(700));
    const D e = exp(where(usual, grows, D(0)));
    r = {e * cos(turns), e * sin(turns)};
  }
  for (int i = 0; i < x.size; i++)
    if (!usual.v[i]) {
      const Z z = power_of(Z(x.re.v[i], x.im.v[i]), Z(y.re.v[i], y.im.v[i]));
      r.re.v[i] = z.real(), r.im.v[i] = z.imag();
    }
  return r;
}
template <class R> ComplexVec<R> pow(ComplexVec<R> x, ComplexVec<R> y) { return per_lanes(x, y, power_of); }

}  // namespace WEIR_ISA
}  // namespace weir
