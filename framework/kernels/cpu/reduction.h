// What reductions share: which axes are kept and which are joined, what joining is, and a block of numbers joined.
#pragma once
#include <algorithm>
#include <limits>

#include "framework/core/tensor.h"
#include "framework/kernels/cpu/vec_complex.h"
#include "framework/kernels/cpu/widths.h"
#include "framework/ops/reduce.h"

namespace weir {
namespace WEIR_ISA {

/// As vector_of, of complex64 in double precision.
template <class T, class From> requires(std::is_same_v<T, std::complex<double>> && std::is_same_v<From, std::complex<float>>)
Vec<T> vector_of(const From* p) {
  constexpr int n = Vec<T>::size;
  T wide[n];
  for (int i = 0; i < n; i++) wide[i] = T(p[i]);
  return Vec<T>::load(wide);
}

/// Some axes of an input, merged where possible, outermost first.
struct Extents {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  int n = 0;
  int64_t count = 1;

  void add(int64_t size, int64_t stride) {
    if (size == 1) return;
    count *= size;
    if (n && strides[n - 1] == stride * size) {
      sizes[n - 1] *= size;
      strides[n - 1] = stride;
      return;
    }
    sizes[n] = size;
    strides[n++] = stride;
  }
  /// Element offset of the i-th position.
  int64_t offset(int64_t i) const {
    int64_t o = 0;
    for (int d = n; d-- > 0;) {
      o += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return o;
  }
  int64_t inner_size() const { return n ? sizes[n - 1] : 1; }
  int64_t inner_stride() const { return n ? strides[n - 1] : 1; }
};

/// The axes of an input that a result keeps, in their order, and those that are joined, in any.
struct Reduction {
  Extents kept, reduced;
  Reduction(const Tensor& x, AxisSet axes) {
    int joined[kMaxDims], n = 0;
    for (int d = 0; d < x.ndim(); d++)
      if (axes >> d & 1) joined[n++] = d;
      else kept.add(x.sizes()[d], x.strides()[d]);
    // The densest innermost, so that axes merge that lie in another order than they are named in. Repetitions of the others are outermost.
    const auto far = [&](int d) { return x.strides()[d] == 0 ? std::numeric_limits<int64_t>::max() : x.strides()[d]; };
    std::stable_sort(joined, joined + n, [&](int a, int b) { return far(a) > far(b); });
    for (int i = 0; i < n; i++) reduced.add(x.sizes()[joined[i]], x.strides()[joined[i]]);
  }
};

/// Complex numbers as pairs: one more axis of two.
inline Tensor with_parts(const Tensor& x) {
  Dims sizes = x.sizes(), strides = x.strides();
  for (int64_t& s : strides) s *= 2;
  sizes.push(2), strides.push(1);
  return alias(x->storage, real_type(x.dtype()), sizes, strides, 2 * x->offset);
}

template <class T> struct SumOf {
  static constexpr T start = T(0);
  template <class V> static V join(V a, V b) { return a + b; }
};
template <class T> struct SquaresOf : SumOf<T> {
  template <class V> static V lift(V x) { return x * x; }
};
template <class T> struct NumbersOf : SumOf<T> {
  template <class R> static Vec<R> lift(Vec<R> x) { return where(x == x, x, Vec<R>(R(0))); }
  static T lift(T x) { return x == x ? x : T(0); }
};
template <class T> struct ProductOf {
  static constexpr T start = T(1);
  template <class V> static V join(V a, V b) { return a * b; }
  static std::complex<double> join(std::complex<double> a, std::complex<double> b) { return times(a, b); }
};
template <class T> struct LargestOf {
  static constexpr T start = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static Vec<T> join(Vec<T> a, Vec<T> b) {
    if constexpr (std::is_integral_v<T>) return where(a > b, a, b);
    else return where((a > b) | (a != a), a, b);
  }
  // Two questions: the first is one instruction, the second goes the same way nearly always. Of both in one the compiler makes branches on values.
  static T join(T a, T b) {
    const T larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
template <class T> struct SmallestOf {
  static constexpr T start = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static Vec<T> join(Vec<T> a, Vec<T> b) {
    if constexpr (std::is_integral_v<T>) return where(a < b, a, b);
    else return where((a < b) | (a != a), a, b);
  }
  static T join(T a, T b) {
    const T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};

/// What an element contributes, before contributions are joined.
template <class Of, class V> V lifted(V x) {
  if constexpr (requires { Of::lift(x); }) return Of::lift(x);
  else return x;
}

// The larger or smaller one, in one instruction that passes NaN over: whether there is any is found beside it, in half the time.
template <class T, bool kLargest, class From> T extreme_of_block(const From* p, int64_t n) {
  constexpr int w = Vec<T>::size;
  auto better = [](Vec<T> x, Vec<T> best) { return kLargest ? where(x > best, x, best) : where(x < best, x, best); };
  const Vec<T> start = Vec<T>(kLargest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity());
  Vec<T> best[4] = {start, start, start, start};
  Mask<T> lost = {};
  int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w)
    for (int k = 0; k < 4; k++) {
      const Vec<T> x = vector_of<T>(p + i + k * w);
      best[k] = better(x, best[k]), lost = lost | (x != x);
    }
  for (; i + w <= n; i += w) {
    const Vec<T> x = vector_of<T>(p + i);
    best[0] = better(x, best[0]), lost = lost | (x != x);
  }
  T r = across_lanes(better(better(best[0], best[1]), better(best[2], best[3])), better);
  bool nan = any(lost);
  for (; i < n; i++) {
    const T x = T(p[i]);
    r = (kLargest ? x > r : x < r) ? x : r, nan |= x != x;
  }
  return nan ? std::numeric_limits<T>::quiet_NaN() : r;
}

/// As many of n numbers as fill vectors, joined lane by lane.
template <class T, template <class> class Of, class From> Vec<T> reduce_lanes(const From* p, int64_t n) {
  constexpr int w = Vec<T>::size;
  Vec<T> acc[4] = {Vec<T>(Of<T>::start), Vec<T>(Of<T>::start), Vec<T>(Of<T>::start), Vec<T>(Of<T>::start)};
  int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w)
    for (int k = 0; k < 4; k++) acc[k] = Of<T>::join(acc[k], lifted<Of<T>>(vector_of<T>(p + i + k * w)));
  for (; i + w <= n; i += w) acc[0] = Of<T>::join(acc[0], lifted<Of<T>>(vector_of<T>(p + i)));
  return Of<T>::join(Of<T>::join(acc[0], acc[1]), Of<T>::join(acc[2], acc[3]));
}

/// n numbers joined as T.
template <class T, template <class> class Of, class From> T reduce_block(const From* p, int64_t n) {
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Of<T>, LargestOf<T>>) return extreme_of_block<T, true>(p, n);
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Of<T>, SmallestOf<T>>) return extreme_of_block<T, false>(p, n);
  T r = across_lanes(reduce_lanes<T, Of>(p, n), [](Vec<T> a, Vec<T> b) { return Of<T>::join(a, b); });
  for (int64_t i = n / Vec<T>::size * Vec<T>::size; i < n; i++) r = Of<T>::join(r, lifted<Of<T>>(T(p[i])));
  return r;
}

}  // namespace WEIR_ISA
}  // namespace weir
