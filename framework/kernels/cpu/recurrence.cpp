#include "framework/ops/recurrence.h"

#include <cmath>
#include <limits>

#include "framework/kernels/formulas.h"

namespace weir {
namespace formulas {
namespace {

// a b - c, rounded once, as in PyTorch's kernels: beside a zero of a polynomial the second rounding takes digits.
template <class T> T product_less(T a, T b, T c) { return std::fma(a, b, -c); }

// Degrees above this take seconds an element, at 2^61 centuries: NaN, as Hermite polynomials have it, where PyTorch does not end.
constexpr double kMostSteps = 0x1p28;

// p_n from p_0 = 1 and p_1 = `first` for n > 0: step(k, p_k, p_(k-1)) is p_(k+1). NaN stays.
template <class T, class Step> T recurrence(T first, T n, Step step) {
  if (n > T(kMostSteps)) return std::numeric_limits<T>::quiet_NaN();
  T before = 1, now = first;
  for (int64_t k = 1; T(k) < n && now == now; k++) {
    T next = step(T(k), now, before);
    before = now, now = next;
  }
  return now;
}

// The degree as PyTorch's cast to int64 has it: one that no integer holds counts as none.
template <class T> T whole(T n) { return std::fabs(n) < T(0x1p62) ? std::trunc(n) : T(-1); }
template <class T> T sign(T n) { return std::fmod(n, T(2)) == 0 ? T(1) : T(-1); }

enum class Kind { t, u, v, w };

// Above this degree PyTorch takes the angle acos(x), within (-1, 1).
constexpr int recurring_degree(Kind kind, bool shifted) { return shifted ? (kind == Kind::w ? 4 : 6) : kind == Kind::t ? 6 : 8; }

template <Kind kind, bool shifted, class T> T chebyshev(T given, T degree) {
  const T x = shifted ? given + given - 1 : given, n = whole(degree);
  if (n <= 0) return T(n == 0);
  if (x == 1) return kind == Kind::t || kind == Kind::v ? T(1) : kind == Kind::u ? n + 1 : n + n + 1;
  if (x == -1) return kind == Kind::t || kind == Kind::w ? sign(n) : kind == Kind::u ? sign(n) * (n + 1) : sign(n) * (n + n + 1);
  if (n > recurring_degree(kind, shifted) && std::fabs(x) < 1) {
    const T a = std::acos(x);
    if (kind == Kind::t) return std::cos(n * a);
    if (kind == Kind::u) return std::sin((n + 1) * a) / std::sin(a);
    if (kind == Kind::v) return std::cos((n + T(0.5)) * a) / std::cos(a / 2);
    return std::sin((n + T(0.5)) * a) / std::sin(a / 2);
  }
  const T first = kind == Kind::t ? x : kind == Kind::u ? x + x : kind == Kind::v ? x + x - 1 : x + x + 1;
  return recurrence(first, n, [x](T, T p, T q) { return product_less(x + x, p, q); });
}

// Above these degrees Hermite polynomials leave the range of their dtype.
template <class T> constexpr T kHermiteMost = std::is_same_v<T, double> ? T(512) : T(128);

template <class T> T hermite_h(T x, T degree) {
  const T n = whole(degree);
  if (n <= 0) return T(n == 0);
  if (n > kHermiteMost<T>) return std::numeric_limits<T>::quiet_NaN();
  return recurrence(x + x, n, [x](T k, T p, T q) { return product_less(x + x, p, 2 * k * q); });
}
template <class T> T hermite_he(T x, T degree) {
  const T n = whole(degree);
  if (n <= 0) return T(n == 0);
  if (n > kHermiteMost<T>) return std::numeric_limits<T>::quiet_NaN();
  return recurrence(x, n, [x](T k, T p, T q) { return product_less(x, p, k * q); });
}
template <class T> T laguerre(T x, T degree) {
  const T n = whole(degree);
  if (n <= 0) return T(n == 0);
  if (x == 0) return 1;
  return recurrence(1 - x, n, [x](T k, T p, T q) { return product_less(2 * k + (1 - x), p, k * q) / (k + 1); });
}
template <class T> T legendre(T x, T degree) {
  const T n = whole(degree);
  if (n <= 0) return T(n == 0);
  if (x == 1 || x == -1) return x == 1 ? T(1) : sign(n);
  return recurrence(x, n, [x](T k, T p, T q) { return product_less((2 * k + 1) * x, p, k * q) / (k + 1); });
}

// What a recurrence is made of: p_1, and p_(k+1) from p_k and p_(k-1).
struct Chebyshev {
  Kind kind;
  template <class V> V first(V x) const {
    const V one(1);
    return kind == Kind::t ? x : kind == Kind::u ? x + x : kind == Kind::v ? x + x - one : x + x + one;
  }
  template <class V> V step(V x, V, V p, V q) const { return product_less(x + x, p, q); }
};
struct HermiteHSteps {
  template <class V> V first(V x) const { return x + x; }
  template <class V> V step(V x, V k, V p, V q) const { return product_less(x + x, p, V(2) * k * q); }
};
struct HermiteHeSteps {
  template <class V> V first(V x) const { return x; }
  template <class V> V step(V x, V k, V p, V q) const { return product_less(x, p, k * q); }
};
struct LaguerreSteps {
  template <class V> V first(V x) const { return V(1) - x; }
  template <class V> V step(V x, V k, V p, V q) const { return product_less(V(2) * k + (V(1) - x), p, k * q) / (k + V(1)); }
};
struct LegendreSteps {
  template <class V> V first(V x) const { return x; }
  template <class V> V step(V x, V k, V p, V q) const { return product_less((V(2) * k + V(1)) * x, p, k * q) / (k + V(1)); }
};

constexpr double kMostTogether = 64;  // degrees up to this are computed for a register of numbers at once

// `slow` of each pair of numbers. Where the degree is a small one that leaves x to the recurrence, all lanes take its steps side by side:
// those that have their degree keep what they have.
template <class V, class Steps, class Slow> V by_steps(const Steps& steps, V given, V x, V degree, int recurring, Slow slow) {
#ifdef __FMA__
  if constexpr (requires { V::size; }) {
    using T = std::remove_cvref_t<decltype(x.v[0])>;
    const V n = trunc(degree), size = abs(x);
    const auto within = (n >= V(1)) & (n <= V(kMostTogether)) & (size != V(1)) & (size != V(0)) & ((n <= V(recurring)) | (size > V(1)));
    T most = 1;
    for (int l = 0; l < V::size; l++)
      if (within.v[l]) most = std::max<T>(most, n.v[l]);
    V before(1), now = steps.first(x);
    for (T k = 1; k < most; k++) {
      const V next = steps.step(x, V(k), now, before);
      const auto goes_on = V(k) < n;
      before = where(goes_on, now, before), now = where(goes_on, next, now);
    }
    for (int l = 0; l < V::size; l++)
      if (!within.v[l]) now.v[l] = slow(given.v[l], degree.v[l]);
    return now;
  }
#endif
  return per_lanes(given, degree, slow);
}

template <Kind kind, bool shifted, class V> V chebyshev_of(V given, V degree) {
  return by_steps(Chebyshev{kind}, given, shifted ? given + given - V(1) : given, degree, recurring_degree(kind, shifted),
                  [](auto a, auto d) { return chebyshev<kind, shifted>(a, d); });
}
constexpr int kAny = int(kMostTogether);

}  // namespace

template <class T> T formula(const ChebyshevT&, T x, T n) { return chebyshev_of<Kind::t, false>(x, n); }
template <class T> T formula(const ChebyshevU&, T x, T n) { return chebyshev_of<Kind::u, false>(x, n); }
template <class T> T formula(const ChebyshevV&, T x, T n) { return chebyshev_of<Kind::v, false>(x, n); }
template <class T> T formula(const ChebyshevW&, T x, T n) { return chebyshev_of<Kind::w, false>(x, n); }
template <class T> T formula(const ShiftedChebyshevT&, T x, T n) { return chebyshev_of<Kind::t, true>(x, n); }
template <class T> T formula(const ShiftedChebyshevU&, T x, T n) { return chebyshev_of<Kind::u, true>(x, n); }
template <class T> T formula(const ShiftedChebyshevV&, T x, T n) { return chebyshev_of<Kind::v, true>(x, n); }
template <class T> T formula(const ShiftedChebyshevW&, T x, T n) { return chebyshev_of<Kind::w, true>(x, n); }
template <class T> T formula(const HermiteH&, T x, T n) { return by_steps(HermiteHSteps(), x, x, n, kAny, [](auto a, auto d) { return hermite_h(a, d); }); }
template <class T> T formula(const HermiteHe&, T x, T n) { return by_steps(HermiteHeSteps(), x, x, n, kAny, [](auto a, auto d) { return hermite_he(a, d); }); }
template <class T> T formula(const LaguerreL&, T x, T n) { return by_steps(LaguerreSteps(), x, x, n, kAny, [](auto a, auto d) { return laguerre(a, d); }); }
template <class T> T formula(const LegendreP&, T x, T n) { return by_steps(LegendreSteps(), x, x, n, kAny, [](auto a, auto d) { return legendre(a, d); }); }

}  // namespace formulas
}  // namespace weir

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

// As those of single numbers; found by the formulas through their arguments.
[[maybe_unused]] static Vec<float> product_less(Vec<float> a, Vec<float> b, Vec<float> c) { return lanes::fma(a, b, -c); }
[[maybe_unused]] static Vec<double> product_less(Vec<double> a, Vec<double> b, Vec<double> c) { return lanes::fma(a, b, -c); }

static const PointwiseKernels<RecurrenceOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
