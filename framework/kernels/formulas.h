// Every pointwise formula, written once.
//
// `T` is a SIMD vector on the CPU and a number on the GPU, where NVRTC compiles this same text. The subset is
// therefore small: arithmetic, comparisons (they give a mask; combine masks with & | !), where(mask, a, b), the
// functions of <cmath>, in_double for what wants more digits, and per_lane for what exists only for single numbers. Attributes come with the op's struct.
#pragma once
#ifndef __CUDACC_RTC__
#include <cmath>
#include <limits>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/bessel.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/unary.h"
#endif
#include "framework/kernels/special.h"

namespace weir {
namespace formulas {

// ---- one tensor -----------------------------------------------------------------------------------------------
template <class T> T formula(const Neg&, T x) { return -x; }
template <class T> T formula(const Abs&, T x) { return abs(x); }
template <class T> T formula(const Sign&, T x) { return where(x > T(0), T(1), where(x < T(0), T(-1), T(0))); }
template <class T> T formula(const Sgn&, T x) { return formula(Sign(), x); }
template <class T> T formula(const Angle&, T x) { return where(x < T(0), T(3.14159265358979323846), where(x != x, x, T(0))); }
template <class T> T formula(const Conjugate&, T x) { return x; }
template <class T> T formula(const Square&, T x) { return x * x; }
template <class T> T formula(const Sqrt&, T x) { return sqrt(x); }
template <class T> T formula(const Rsqrt&, T x) { return T(1) / sqrt(x); }
template <class T> T formula(const Reciprocal&, T x) { return T(1) / x; }
template <class T> T formula(const Exp&, T x) { return exp(x); }
template <class T> T formula(const Exp2&, T x) { return exp2(x); }
template <class T> T formula(const Expm1&, T x) { return expm1(x); }
template <class T> T formula(const Log&, T x) { return log(x); }
template <class T> T formula(const Log2&, T x) { return log2(x); }
template <class T> T formula(const Log10&, T x) { return log10(x); }
template <class T> T formula(const Log1p&, T x) { return log1p(x); }
template <class T> T formula(const Sin&, T x) { return sin(x); }
template <class T> T formula(const Cos&, T x) { return cos(x); }
template <class T> T formula(const Tan&, T x) { return tan(x); }
template <class T> T formula(const Asin&, T x) { return asin(x); }
template <class T> T formula(const Acos&, T x) { return acos(x); }
template <class T> T formula(const Atan&, T x) { return atan(x); }
template <class T> T formula(const Sinh&, T x) { return sinh(x); }
template <class T> T formula(const Cosh&, T x) { return cosh(x); }
template <class T> T formula(const Tanh&, T x) { return tanh(x); }
template <class T> T formula(const Asinh&, T x) { return asinh(x); }
template <class T> T formula(const Acosh&, T x) { return acosh(x); }
template <class T> T formula(const Atanh&, T x) { return atanh(x); }
template <class T> T formula(const Erf&, T x) { return erf(x); }
template <class T> T formula(const Erfc&, T x) { return erfc(x); }
template <class T> T formula(const Floor&, T x) { return floor(x); }
template <class T> T formula(const Ceil&, T x) { return ceil(x); }
template <class T> T formula(const Trunc&, T x) { return trunc(x); }
template <class T> T formula(const Frac&, T x) { return x - trunc(x); }
inline double power_of_ten(uint64_t n) {
  if (n > 22) return std::pow(10.0, double(n));
  double r = 1;  // every one of these is exact
  for (; n > 0; n--) r *= 10;
  return r;
}
template <class T> T formula(const Round& op, T x) {
  int64_t decimals = op.decimals ? *op.decimals : 0;
  if (decimals == 0) return nearbyint(x);
  T scale = T(power_of_ten(decimals < 0 ? -uint64_t(decimals) : uint64_t(decimals)));
  return decimals > 0 ? nearbyint(x * scale) / scale : nearbyint(x / scale) * scale;
}
template <class T> T formula(const Sigmoid&, T x) { return T(1) / (T(1) + exp(-x)); }
template <class T> T formula(const Logit& op, T x) {
  if (op.eps) x = where(x < T(*op.eps), T(*op.eps), where(x > T(1 - *op.eps), T(1 - *op.eps), x));
  return log(x / (T(1) - x));
}
template <class T> T formula(const LogitBackward& op, T g, T x) {
  const bool clamped = op.eps && !(*op.eps < 0);
  const T low = T(clamped ? *op.eps : 0.0), high = T(clamped ? 1 - *op.eps : 1.0), beyond = T(clamped ? 0.0 : double(NAN));
  return where((x < low) | (x > high), beyond, g / ((x + T(0)) * (T(1) - x)));  // the pole is that to the right of 0, of -0 too
}
template <class T> T formula(const Deg2rad&, T x) { return x * T(0.017453292519943295769); }
template <class T> T formula(const Rad2deg&, T x) { return x * T(57.295779513082320877); }
template <class T> T formula(const Sinc&, T x) {
  T px = x * T(3.14159265358979323846);
  return where(x == T(0), T(1), sin(px) / px);
}
template <class T> T formula(const SincBackward&, T g, T x) {
  const T px = x * T(3.14159265358979323846), s = px * px;
  const auto is_near = abs(px) < T(0.5);  // where the quotient cancels
  const T tail = T(1.0 / 840) - s * (T(1.0 / 45360) - s * (T(1.0 / 3991680) - s * (T(1.0 / 518918400) - s * T(1.0 / 93405312000.0))));
  const T near = px * (s * (T(1.0 / 30) - s * tail) - T(1.0 / 3));
  if (!any(!is_near)) return g * (T(3.14159265358979323846) * near);
  const T r = T(1) / where(is_near, T(1), px), far = (cos(px) - sin(px) * r) * r;
  return g * (T(3.14159265358979323846) * where(is_near, near, far));
}
template <class T> T formula(const NanToNum& op, T x) {
  T top = largest(x);
  T y = where(x > top, op.posinf ? T(*op.posinf) : top, x);
  y = where((abs(x) > top) & (x < T(0)), op.neginf ? T(*op.neginf) : -top, y);  // the least integer has no absolute value
  return where(x != x, T(op.nan ? *op.nan : 0.0), y);
}
template <class T> T formula(const Isnan&, T x) { return where(x != x, T(1), T(0)); }
template <class T> T formula(const Isinf&, T x) { return where(abs(x) > largest(x), T(1), T(0)); }
template <class T> T formula(const Isfinite&, T x) { return where(abs(x) <= largest(x), T(1), T(0)); }
template <class T> T formula(const Isposinf&, T x) { return where(x > largest(x), T(1), T(0)); }
template <class T> T formula(const Isneginf&, T x) { return where((abs(x) > largest(x)) & (x < T(0)), T(1), T(0)); }
template <class T> T formula(const Signbit&, T x) { return where(copysign(T(1), x) < T(0), T(1), T(0)); }
template <class T> T formula(const LogicalNot&, T x) { return where(x == T(0), T(1), T(0)); }
template <class T> T formula(const BitwiseNotInt&, T x) { return ~x; }

template <class T> T formula(const Lgamma&, T x) { return lgamma(x); }
// Reflection for x < 0, recurrence up to 10, then the asymptotic series. Source: Abramowitz and Stegun 6.3.18.
template <class D> D digamma_of(D x) {
  const auto low = x < D(0);
  D z = where(low, D(1) - x, x), above = D(0), below = D(1);  // the sum of 1 / (z + k) as one fraction
  for (int k = 0; k < 10; k++) {
    const auto small = z < D(10);
    above = where(small, fma(above, z, below), above);
    below = where(small, below * z, below);
    z = where(small, z + D(1), z);
  }
  const D s = D(1) / z, t = s * s;
  const D tail = t * (D(1.0 / 12) - t * (D(1.0 / 120) - t * (D(1.0 / 252) - t * (D(1.0 / 240) - t * (D(1.0 / 132) - t * (D(691.0 / 32760) - t * D(1.0 / 12)))))));
  const D y = log(z) - D(0.5) * s - tail - above / below;
  const D part = x - nearbyint(x);  // exact, where the distance to the whole number below is not
  const D reflected = where(part == D(0), D(NAN), y - D(3.14159265358979323846) / tan(D(3.14159265358979323846) * part));
  return where(x == D(0), copysign(D(INFINITY), -x), where(low, reflected, y));
}
template <class T> T formula(const Digamma&, T x) {
  return in_double(x, [](auto v) { return digamma_of(v); });
}
// c[0] x^(n-1) + ... + c[n-1].
template <class T, int n> T horner(T x, const double (&c)[n]) {
  T r = T(c[0]);
  for (int i = 1; i < n; i++) r = fma(r, x, T(c[i]));
  return r;
}
// Reflection below 1/2, six steps of the recurrence, then three terms of the asymptotic series: PyTorch's, which has eleven digits.
template <class T> T trigamma(T x) {
  T low = x, sine = sin(T(3.14159265358979323846) * x), sum = T(0);  // pi rounded to the dtype: no pole is exact, as in PyTorch
  x = where(low < T(0.5), T(1) - x, x);
  for (int i = 0; i < 6; i++) {
    sum = sum + T(1) / (x * x);
    x = x + T(1);
  }
  T z = T(1) / (x * x);
  sum = sum + (T(1) + T(0.5) / x + z * horner(z, {1.0 / 42, -1.0 / 30, 1.0 / 6})) / x;
  return where(low < T(0.5), T(9.86960440108935861883) / (sine * sine) - sum, sum);
}
// The sum of (k + q)^-s over k >= 0, s > 1, by Euler-Maclaurin summation. Source: Cephes zeta.c's method.
inline double hurwitz_zeta(double s, double q) {
  double sum = std::pow(q, -s), a = q, term = 0;
  for (int i = 0; i < 9 || a <= 9.0; i++) {
    a += 1;
    term = std::pow(a, -s);
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) return sum;
  }
  sum += term * a / (s - 1) - 0.5 * term;
  const double bernoulli[] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9,
                              7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
                              1.8152105401943546773e17, -7.1661652561756670113e18};  // (2k)! / B2k
  double factor = 1, k = 0;
  for (double b : bernoulli) {
    factor *= s + k;
    term /= a;
    const double more = factor * term / b;  // NaN where all terms are too small for the dtype and a factor is too large
    sum += more;
    if (std::fabs(more / sum) < 1e-17) return sum;
    k += 1;
    factor *= s + k;
    term /= a;
    k += 1;
  }
  return sum;
}
template <class T> T formula(const Polygamma& op, T x) {
  // PyTorch's kernel has n, and n + 1, in 32 bits.
  double n = double(int(op.n)), next = double(int(unsigned(op.n) + 1));
  if (op.n == 0) return formula(Digamma(), x);
  if (op.n == 1) return trigamma(x);
  return per_lane(x, [n, next](auto v) -> decltype(v) {  // (-1)^(n+1) n! zeta(n+1, x)
    double q = double(v), sign = std::fmod(n, 2.0) == 0.0 ? -1.0 : 1.0;
    if (next < 1) return decltype(v)(NAN);
    if (q <= 0 && q == std::floor(q)) return decltype(v)(sign * INFINITY);
    return decltype(v)(sign * std::exp(std::lgamma(n + 1)) * hurwitz_zeta(next, q));
  });
}
// The number below which a normal variable falls with probability p = q + 1/2; tail = min(p, 1 - p), exactly. Source: Wichura
// 1988, algorithm AS 241, PPND16.
template <class T> T normal_quantile(T q, T tail) {
  T r = T(0.180625) - q * q;
  T middle = q * horner(r, {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
                            13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608}) /
             horner(r, {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
                        5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0});
  T depth = sqrt(-log(tail)), near = depth - T(1.6), far = depth - T(5);
  T side = where(depth > T(5),
      horner(far, {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
                   0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772}) /
          horner(far, {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
                       0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0}),
      horner(near, {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
                    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734}) /
          horner(near, {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
                        0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0}));
  side = where(tail == T(0), T(INFINITY), side);
  return where(abs(q) <= T(0.425), middle, where(q < T(0), -side, side));
}
// 1 - x^2 with the digits of what is left of it; lanes of machines that fuse no product have their own.
template <class T> T one_less_square(T x) { return fma(-x, x, T(1)); }
// erfinv(x) to the digits of a float, as x times a function of w = -log(1 - x^2), whose largest part is multiplied apart. Source of the form: Giles 2012.
template <class T> T short_erfinv(T x) {
  const T w = -log(one_less_square(x));
  auto near = [&] { return horner(w, {-8.93192597024e-9, 2.24304301526e-7, -2.00827133916e-6, 4.15066323659e-6, 4.40488043263e-5, -1.26539474313e-4, -2.33527059487e-3,
                            1.15491651169e-2, 0.232013712762, -2.787496e-08}); };
  auto far = [&] { return horner(sqrt(w) - T(3.125), {1.1153858078e-4, -1.80044147797e-4, -2.93243452383e-4, 1.32018454516e-3, -2.53766486119e-3, 3.77721738036e-3,
                                            -5.2976387942e-3, 7.04969822407e-3, 1.00371851949, -2.214862e-08}); };
  const auto is_near = w < T(5);
  const T size = abs(x), y = fma(size, where(is_near, T(0.8862269520759583), T(2.958320140838623)), size * choose(is_near, near, far));
  return copysign(where(size == T(1), T(INFINITY), y), x);
}
template <class T> T formula(const Erfinv&, T x) {
  if constexpr (kUnseen<T> == kUnseen<float>) return short_erfinv(x);
  return normal_quantile(T(0.5) * x, T(0.5) - T(0.5) * abs(x)) * T(0.70710678118654752440);
}
template <class T> T formula(const Ndtri&, T p) {
  if (!any((p > T(0)) & (p < T(1)))) return where(p == T(0), T(-INFINITY), where(p == T(1), T(INFINITY), T(NAN)));
  return normal_quantile(p - T(0.5), where(p < T(0.5), p, T(1) - p));
}
// exp overflows in the dtype itself, before the product does, as in PyTorch.
template <class T> T formula(const I0e&, T x) { return in_double(x, [](auto v) { return i0_scaled<kUnseen<T>>(abs(v)); }); }
template <class T> T formula(const I0&, T x) { return formula(I0e(), x) * exp(abs(x)); }
template <class T> T formula(const I1e&, T x) {
  return in_double(x, [](auto v) { auto y = i1_scaled<kUnseen<T>>(abs(v)); return where(v < decltype(v)(0.0), -y, y); });
}
template <class T> T formula(const I1&, T x) { return formula(I1e(), x) * exp(abs(x)); }
template <class T> T formula(const BesselJ0&, T x) { return in_double(x, [](auto v) { return j0_of<kUnseenBesideZeros<T>>(abs(v)); }); }
template <class T> T formula(const BesselJ1&, T x) {
  return in_double(x, [](auto v) { auto y = j1_of<kUnseenBesideZeros<T>>(abs(v)); return where(v < decltype(v)(0.0), -y, y); });
}
template <class T> T formula(const BesselY0&, T x) { return in_double(x, [](auto v) { return of_second_kind(v, y0_of<kUnseenBesideZeros<T>>(v)); }); }
template <class T> T formula(const BesselY1&, T x) { return in_double(x, [](auto v) { return of_second_kind(v, y1_of<kUnseenBesideZeros<T>>(v)); }); }
template <class T> T formula(const BesselK0&, T x) { return in_double(x, [](auto v) { return k0_scaled<kUnseen<T>>(v) * exp(-v); }); }
template <class T> T formula(const BesselK1&, T x) { return in_double(x, [](auto v) { return k1_scaled<kUnseen<T>>(v) * exp(-v); }); }
template <class T> T formula(const ScaledBesselK0&, T x) { return in_double(x, [](auto v) { return k0_scaled<kUnseen<T>>(v); }); }
template <class T> T formula(const ScaledBesselK1&, T x) { return in_double(x, [](auto v) { return k1_scaled<kUnseen<T>>(v); }); }
template <class T> T formula(const AiryAi&, T x) { return in_double(x, [](auto v) { return airy(v); }); }
template <class T> T formula(const BesselI0&, T x) { return formula(I0(), x); }
template <class T> T formula(const BesselI1&, T x) { return formula(I1(), x); }
template <class T> T formula(const SphericalBesselJ0&, T x) { return where(x == T(0), T(1), where(abs(x) > largest(x), T(0), sin(x) / x)); }
// Not 1 + erf, of which few digits are left in the lower tail.
template <class T> T formula(const Ndtr&, T x) { return T(0.5) * erfc(x * T(-0.70710678118654752440)); }
template <class T> T formula(const Erfcx&, T x) { return in_double(x, [](auto v) { return erfcx_anywhere<kUnseen<T>>(v); }); }
template <class T> T formula(const LogNdtr&, T x) { return in_double(x, [](auto v) { return log_normal_cdf<kUnseen<T>>(v); }); }
/// Where half the square is beyond the dtype NaN, as PyTorch's.
template <class T> T formula(const LogNdtrBackward&, T g, T x) {
  T slope = in_double(x, [](auto v) { return log_normal_cdf_slope<kUnseen<T>>(v); });
  return g * where(x < T(0), where(x * x * T(0.5) == T(INFINITY), T(NAN), slope), slope);
}
inline double zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (s < 1 || q != q) return NAN;
  if (q <= 0) {
    if (q == std::floor(q)) return INFINITY;
    if (s != std::floor(s)) return NAN;  // powers of numbers below zero
  }
  if (s != s) return NAN;
  return hurwitz_zeta(s, q);
}
template <class T> T formula(const Zeta&, T s, T q) {
  return per_lanes(s, q, [](auto p, auto r) -> decltype(p) { return decltype(p)(zeta(double(p), double(r))); });
}
template <class T> T formula(const Entr&, T x) {
  return where(x != x, x, where(x > T(0), -x * log_of_positive(x), where(x == T(0), T(0), T(-INFINITY))));
}

// ---- two or three tensors -------------------------------------------------------------------------------------
template <class T> T formula(const Add& op, T a, T b) { return a + scalar(a, op.alpha) * b; }
template <class T> T formula(const Sub& op, T a, T b) { return a - scalar(a, op.alpha) * b; }
template <class T> T formula(const Mul&, T a, T b) { return a * b; }
template <class T> T formula(const Div&, T a, T b) { return a / b; }
template <class T> T formula(const DivMode& op, T a, T b) {
  return (*op.rounding_mode).v[0] == 't' ? div_trunc(a, b) : div_floor(a, b);
}
template <class T> T formula(const FloorDivide&, T a, T b) { return div_floor(a, b); }
template <class T> T formula(const Remainder&, T a, T b) {
  T r = fmod(a, b);
  return where((r != T(0)) & ((r < T(0)) ^ (b < T(0))), r + b, r);
}
template <class T> T formula(const Fmod&, T a, T b) { return fmod(a, b); }
template <class T> T formula(const Pow&, T a, T b) { return pow(a, b); }
template <class T> T formula(const Maximum&, T a, T b) { return where((a > b) | (a != a), a, b); }
template <class T> T formula(const Minimum&, T a, T b) { return where((a < b) | (a != a), a, b); }
template <class T> T formula(const Fmax&, T a, T b) { return where((a >= b) | (b != b), a, b); }
template <class T> T formula(const Fmin&, T a, T b) { return where((a <= b) | (b != b), a, b); }
template <class T> T formula(const Atan2&, T y, T x) { return atan2(y, x); }
template <class T> T formula(const Hypot&, T a, T b) { return hypot(a, b); }
template <class T> T formula(const Copysign&, T a, T b) { return copysign(a, b); }
template <class T> T formula(const Nextafter&, T a, T b) { return nextafter(a, b); }
template <class T> T formula(const Logaddexp&, T a, T b) {
  T high = where(a > b, a, b), low = where(a > b, b, a);
  return where(a == b, a + T(0.69314718055994530942), high + log1p(exp(low - high)));
}
template <class T> T formula(const Logaddexp2&, T a, T b) {
  T high = where(a > b, a, b), low = where(a > b, b, a);
  return where(a == b, a + T(1), high + log1p(exp2(low - high)) * T(1.44269504088896340736));
}
template <class T> T formula(const Xlogy&, T x, T y) { return where(y != y, y, where(x == T(0), T(0), x * log(y))); }
template <class T> T formula(const Xlog1py&, T x, T y) { return where(y != y, y, where(x == T(0), T(0), x * log1p(y))); }
template <class T> T formula(const Heaviside&, T x, T v) {
  return where(x == T(0), v, where(x > T(0), T(1), T(0)));
}
template <class T> T formula(const Lerp&, T a, T b, T w) {
  // From the nearer end, so that weight 1 gives exactly b.
  return where(abs(w) < T(0.5), a + w * (b - a), b - (b - a) * (T(1) - w));
}
template <class T> T formula(const Addcmul& op, T a, T b, T c) { return a + scalar(a, op.value) * b * c; }
template <class T> T formula(const Addcdiv& op, T a, T b, T c) { return a + scalar(a, op.value) * (b / c); }
template <class T> T formula(const BitwiseAnd&, T a, T b) { return a & b; }
template <class T> T formula(const BitwiseOr&, T a, T b) { return a | b; }
template <class T> T formula(const BitwiseXor&, T a, T b) { return a ^ b; }
template <class T> T formula(const ShiftLeft&, T a, T b) {
  return where((b < T(0)) | (b > T(63)), T(0), a << where((b < T(0)) | (b > T(63)), T(0), b));
}
template <class T> T formula(const ShiftRight&, T a, T b) { return a >> where((b < T(0)) | (b > T(63)), T(63), b); }
template <class T> T formula(const Gcd&, T a, T b) {
  return per_lanes(a, b, [](auto x, auto y) {
    x = x < 0 ? -x : x, y = y < 0 ? -y : y;
    while (y) { auto t = x % y; x = y; y = t; }
    return x;
  });
}
template <class T> T formula(const Lcm&, T a, T b) {
  T g = formula(Gcd(), a, b);
  return where(g == T(0), T(0), abs(div_trunc(a, where(g == T(0), T(1), g)) * b));
}
template <class T> T formula(const Where&, T c, T a, T b) { return where(c != T(0), a, b); }
// A limit that is NaN is the result: by `!(y >= limit)` one of y would be replaced too, so it is asked for.
template <class T> T formula(const Clamp& op, T x) {
  T y = x;
  if (op.min) { const T low = scalar(x, *op.min); y = where((y < low) | (low != low), low, y); }
  if (op.max) { const T high = scalar(x, *op.max); y = where((y > high) | (high != high), high, y); }
  return y;
}
template <class T> T formula(const ClampTensor&, T x, T low, T high) {
  T y = where((x < low) | (low != low), low, x);
  return where((y > high) | (high != high), high, y);
}

// ---- comparisons ----------------------------------------------------------------------------------------------
template <class T> T formula(const Eq&, T a, T b) { return where(a == b, T(1), T(0)); }
template <class T> T formula(const Ne&, T a, T b) { return where(a != b, T(1), T(0)); }
template <class T> T formula(const Lt&, T a, T b) { return where(a < b, T(1), T(0)); }
template <class T> T formula(const Le&, T a, T b) { return where(a <= b, T(1), T(0)); }
template <class T> T formula(const Gt&, T a, T b) { return where(a > b, T(1), T(0)); }
template <class T> T formula(const Ge&, T a, T b) { return where(a >= b, T(1), T(0)); }
template <class T> T formula(const LogicalAnd&, T a, T b) { return where((a != T(0)) & (b != T(0)), T(1), T(0)); }
template <class T> T formula(const LogicalOr&, T a, T b) { return where((a != T(0)) | (b != T(0)), T(1), T(0)); }
template <class T> T formula(const LogicalXor&, T a, T b) { return where((a != T(0)) ^ (b != T(0)), T(1), T(0)); }

// ---- activations ----------------------------------------------------------------------------------------------
template <class T> T formula(const Relu&, T x) { return where(x < T(0), T(0), x); }
template <class T> T formula(const ReluBackward&, T g, T y) { return where(y <= T(0), T(0), g); }
template <class T> T formula(const Hardtanh& op, T x) {
  if (op.min_val != op.min_val || op.max_val != op.max_val) return T(op.min_val + op.max_val);  // a bound that is NaN is the result
  return where(x < T(op.min_val), T(op.min_val), where(x > T(op.max_val), T(op.max_val), x));
}
template <class T> T formula(const LeakyRelu& op, T x) { return where(x > T(0), x, x * T(op.negative_slope)); }
template <class T> T formula(const Elu& op, T x) { return where(x < T(0), T(op.alpha) * expm1(x), x); }
template <class T> T formula(const Selu&, T x) {
  return T(1.0507009873554804934193349852946) *
         where(x < T(0), T(1.6732632423543772848170429916717) * expm1(x), x);
}
template <class T> T formula(const Celu& op, T x) {
  return where(x < T(0), T(op.alpha) * expm1(x * T(1 / op.alpha)), x);
}
template <class T> T formula(const EluBackward& op, T g, T x) {
  T slope = T(op.alpha * op.scale * op.input_scale) * exp(x * T(op.input_scale));
  return g * where(x <= T(0), slope, T(op.scale));
}
template <class T> T formula(const Gelu& op, T x) {
  if (op.approximate.v[0] == 't')
    return T(0.5) * x * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440)));
}
template <class T> T formula(const GeluBackward& op, T g, T x) {
  if (op.approximate.v[0] == 't') {
    T t = tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x));
    T slope = T(0.79788456080286535588) * (T(1) + T(3 * 0.044715) * x * x);
    return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
  }
  T cdf = T(0.5) * (T(1) + erf(x * T(0.70710678118654752440)));
  T pdf = T(0.39894228040143267794) * exp(x * x * T(-0.5));
  return g * (cdf + x * pdf);
}
template <class T> T formula(const Silu&, T x) { return x / (T(1) + exp(-x)); }
template <class T> T formula(const SiluBackward&, T g, T x) {
  T y = T(1) / (T(1) + exp(-x));
  return g * y * (T(1) + x * (T(1) - y));
}
template <class T> T formula(const SigmoidBackward&, T g, T y) { return g * (T(1) - y) * y; }
template <class T> T formula(const TanhBackward&, T g, T y) { return g * (T(1) - y * y); }
template <class T> T formula(const Mish&, T x) { return x * tanh(log1p(exp(where(x > T(20), T(20), x)))); }
template <class T> T formula(const Softplus& op, T x) {
  T z = x * T(op.beta);
  return where(z > T(op.threshold), x, log1p(exp(z)) / T(op.beta));
}
template <class T> T formula(const Softshrink& op, T x) {
  return where(x > T(op.lambd), x - T(op.lambd), where(x < T(-op.lambd), x + T(op.lambd), x * T(0)));
}
template <class T> T formula(const Hardshrink& op, T x) {
  return where((x >= T(-op.lambd)) & (x <= T(op.lambd)), T(0), x);
}
template <class T> T formula(const Hardsigmoid&, T x) {
  T y = (x + T(3)) / T(6);
  return where(y < T(0), T(0), where(y > T(1), T(1), y));
}
template <class T> T formula(const Hardswish&, T x) {
  T y = x + T(3);
  return x * where(y < T(0), T(0), where(y > T(6), T(6), y)) / T(6);
}
template <class T> T formula(const Threshold& op, T x) { return where(x <= scalar(x, op.threshold), scalar(x, op.value), x); }
template <class T> T formula(const HardtanhBackward& op, T g, T x) {
  return where((x <= T(op.min_val)) | (x >= T(op.max_val)), T(0), g);
}
template <class T> T formula(const LeakyReluBackward& op, T g, T x) { return where(x > T(0), g, g * T(op.negative_slope)); }
template <class T> T formula(const SoftplusBackward& op, T g, T x) {
  T e = exp(x * T(op.beta));
  return where(x * T(op.beta) > T(op.threshold), g, g * e / (e + T(1)));
}
template <class T> T formula(const ShrinkBackward& op, T g, T x) { return where((x < T(-op.lambd)) | (x > T(op.lambd)), g, T(0)); }
template <class T> T formula(const HardsigmoidBackward&, T g, T x) {
  return where((x > T(-3)) & (x < T(3)), g * T(double(1.0f / 6)), T(0));  // PyTorch's sixth is single in every dtype
}
template <class T> T formula(const HardswishBackward&, T g, T x) {
  return where(x <= T(-3), T(0), where(x >= T(3), g, g * (x / T(3) + T(0.5))));
}
template <class T> T formula(const LogSigmoidBackward&, T g, T x) { return g / (T(1) + exp(x)); }
template <class T> T formula(const PreluKernel&, T x, T w) { return where(x > T(0), x, w * x); }
template <class T> T formula(const SquaredDifference&, T a, T b) {
  const T d = a - b;
  return d * d;
}
// d^2 / 2 inside +-width and its tangents outside, with finite gradients at infinity.
template <class T> T formula(const Bowl& op, T a, T b) {
  const T d = abs(a - b), width = T(op.width), slope = T(0.5) * width * width + width * (d - width);
  return where(d < width, T(0.5) * d * d, slope) * T(op.scale);  // a width that is infinite in T leaves numbers inside
}
template <class T> T formula(const BowlBackward& op, T g, T a, T b) {
  T d = a - b, kept = where(d > T(op.width), T(op.width), where(d < T(-op.width), T(-op.width), d));  // NaN stays
  return g * T(op.scale) * kept;
}
template <class T> T formula(const ThresholdBackward& op, T g, T x) { return where(x <= T(op.threshold), T(0), g); }
template <class T> T formula(const BinaryCrossEntropyBackward&, T g, T p, T t) {
  T spread = (T(1) - p) * p, smallest = T(1e-12f);  // of single precision, as PyTorch's
  return g * (p - t) / where(spread < smallest, smallest, spread);
}
template <class T> T formula(const LogSigmoid&, T x) {
  return where(x < T(0), x, T(0)) - log1p(exp(-abs(x)));
}

}  // namespace formulas
}  // namespace weir
