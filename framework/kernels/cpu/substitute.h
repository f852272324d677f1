// Triangular systems of few right-hand sides, for which BLAS would pack the whole triangle: it is read once here, where it lies.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>

#include "framework/kernels/cpu/vec_complex.h"

namespace weir {
namespace WEIR_ISA {

/// A triangle of n x n numbers whose rows or columns are dense: `row` or `column`, the steps to the next one of each, is 1. The other half is not
/// read, and neither is the diagonal of a `unit` one.
template <class T> struct Triangle {
  const T* a;
  int64_t n, row, column;
  bool upper, unit;

  Triangle turned() const { return {a, n, column, row, !upper, unit}; }
};

constexpr int kFewestRows = 32, kMostColumns = 8;
inline bool is_few(int64_t rows, int64_t columns) { return rows >= kFewestRows && columns <= kMostColumns; }

template <bool conjugate, class V> V taken(V x) {
  if constexpr (conjugate) return {x.re, -x.im};
  else return x;
}
template <bool conjugate, class T> T taken_one(T x) {
  if constexpr (conjugate) return std::conj(x);
  else return x;
}
template <class T> Vec<T> plus_product(Vec<T> sum, Vec<T> a, Vec<T> b) { return lanes::fma(a, b, sum); }
template <class R> Vec<std::complex<R>> plus_product(Vec<std::complex<R>> sum, Vec<std::complex<R>> a, Vec<std::complex<R>> b) { return sum + a * b; }
template <class T> T product_of(T a, T b) { return a * b; }
template <class R> std::complex<R> product_of(std::complex<R> a, std::complex<R> b) { return times(a, b); }
template <class T> T sum_of_lanes(Vec<T> x) { return sum_lanes(x); }
template <class R> std::complex<R> sum_of_lanes(Vec<std::complex<R>> x) { return {sum_lanes(x.re), sum_lanes(x.im)}; }

constexpr int64_t kSolved = 4;  // unknowns at a time: so many sums wait for their additions at once, and x is read less often

// Unknowns first, first + 1, ... of `count`, in the order of substitution, from what all others have left of x.
template <bool conjugate, int R, class T> void solve_corner(const Triangle<T>& t, int64_t first, int64_t count, T* x, int64_t apart) {
  for (int64_t step = 0; step < count; step++) {
    const int64_t i = t.upper ? first + count - 1 - step : first + step;
    for (int r = 0; r < R; r++) {
      T& own = x[r * apart + i];
      for (int64_t k = t.upper ? i + 1 : first; k < (t.upper ? first + count : i); k++)
        own -= product_of(taken_one<conjugate>(t.a[i * t.row + k * t.column]), x[r * apart + k]);
      if (!t.unit) own /= taken_one<conjugate>(t.a[i * (t.row + t.column)]);
    }
  }
}

// Takes the rows of unknowns that are known, from k = begin to end, off x at first, ..., first + count - 1.
template <bool conjugate, int R, int64_t count, class T> void take_rows(const Triangle<T>& t, int64_t first, int64_t begin, int64_t end, T* x, int64_t apart) {
  using V = Vec<T>;
  V sum[count][R];
  for (auto& row : sum)
    for (V& s : row) s = V(T(0));
  int64_t k = begin;
  for (; k + V::size <= end; k += V::size)
#pragma GCC unroll 4
    for (int64_t i = 0; i < count; i++) {
      const V a = taken<conjugate>(V::load(t.a + (first + i) * t.row + k));
#pragma GCC unroll 2
      for (int r = 0; r < R; r++) sum[i][r] = plus_product(sum[i][r], a, V::load(x + r * apart + k));
    }
  for (int64_t i = 0; i < count; i++)
    for (int r = 0; r < R; r++) {
      T known = sum_of_lanes(sum[i][r]);
      for (int64_t j = k; j < end; j++) known += product_of(taken_one<conjugate>(t.a[(first + i) * t.row + j]), x[r * apart + j]);
      x[r * apart + first + i] -= known;
    }
}

// Takes `count` columns, times the unknowns that they belong to, off x from i = begin to end.
template <bool conjugate, int R, int64_t count, class T> void take_columns(const Triangle<T>& t, int64_t first, int64_t begin, int64_t end, T* x, int64_t apart) {
  using V = Vec<T>;
  V known[count][R];
  for (int64_t k = 0; k < count; k++)
    for (int r = 0; r < R; r++) known[k][r] = V(-x[r * apart + first + k]);
  int64_t i = begin;
  for (; i + V::size <= end; i += V::size) {
    V own[R];
    for (int r = 0; r < R; r++) own[r] = V::load(x + r * apart + i);
#pragma GCC unroll 4
    for (int64_t k = 0; k < count; k++) {
      const V a = taken<conjugate>(V::load(t.a + (first + k) * t.column + i));
#pragma GCC unroll 2
      for (int r = 0; r < R; r++) own[r] = plus_product(own[r], a, known[k][r]);
    }
    for (int r = 0; r < R; r++) own[r].store(x + r * apart + i);
  }
  for (; i < end; i++)
    for (int r = 0; r < R; r++)
      for (int64_t k = 0; k < count; k++)
        x[r * apart + i] -= product_of(taken_one<conjugate>(t.a[(first + k) * t.column + i]), x[r * apart + first + k]);
}

template <bool conjugate, int R, class T> void substitute_columns(const Triangle<T>& t, T* x, int64_t apart) {
  auto step = [&]<int64_t count>(int64_t first, std::integral_constant<int64_t, count>) {
    const int64_t end = first + count;
    if (t.column == 1) take_rows<conjugate, R, count>(t, first, t.upper ? end : 0, t.upper ? t.n : first, x, apart);
    solve_corner<conjugate, R>(t, first, count, x, apart);
    if (t.column != 1) take_columns<conjugate, R, count>(t, first, t.upper ? 0 : end, t.upper ? first : t.n, x, apart);
  };
  int64_t done = 0;
  for (; done + kSolved <= t.n; done += kSolved) step(t.upper ? t.n - done - kSolved : done, std::integral_constant<int64_t, kSolved>{});
  for (; done < t.n; done++) step(t.upper ? t.n - done - 1 : done, std::integral_constant<int64_t, 1>{});
}

/// Solves T x = b, or conj(T) x = b, for `columns` columns b, `apart` numbers from each other, which become x.
template <bool conjugate = false, class T> void substitute(const Triangle<T>& t, T* x, int64_t columns, int64_t apart) {
  int64_t c = 0;
  for (; c + 2 <= columns; c += 2) substitute_columns<conjugate, 2>(t, x + c * apart, apart);
  if (c < columns) substitute_columns<conjugate, 1>(t, x + c * apart, apart);
}

/// Solves with the adjoint, T^H x = b.
template <class T> void substitute_adjoint(const Triangle<T>& t, T* x, int64_t columns, int64_t apart) {
  constexpr bool complex = !std::is_floating_point_v<T>;
  substitute<complex>(t.turned(), x, columns, apart);
}

}  // namespace WEIR_ISA
}  // namespace weir
