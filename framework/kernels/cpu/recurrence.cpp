#include "framework/ops/recurrence.h"

#include <cmath>
#include <limits>

#include "framework/kernels/formulas.h"

namespace weir {
namespace formulas {
namespace {

// a b - c, rounded once, which is what PyTorch's kernels do; of float64 twice.
template <class T> T product_less(T a, T b, T c) { return T(double(a) * double(b) - double(c)); }

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

// Above some degrees PyTorch takes the angle acos(x), within (-1, 1).
template <Kind kind, bool shifted, class T> T chebyshev(T given, T degree) {
  const T x = shifted ? given + given - 1 : given, n = whole(degree);
  if (n <= 0) return T(n == 0);
  if (x == 1) return kind == Kind::t || kind == Kind::v ? T(1) : kind == Kind::u ? n + 1 : n + n + 1;
  if (x == -1) return kind == Kind::t || kind == Kind::w ? sign(n) : kind == Kind::u ? sign(n) * (n + 1) : sign(n) * (n + n + 1);
  constexpr int recurring = shifted ? (kind == Kind::w ? 4 : 6) : kind == Kind::t ? 6 : 8;
  if (n > recurring && std::fabs(x) < 1) {
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

}  // namespace

template <class T> T formula(const ChebyshevT&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::t, false>(a, d); }); }
template <class T> T formula(const ChebyshevU&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::u, false>(a, d); }); }
template <class T> T formula(const ChebyshevV&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::v, false>(a, d); }); }
template <class T> T formula(const ChebyshevW&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::w, false>(a, d); }); }
template <class T> T formula(const ShiftedChebyshevT&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::t, true>(a, d); }); }
template <class T> T formula(const ShiftedChebyshevU&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::u, true>(a, d); }); }
template <class T> T formula(const ShiftedChebyshevV&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::v, true>(a, d); }); }
template <class T> T formula(const ShiftedChebyshevW&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return chebyshev<Kind::w, true>(a, d); }); }
template <class T> T formula(const HermiteH&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return hermite_h(a, d); }); }
template <class T> T formula(const HermiteHe&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return hermite_he(a, d); }); }
template <class T> T formula(const LaguerreL&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return laguerre(a, d); }); }
template <class T> T formula(const LegendreP&, T x, T n) { return per_lanes(x, n, [](auto a, auto d) { return legendre(a, d); }); }

}  // namespace formulas
}  // namespace weir

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<RecurrenceOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
