// Batches of tiny square matrices side by side, one in each lane of a vector. Every lane takes the steps, pivots and signs of small_matrix.h,
// which are those of LAPACK's getf2 and getrs.
#pragma once
#include "framework/kernels/cpu/lapack.h"
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

/// LU of as many matrices of N rows and columns as a vector has lanes.
template <class T, int N> struct LuLanes {
  static constexpr int kLanes = Vec<T>::size;
  Vec<T> a[N][N];    // columns
  Vec<T> pivot[N];   // the row that each was exchanged with, from 0
  Vec<T> info{T(0)};  // the place of the first zero on U's diagonal, or 0

  /// Factors the first `count` row-major matrices behind p; further lanes are without meaning.
  LuLanes(const T* p, int64_t count) {
    alignas(64) T lane[N][N][kLanes] = {};
    for (int64_t m = 0; m < count; m++, p += N * N)
      for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++) lane[c][r][m] = p[r * N + c];
    for (int c = 0; c < N; c++)
      for (int r = 0; r < N; r++) a[c][r] = Vec<T>::load(lane[c][r]);
    for (int j = 0; j < N; j++) step(j);
  }

  /// `columns` columns behind p become the solutions.
  void solve(T* p, int columns, int64_t count) const {
    alignas(64) T lane[N][kLanes] = {};
    for (int c = 0; c < columns; c++) {
      for (int64_t m = 0; m < count; m++)
        for (int r = 0; r < N; r++) lane[r][m] = p[(m * columns + c) * N + r];
      Vec<T> x[N];
      for (int r = 0; r < N; r++) x[r] = Vec<T>::load(lane[r]);
      substitute(x);
      for (int r = 0; r < N; r++) x[r].store(lane[r]);
      for (int64_t m = 0; m < count; m++)
        for (int r = 0; r < N; r++) p[(m * columns + c) * N + r] = lane[r][m];
    }
  }
  /// The inverse; where there is none, as PyTorch, the factors are left for those who did not ask for an error.
  void store_inverse(T* to, int64_t count) const {
    const auto regular = info == Vec<T>(T(0));
    Vec<T> x[N][N];
    for (int c = 0; c < N; c++) {
      for (int r = 0; r < N; r++) x[c][r] = Vec<T>(T(r == c));
      substitute(x[c]);
      for (int r = 0; r < N; r++) x[c][r] = where(regular, x[c][r], a[c][r]);
    }
    store(x, to, count);
  }
  void store_factors(T* to, int64_t count) const { store(a, to, count); }
  /// Pivots count from 1, as LAPACK's.
  void store_pivots(int* to, int64_t count) const {
    alignas(64) T lane[kLanes];
    for (int j = 0; j < N; j++) {
      pivot[j].store(lane);
      for (int64_t m = 0; m < count; m++) to[m * N + j] = int(lane[m]) + 1;
    }
  }
  struct Numbers {
    alignas(64) T diagonal[N][kLanes], pivot[N][kLanes];
  };
  /// What a determinant is made of.
  Numbers numbers() const {
    Numbers n;
    for (int j = 0; j < N; j++) a[j][j].store(n.diagonal[j]), pivot[j].store(n.pivot[j]);
    return n;
  }
  void store_info(int* to, int64_t count) const {
    alignas(64) T lane[kLanes];
    info.store(lane);
    for (int64_t m = 0; m < count; m++) to[m] = int(lane[m]);
  }

 private:
  void substitute(Vec<T>* x) const {
    for (int j = 0; j < N; j++)
      for (int i = j + 1; i < N; i++) exchange(pivot[j] == Vec<T>(T(i)), x[j], x[i]);
    for (int j = 0; j < N; j++)
      for (int i = j + 1; i < N; i++) x[i] = x[i] - a[j][i] * x[j];
    for (int j = N; j-- > 0;) {
      x[j] = x[j] / a[j][j];
      for (int i = 0; i < j; i++) x[i] = x[i] - a[j][i] * x[j];
    }
  }
  /// One matrix of columns after the other.
  static void store(const Vec<T> (&line)[N][N], T* p, int64_t count) {
    alignas(64) T lane[N][N][kLanes];
    for (int c = 0; c < N; c++)
      for (int r = 0; r < N; r++) line[c][r].store(lane[c][r]);
    for (int64_t m = 0; m < count; m++)
      for (int c = 0; c < N; c++)
        for (int r = 0; r < N; r++) *p++ = lane[c][r][m];
  }
  static void exchange(Mask<T> m, Vec<T>& x, Vec<T>& y) {
    const Vec<T> kept = x;
    x = where(m, y, x), y = where(m, kept, y);
  }

  void step(int j) {
    Vec<T> largest = abs(a[j][j]);
    pivot[j] = Vec<T>(T(j));
    for (int i = j + 1; i < N; i++) {
      const Vec<T> size = abs(a[j][i]);
      const auto larger = size > largest;
      largest = where(larger, size, largest), pivot[j] = where(larger, Vec<T>(T(i)), pivot[j]);
    }
    const auto none = largest == Vec<T>(T(0));
    info = where(none & (info == Vec<T>(T(0))), Vec<T>(T(j + 1)), info);
    for (int i = j + 1; i < N; i++)
      for (int k = 0; k < N; k++) exchange(pivot[j] == Vec<T>(T(i)), a[k][j], a[k][i]);
    const Vec<T> inverse = Vec<T>(T(1)) / a[j][j];
    for (int i = j + 1; i < N; i++) a[j][i] = where(none, a[j][i], a[j][i] * inverse);
    for (int k = j + 1; k < N; k++)
      for (int i = j + 1; i < N; i++) a[k][i] = where(none, a[k][i], a[k][i] - a[j][i] * a[k][j]);
  }
};

/// f(factored lanes, number of the first matrix, how many) for all of a batch of which `m` is the shape, on several threads. False where the
/// matrices are not tiny, square, real and several.
template <class T, class F> bool in_lanes(const Tensor& matrices, const Matrices& m, double cost, F&& f) {
  if constexpr (kIsComplex<T>) return false;
  else {
    if (m.rows != m.cols || m.rows < 2 || m.rows > 4 || m.batch < 2) return false;
    const Tensor rows = row_major(matrices);
    auto of = [&]<int N>(std::integral_constant<int, N>) {
      constexpr int64_t w = LuLanes<T, N>::kLanes;
      each_matrix((m.batch + w - 1) / w, cost * w, [&](int64_t group) {
        const int64_t first = group * w, count = std::min(w, m.batch - first);
        f(LuLanes<T, N>(rows.data<T>() + first * N * N, count), first, count);
      });
      return true;
    };
    return m.rows == 2 ? of(std::integral_constant<int, 2>{}) : m.rows == 3 ? of(std::integral_constant<int, 3>{}) : of(std::integral_constant<int, 4>{});
  }
}

}  // namespace WEIR_ISA
}  // namespace weir
