// Matrices of at most 16 rows and columns, for which a call of LAPACK costs more than its work. They lie in lines of 16 numbers, so that loops
// over a line are a few registers and no rest. Algorithms, pivots and signs are LAPACK's: getf2, geqr2 with org2r, sytd2.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

namespace weir {
namespace WEIR_ISA {

constexpr int kSmall = 16, kTiny = 4;

/// A matrix as lines that are its columns, or its rows, of N numbers.
template <class T, int N = kSmall> struct Small {
  alignas(64) T line[N][N] = {};

  static bool fits(int rows, int cols) { return rows <= N && cols <= N; }
  static Small columns(const T* a, int rows, int cols, int64_t ld) {
    Small m;
    for (int c = 0; c < cols; c++) std::copy_n(a + c * ld, rows, m.line[c]);
    return m;
  }
  static Small rows(const T* a, int rows, int cols, int64_t ld) {
    Small m;
    for (int c = 0; c < cols; c++)
      for (int r = 0; r < rows; r++) m.line[r][c] = a[r + c * ld];
    return m;
  }
  void to_columns(T* a, int rows, int cols, int64_t ld) const {
    for (int c = 0; c < cols; c++) std::copy_n(line[c], rows, a + c * ld);
  }
  T* operator[](int i) { return line[i]; }
  const T* operator[](int i) const { return line[i]; }
};

/// Calls f with the length of lines that a matrix of so many rows and columns needs.
template <class F> auto by_length(int rows, int cols, F&& f) {
  if (std::max(rows, cols) <= kTiny) return f(std::integral_constant<int, kTiny>{});
  return f(std::integral_constant<int, kSmall>{});
}

// to -= from * factor where first <= i < end.
template <int N, class T> void take_off(T* to, const T* from, T factor, int first, int end) {
  for (int i = 0; i < N; i++) to[i] = i >= first && i < end ? to[i] - from[i] * factor : to[i];
}

// LAPACK's measure of a pivot.
template <class R> R size_of_pivot(std::complex<R> x) { return std::abs(x.real()) + std::abs(x.imag()); }
template <class R> R size_of_pivot(R x) { return std::abs(x); }

/// LU of columns, in place. Returns the place of the first zero on U's diagonal, or 0. The largest pivot divides by its reciprocal.
template <class T, int N> int small_lu(int rows, int cols, Small<T, N>& a, int* pivots) {
  int info = 0;
  for (int j = 0; j < std::min(rows, cols); j++) {
    T* column = a[j];
    int p = j;
    for (int i = j + 1; i < rows; i++)
      if (size_of_pivot(column[i]) > size_of_pivot(column[p])) p = i;
    pivots[j] = p + 1;
    if (column[p] == T(0)) {
      if (!info) info = j + 1;
      continue;
    }
    if (p != j)
      for (int k = 0; k < cols; k++) std::swap(a[k][j], a[k][p]);
    const T inverse = T(1) / column[j];
    for (int i = 0; i < N; i++) column[i] = i > j ? column[i] * inverse : column[i];
    for (int k = j + 1; k < cols; k++) take_off<N>(a[k], column, a[k][j], j + 1, rows);
  }
  return info;
}
/// The columns of x become the solutions.
template <class T, int N> void small_solve(int n, const Small<T, N>& lu, const int* pivots, Small<T, N>& x, int columns) {
  for (int j = 0; j < n; j++)
    for (int c = 0; c < columns && pivots[j] != j + 1; c++) std::swap(x[c][j], x[c][pivots[j] - 1]);
  for (int j = 0; j < n; j++)
    for (int c = 0; c < columns; c++) take_off<N>(x[c], lu[j], x[c][j], j + 1, n);
  for (int j = n; j-- > 0;)
    for (int c = 0; c < columns; c++) {
      x[c][j] /= lu[j][j];
      take_off<N>(x[c], lu[j], x[c][j], 0, j);
    }
}

/// Whether no square or quotient on the way to reflectors leaves the range of double.
template <class T> bool is_tame(const T* a, int64_t n) {
  if constexpr (!std::is_floating_point_v<T>) return false;
  else return std::all_of(a, a + n, [](T x) { return x == 0 || (std::abs(x) > T(1e-30) && std::abs(x) < T(1e30)); });
}

/// I - tau v v^T that leaves of (v[first], ..., v[n - 1]) its first number only, which is returned; v becomes v, with v[first] = 1.
template <class T> T reflector(T* v, int first, int n, T& tau) {
  double squares = 0;
  for (int i = first + 1; i < n; i++) squares += double(v[i]) * double(v[i]);
  for (int i = 0; i < first; i++) v[i] = T(0);
  const double alpha = v[first];
  v[first] = T(1);
  if (squares == 0) return tau = T(0), T(alpha);
  const double beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha), scale = 1 / (alpha - beta);
  for (int i = first + 1; i < n; i++) v[i] = T(v[i] * scale);
  tau = T((beta - alpha) / beta);
  return T(beta);
}
// sums = factor * (the rows from `first` on, each times its number of v).
template <class T> void weighted_sum(const Small<T>& m, const T* v, int first, int n, T factor, T* sums) {
  alignas(64) T s[kSmall] = {};
  for (int r = first; r < n; r++)
    for (int i = 0; i < kSmall; i++) s[i] += v[r] * m[r][i];
  for (int i = 0; i < kSmall; i++) sums[i] = factor * s[i];
}
// m -= v w^T from row `first` on.
template <class T> void take_off_product(Small<T>& m, const T* v, const T* w, int first, int n) {
  for (int r = first; r < n; r++)
    for (int i = 0; i < kSmall; i++) m[r][i] -= v[r] * w[i];
}

// Reflector j applied to the columns of q behind it; the column that it begins, until then one of the identity, is written down, with LAPACK's
// signs of zeros.
template <class T> void apply_backwards(Small<T>& q, const T* v, T tau, int first, int n, int columns) {
  alignas(64) T w[kSmall];
  weighted_sum(q, v, first, n, tau, w);
  take_off_product(q, v, w, first, n);
  if (first >= columns) return;
  for (int r = first; r < n; r++) q[r][first] = r == first ? 1 - tau : -tau * v[r];
}

/// QR of rows: R is left above the diagonal of r; q, if wanted, gets `count` orthonormal columns, as rows.
template <class T> void small_qr(int rows, int cols, Small<T>& r, Small<T>* q, int count) {
  const int k = std::min(rows, cols);
  alignas(64) T v[kSmall][kSmall], w[kSmall], tau[kSmall];
  for (int j = 0; j < k; j++) {
    for (int i = 0; i < rows; i++) v[j][i] = r[i][j];
    const T first = reflector(v[j], j, rows, tau[j]);
    weighted_sum(r, v[j], j, rows, tau[j], w);
    for (int i = 0; i <= j; i++) w[i] = T(0);
    take_off_product(r, v[j], w, j, rows);
    r[j][j] = first;
  }
  if (!q) return;
  for (int i = 0; i < std::min(rows, count); i++) (*q)[i][i] = T(1);
  for (int j = k; j-- > 0;) apply_backwards(*q, v[j], tau[j], j, rows, count);
}

/// The tridiagonal matrix that a symmetric one is similar to: `diagonal`, and `beside` it; a is overwritten. q, if wanted, gets the rows of
/// the orthogonal matrix between the two.
template <class T> void small_tridiagonal(int n, Small<T>& a, T* diagonal, T* beside, Small<T>* q) {
  alignas(64) T v[kSmall][kSmall], w[kSmall], tau[kSmall];
  for (int j = 0; j + 1 < n; j++) {
    for (int i = 0; i < kSmall; i++) v[j][i] = i < n ? a[j][i] : T(0);
    beside[j] = reflector(v[j], j + 1, n, tau[j]);
    weighted_sum(a, v[j], j + 1, n, tau[j], w);
    T across(0);
    for (int i = j + 1; i < n; i++) across += w[i] * v[j][i];
    const T half = tau[j] * across / 2;
    for (int i = 0; i < kSmall; i++) w[i] -= half * v[j][i];
    take_off_product(a, v[j], w, j + 1, n);
    take_off_product(a, w, v[j], j + 1, n);
  }
  for (int j = 0; j < n; j++) diagonal[j] = a[j][j];
  if (!q) return;
  for (int i = 0; i < n; i++) (*q)[i][i] = T(1);
  for (int j = n - 1; j-- > 0;) apply_backwards(*q, v[j], tau[j], j + 1, n, n);
}

}  // namespace WEIR_ISA
}  // namespace weir
