#include "framework/ops/gamma.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "framework/kernels/formulas.h"

namespace weir {
namespace formulas {

constexpr int kMostTerms = 100000;  // of the order of the root of the largest argument's square: 1e8 still converges

// When a sum of a result of type T is long enough, and how many steps, over x, a fraction needs for as much.
struct Digits {
  double eps, steps;
};
template <class T> constexpr Digits kDigits = sizeof(T) <= 4 ? Digits{1e-9, 36} : Digits{std::numeric_limits<double>::epsilon(), 120};

constexpr double kLarge = 1e6;  // from here the factor before the series is a difference of numbers too large for its own digits

// m - log(1 + m), whose leading terms cancel where m is small.
inline double less_log1p(double m) { return std::abs(m) < 1e-3 ? m * m * (0.5 - m * (1.0 / 3 - m * (0.25 - m / 5))) : m - std::log1p(m); }

// log(gamma(1 + a)), whose digits the sum 1 + a would lose where a is small: Taylor's series there, of which 42 terms are too few near a half.
inline double log_gamma_of_next(double a, double eps) {
  static const std::array<double, 43> zeta = [] {
    std::array<double, 43> z{};
    for (int n = 2; n < int(z.size()); n++) z[n] = hurwitz_zeta(n, 1);
    return z;
  }();
  if (std::abs(a) > 0.25) return std::lgamma(1 + a);
  double sum = -0.57721566490153286061 * a, power = -a;  // Euler's constant
  for (int n = 2; n < int(zeta.size()); n++) {
    power *= -a;
    const double term = zeta[n] / n * power;
    sum += term;
    if (std::abs(term) < eps / 16 * std::abs(sum)) break;
  }
  return sum;
}

// x^a exp(-x) / gamma(a). By Stirling's series, from 16 on, where the exponents are large and nearly cancel. Source: DLMF 5.11.1.
inline double gamma_density(double a, double x) {
  if (a <= 1) return a * std::pow(x, a) * std::exp(-x - log_gamma_of_next(a, std::numeric_limits<double>::epsilon()));  // of small exponents
  if (a < 8 || (a < 16 && x < a / 2)) return std::exp(a * std::log(x) - x - std::lgamma(a));
  double below = 1;
  for (; a < 16; a++) below *= a / x;
  const double f = 1 / (a * a), stirling = (1.0 / 12 - f * (1.0 / 360 - f * (1.0 / 1260 - f * (1.0 / 1680 - f * (1.0 / 1188 - f * 691 / 360360))))) / a;
  const double m = (x - a) / a, root = std::sqrt(a / 6.283185307179586);
  if (m < -0.5) return below * root * std::pow(x / a * std::exp(-m), a) * std::exp(-stirling);  // of m is left too little there: 1 + m is x / a
  return below * root * std::exp(-a * less_log1p(m) - stirling);
}

// P and Q of a large `a`, by the first two terms of the uniform expansion: the next is below a^-3/2. Source: DLMF 8.12.
inline std::pair<double, double> uniform_gamma(double a, double x) {
  double m = x / a - 1, half = less_log1p(m);
  if (!std::isfinite(half)) return {m > 0, m <= 0};
  double eta = std::copysign(std::sqrt(2 * half), m), c0 = std::abs(eta) < 1e-4 ? -1.0 / 3 + eta / 12 : 1 / m - 1 / eta;
  double rest = std::exp(-a * half) / std::sqrt(6.283185307179586 * a) * c0, y = eta * std::sqrt(a / 2);
  return {0.5 * std::erfc(-y) - rest, 0.5 * std::erfc(y) + rest};
}

// Q by its own series, where 1 - P would leave few digits of it. Source: DLMF 8.7.3, as in Cephes.
inline double upper_gamma(double a, double x, double eps) {
  double factor = 1, sum = 0;
  for (int n = 1; n < kMostTerms; n++) {
    factor *= -x / n;
    const double term = factor / (a + n);
    sum += term;
    if (std::abs(term) <= eps * std::abs(sum)) break;
  }
  const double less = std::expm1(a * std::log(x) - log_gamma_of_next(a, eps));  // x^a / gamma(1 + a) - 1
  return -less - a * (less + 1) * sum;
}
// A number and its derivative by the concentration.
struct Dual {
  double v, d = 0;
  Dual(double v, double d = 0) : v(v), d(d) {}
  friend Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
  friend Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
  friend Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
  friend Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.d - a.v / b.v * b.d) / b.v}; }
};
inline double value_of(double x) { return x; }
inline double value_of(Dual x) { return x.v; }
inline bool derivative_stays(double, double) { return true; }
inline bool derivative_stays(Dual step, Dual h) { return std::abs(step.d) <= 1e-14 * std::abs(h.d); }

// A continued fraction 1 / (b + a(1) / (b(1) + ...)) by Lentz's way, as the product of its steps; `next(n)` is the pair a(n), b(n).
template <class N, class F> N fraction(N first, F&& next) {
  constexpr double eps = std::numeric_limits<double>::epsilon(), tiny = 1e-300;
  auto kept = [](N x) { return std::abs(value_of(x)) < tiny ? N(tiny) : x; };
  N c(1 / tiny), d = N(1) / first, h = d;
  for (int n = 1; n < kMostTerms; n++) {
    const auto [a, b] = next(n);
    d = N(1) / kept(a * d + b);
    c = kept(b + a / c);
    const N step = d * c;
    h = h * step;
    if (std::abs(value_of(step) - 1) < eps && derivative_stays(step, h)) break;
  }
  return h;
}

constexpr double kFractionFrom = 0.75;  // below it takes hundreds of steps, and Q's series keeps most digits

// The fraction 1 / (b - 1 (1 - a) / (b + 2 - 2 (2 - a) / (b + 4 - ...))) of b = x + 1 - a. From its far end where that is known, since what is rounded
// there fades on the way: from the near end it grows, where x is small. As the quotient of two numbers, which is divided seldom. Source: DLMF 8.9.2, 3.10.
inline double upper_fraction(double a, double x, double steps_over_x) {
  double b = x + 1 - a;
  if (a > 2) return fraction(b, [&](int n) { return std::pair(-n * (n - a), b += 2); });
  if (x > 1000) return 1 / b;  // of a density that is 0
  const int steps = int(steps_over_x / x) + 10;
  double over = b + 2 * steps, under = 1;
  for (int n = steps; n > 0; n--) {
    const double next = (b + 2 * (n - 1)) * over - n * (n - a) * under;
    under = over, over = next;
    if (n % 32 == 0) over /= under, under = 1;  // before they overflow
  }
  return under / over;
}

// P, or Q where it is the `upper` one, of a > 0 and x > 0, both finite: P's series below a + 1, a continued fraction of Q above and where Q is the small one.
inline double incomplete_gamma(double a, double x, bool upper, Digits digits) {
  if (a > kLarge) {
    const auto [p, q] = uniform_gamma(a, x);
    return upper ? q : p;
  }
  if (upper && a <= 1 && x <= kFractionFrom) return upper_gamma(a, x, digits.eps);
  const double scale = gamma_density(a, x);
  if (x < a + 1 && (!upper || a > 1)) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < kMostTerms && term > sum * digits.eps; n++) sum += term *= x / (a + n);
    return upper ? 1 - sum * scale : sum * scale;
  }
  const double q = scale * upper_fraction(a, x, digits.steps);
  return upper ? q : 1 - q;
}

// The lower function where it is decided by its arguments alone, as in PyTorch; -1 elsewhere.
template <class T> T decided(T a, T x) {
  const auto infinite = [](T v) { return abs(v) > largest(v); };
  const T there = where(infinite(x), T(1), where((a != a) | (x != x), T(NAN), T(-1))), far = where(infinite(a), where(infinite(x), T(NAN), T(0)), there);
  const T positive = where(a == T(0), where(x > T(0), T(1), T(NAN)), where(x == T(0), T(0), far));  // 0 also of NaN, as for an infinite x
  return where((x < T(0)) | (a < T(0)), T(NAN), positive);
}

// digamma of x > 0: recurrence to 10, Stirling's series there.
inline double digamma(double x) {
  double below = 0;
  for (; x < 10; x++) below += 1 / x;
  const double f = 1 / (x * x);
  return std::log(x) - 0.5 / x - f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132 - f * 691 / 32760))))) - below;
}

// The derivative of a gamma draw: that of the series (DLMF 8.7.1) or of the fraction (8.9.2), whose common factor is the density.
inline double gamma_slope(double a, double x) {
  if (!(a > 0) || x != x) return NAN;
  if (x <= 0) return 0;
  if (a > 1e5 || std::isinf(x)) {  // a nearly normal draw, by Cornish and Fisher's expansion and its inverse: the series would take a thousand steps
    const double root = std::sqrt(a), u = (x - a) / root, z = u - (u * u - 1) / (3 * root) + (7 * u * u - 1) * u / (36 * a);
    return std::isinf(x) ? x : 1 + z / (2 * root) - (z * z - 7) * z / (72 * a * root);
  }
  if (x < a + 1) {  // a times the series, which is 1 + x / (a + 1) + ...
    Dual term(1), sum(1);
    for (int n = 1; n < kMostTerms; n++) {
      term = term * (Dual(x) / Dual(a + n, 1));
      sum = sum + term;
      if (std::abs(term.v) <= 1e-17 * sum.v && std::abs(term.d) <= 1e-17 * std::abs(sum.d)) break;
    }
    return -x / a * (sum.v * (std::log(x) - digamma(a + 1)) + sum.d);
  }
  const Dual h = fraction(Dual(x + 1 - a, -1), [&](int n) { return std::pair(Dual(-n * (n - a), n), Dual(x + 1 - a + 2 * n, -1)); });
  return x * (h.v * (std::log(x) - digamma(a)) + h.d);
}

// The fraction of the incomplete beta function, F = x^a (1 - x)^b / (a B(a, b)) times it. Source: DLMF 8.17.22.
inline Dual beta_fraction(Dual a, Dual b, double x) {
  const Dual sum = a + b;
  return fraction(Dual(1), [&](int k) {
    const double m = k / 2;
    const Dual twice = a + Dual(2 * m);
    const Dual part = k % 2 ? Dual(-x) * (a + Dual(m)) * (sum + Dual(m)) / (twice * (twice + Dual(1))) : Dual(m * x) * (b - Dual(m)) / ((twice - Dual(1)) * twice);
    return std::pair(part, Dual(1));
  });
}

// The derivative of a share x by its concentration a, over 1 - x, b being the other concentrations' sum; from the nearer end.
inline double share_slope(double x, double a, double b) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || x > 1) return NAN;
  if (x == 0) return 0;
  if (x < (a + 1) / (a + b + 2)) {
    const Dual h = beta_fraction(Dual(a, 1), Dual(b), x);
    return -x / a * (h.v * (std::log(x) - digamma(a + 1) + digamma(a + b)) + h.d);
  }
  const Dual h = beta_fraction(Dual(b), Dual(a, 1), 1 - x);
  return x / b * (h.v * (std::log(x) - digamma(a) + digamma(a + b)) + h.d);
}

template <class T> T formula(const StandardGammaGrad&, T a, T x) {
  return per_lanes(a, x, [](auto p, auto q) -> decltype(p) { return decltype(p)(gamma_slope(double(p), double(q))); });
}
template <class T> T formula(const DirichletGrad&, T x, T alpha, T total) {
  for (int i = 0; i < T::size; i++) x.v[i] = decltype(x.v[0] + 0)(share_slope(double(x.v[i]), double(alpha.v[i]), double(total.v[i]) - double(alpha.v[i])));
  return x;
}
template <class T> T incomplete(T a, T x, bool upper) {
  const T known = decided(a, x), y = upper ? T(1) - known : known;
  const auto open = known == T(-1);
  if (!any(open)) return y;
  return where(open, per_lanes(a, x, [upper](auto p, auto q) -> decltype(p) {
    if (!(p > 0 && q > 0 && std::isfinite(p) && std::isfinite(q))) return 0;
    return decltype(p)(incomplete_gamma(double(p), double(q), upper, kDigits<decltype(p)>));
  }), y);
}
template <class T> T formula(const Igamma&, T a, T x) { return incomplete(a, x, false); }
template <class T> T formula(const Igammac&, T a, T x) { return incomplete(a, x, true); }

}  // namespace formulas
}  // namespace weir

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<GammaOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
