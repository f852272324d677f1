#include "framework/ops/bessel.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "framework/kernels/formulas.h"

namespace weir {
namespace formulas {

// exp(x) K0(x) and exp(x) K1(x) of x > 0: power series up to 2, Steed's continued fraction above. Source: DLMF 10.31, 10.25; Temme,
// "On the numerical evaluation of the modified Bessel function of the third kind" (1975).
inline std::pair<double, double> scaled_bessel_k(double x) {
  if (x <= 2) {
    const double log_half = std::log(x / 2) + std::numbers::egamma, z = x * x / 4;
    double i0 = 0, i1 = 0, k0 = 0, k1 = 0, term = 1, harmonic = 0;  // term: z^k / k!^2, harmonic: 1 + ... + 1/k
    for (int k = 0; k < 30; k++) {
      const double next = 1.0 / (k + 1);
      i0 += term, k0 += term * harmonic;
      i1 += term * next, k1 += term * next * (2 * harmonic + next);
      harmonic += next, term *= z * next * next;
    }
    const double e = std::exp(x);
    return {e * (k0 - log_half * i0), e * (1 / x + x / 2 * log_half * i1 - x / 4 * k1)};
  }
  double b = 2 * (1 + x), d = 1 / b, h = d, step = d, q1 = 0, q2 = 1, q = 0.25, c = 0.25, a = -0.25, s = 1 + q * step;
  for (int i = 2; i < 10000; i++) {
    a -= 2 * (i - 1);
    c = -a * c / i;
    const double next = (q1 - b * q2) / a;
    q1 = q2, q2 = next, q += c * next, b += 2;
    d = 1 / (b + a * d);
    step = (b * d - 1) * step;
    h += step, s += q * step;
    if (std::abs(q * step) < std::numeric_limits<double>::epsilon() * std::abs(s)) break;
  }
  const double k0 = std::sqrt(std::numbers::pi / (2 * x)) / s;
  return {k0, k0 * (x + 0.5 - 0.25 * h) / x};
}

enum class Order { zero, one };
inline double bessel_k(double x, Order order, bool scaled) {
  if (std::isnan(x) || x < 0) return NAN;
  if (x == 0) return INFINITY;
  if (std::isinf(x)) return 0;
  const auto [k0, k1] = scaled_bessel_k(x);
  return (order == Order::zero ? k0 : k1) * (scaled ? 1 : std::exp(-x));
}

// By Bessel functions of order 1/3. Source: DLMF 9.6.
inline double airy_ai(double x) {
  if (!std::isfinite(x)) return NAN;
  if (std::abs(x) < 1e-8) return 0.355028053887817239 - 0.258819403792806798 * x;
  const double size = std::abs(x), z = 2 * size * std::sqrt(size) / 3;
  if (x > 0) return z > 700 ? 0 : std::sqrt(size / 3) / std::numbers::pi * std::cyl_bessel_k(1.0 / 3, z);
  return std::sqrt(size) / 2 * (std::cyl_bessel_j(1.0 / 3, z) - std::cyl_neumann(1.0 / 3, z) / std::numbers::sqrt3);
}

// NaN where the oscillation has no value, at infinity, as PyTorch's.
template <class F> double oscillating(double x, F&& f) { return std::isinf(x) ? NAN : f(x); }

inline double zeta(double s, double q) {
  if (s == 1) return INFINITY;
  if (!(s > 1) || std::isnan(q)) return NAN;
  if (q <= 0) {
    if (q == std::floor(q)) return INFINITY;
    if (s != std::floor(s)) return NAN;  // powers of numbers below zero
  }
  return hurwitz_zeta(s, q);
}

template <class T> T formula(const AiryAi&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(airy_ai(double(v))); });
}
template <class T> T formula(const BesselJ0&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(oscillating(double(v), [](double y) { return ::j0(y); })); });
}
template <class T> T formula(const BesselJ1&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(oscillating(double(v), [](double y) { return ::j1(y); })); });
}
template <class T> T formula(const BesselY0&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(oscillating(double(v), [](double y) { return ::y0(y); })); });
}
template <class T> T formula(const BesselY1&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(oscillating(double(v), [](double y) { return ::y1(y); })); });
}
template <class T> T formula(const BesselK0&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(bessel_k(double(v), Order::zero, false)); });
}
template <class T> T formula(const BesselK1&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(bessel_k(double(v), Order::one, false)); });
}
template <class T> T formula(const ScaledBesselK0&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(bessel_k(double(v), Order::zero, true)); });
}
template <class T> T formula(const ScaledBesselK1&, T x) {
  return per_lane(x, [](auto v) { return decltype(v)(bessel_k(double(v), Order::one, true)); });
}
template <class T> T formula(const Zeta&, T s, T q) {
  return per_lanes(s, q, [](auto p, auto r) -> decltype(p) { return decltype(p)(zeta(double(p), double(r))); });
}

}  // namespace formulas
}  // namespace weir

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<BesselOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
