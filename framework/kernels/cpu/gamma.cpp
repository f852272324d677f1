#include "framework/ops/gamma.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "framework/kernels/formulas.h"

namespace weir {
namespace formulas {

constexpr int kMostTerms = 100000;  // of the order of the root of the largest argument's square: 1e8 still converges

constexpr double kLarge = 1e6;  // from here the factor before the series is a difference of numbers too large for its own digits

// P and Q of a large `a`, by the first two terms of the uniform expansion: the next is below a^-3/2. Source: DLMF 8.12.
inline std::pair<double, double> uniform_gamma(double a, double x) {
  double m = x / a - 1, half = std::abs(m) < 1e-3 ? m * m * (0.5 - m * (1.0 / 3 - m * (0.25 - m / 5))) : m - std::log1p(m);
  if (!std::isfinite(half)) return {m > 0, m <= 0};
  double eta = std::copysign(std::sqrt(2 * half), m), c0 = std::abs(eta) < 1e-4 ? -1.0 / 3 + eta / 12 : 1 / m - 1 / eta;
  double rest = std::exp(-a * half) / std::sqrt(6.283185307179586 * a) * c0, y = eta * std::sqrt(a / 2);
  return {0.5 * std::erfc(-y) - rest, 0.5 * std::erfc(y) + rest};
}

// log(gamma(1 + a)), whose digits the sum 1 + a would lose where a is small: Taylor's series there.
inline double log_gamma_of_next(double a) {
  static const std::array<double, 43> zeta = [] {
    std::array<double, 43> z{};
    for (int n = 2; n < int(z.size()); n++) z[n] = hurwitz_zeta(n, 1);
    return z;
  }();
  if (std::abs(a) > 0.5) return std::lgamma(1 + a);
  double sum = -0.57721566490153286061 * a, power = -a;  // Euler's constant
  for (int n = 2; n < int(zeta.size()); n++) {
    power *= -a;
    const double term = zeta[n] / n * power;
    sum += term;
    if (std::abs(term) < 1e-17 * std::abs(sum)) break;
  }
  return sum;
}

// Q by its own series, where 1 - P would leave few digits of it. Source: DLMF 8.7.3, as in Cephes.
inline double upper_gamma(double a, double x) {
  double factor = 1, sum = 0;
  for (int n = 1; n < kMostTerms; n++) {
    factor *= -x / n;
    const double term = factor / (a + n);
    sum += term;
    if (std::abs(term) <= std::numeric_limits<double>::epsilon() * std::abs(sum)) break;
  }
  const double log_x = std::log(x);
  return -std::expm1(a * log_x - log_gamma_of_next(a)) - std::exp(a * log_x - std::lgamma(a)) * sum;
}
// P and Q of a > 0 and x > 0, both finite: the series below a + 1, Lentz's continued fraction above.
inline std::pair<double, double> incomplete_gamma(double a, double x) {
  constexpr double eps = std::numeric_limits<double>::epsilon(), tiny = 1e-300;
  if (a > kLarge) return uniform_gamma(a, x);
  double scale = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < kMostTerms && std::abs(term) > std::abs(sum) * eps; n++) sum += term *= x / (a + n);
    return {sum * scale, a <= 1 && x <= 1.1 ? upper_gamma(a, x) : 1 - sum * scale};
  }
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int n = 1; n < kMostTerms; n++) {
    double an = -n * (n - a);
    b += 2;
    d = an * d + b, d = std::abs(d) < tiny ? tiny : d;
    c = b + an / c, c = std::abs(c) < tiny ? tiny : c;
    d = 1 / d;
    double step = d * c;
    h *= step;
    if (std::abs(step - 1) < eps) break;
  }
  return {1 - scale * h, scale * h};
}

// The lower function where it is decided by its arguments alone, as in PyTorch; -1 elsewhere.
inline double decided(double a, double x) {
  if (x < 0 || a < 0) return NAN;
  if (a == 0) return x > 0 ? 1 : NAN;
  if (x == 0) return 0;  // also of NaN, as for an infinite x
  if (std::isinf(a)) return std::isinf(x) ? NAN : 0;
  if (std::isinf(x)) return 1;
  return a != a || x != x ? NAN : -1;
}

template <class T> T formula(const Igamma&, T a, T x) {
  return per_lanes(a, x, [](auto p, auto q) -> decltype(p) {
    double known = decided(double(p), double(q));
    return decltype(p)(known == -1 ? incomplete_gamma(double(p), double(q)).first : known);
  });
}
template <class T> T formula(const Igammac&, T a, T x) {
  return per_lanes(a, x, [](auto p, auto q) -> decltype(p) {
    double known = decided(double(p), double(q));
    return decltype(p)(known == -1 ? incomplete_gamma(double(p), double(q)).second : 1 - known);
  });
}

}  // namespace formulas
}  // namespace weir

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<GammaOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
