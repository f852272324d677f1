// QR of matrices that the second-level cache holds, by one reflector after another (LAPACK's geqr2 and org2r, with their signs). BLAS needs two
// calls for each, which cost more than the few thousand products that they make.
#pragma once
#include <cstring>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/small_matrix.h"
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

/// Columns of whole vectors, with zeros behind the last row, so that no loop has a rest.
template <class T> class Reflectors {
 public:
  static constexpr int kMost = 128;  // rows and columns
  static bool fit(int rows, int cols) { return std::is_floating_point_v<T> && rows <= kMost && cols <= kMost; }

  /// Factors a matrix of rows x cols numbers, each of which is_tame.
  Reflectors(const T* a, int rows, int cols, int ld)
      : rows_(rows), count_(std::min(rows, cols)), height_((rows + w - 1) / w * w), v_(size_t(count_) * height_), r_(size_t(cols) * height_), tau_(count_) {
    std::fill_n(v_.data(), v_.size(), T(0)), std::fill_n(r_.data(), r_.size(), T(0));
    for (int j = 0; j < cols; j++) std::copy_n(a + int64_t(j) * ld, rows, column(r_, j));
    for (int j = 0; j < count_; j++) {
      T* v = column(v_, j);
      std::copy(column(r_, j) + j, column(r_, j) + rows, v + j);
      column(r_, j)[j] = reflector(v, j, rows, tau_[j]);
      apply(j, r_, j + 1, cols);
    }
  }
  /// R's number, on its diagonal or above.
  T upper(int row, int col) { return column(r_, col)[row]; }
  /// The first `cols` columns of Q, to dense columns.
  void orthonormal(T* to, int cols) {
    Scratch<T> q(size_t(cols) * height_);
    std::fill_n(q.data(), q.size(), T(0));
    for (int j = 0; j < cols; j++) column(q, j)[j] = T(1);
    for (int j = count_; j-- > 0;) apply(j, q, j, cols);
    for (int j = 0; j < cols; j++) std::copy_n(column(q, j), rows_, to + int64_t(j) * rows_);
  }

 private:
  static constexpr int w = Vec<T>::size;
  T* column(Scratch<T>& m, int j) { return m.data() + size_t(j) * height_; }

  // Columns [first, end) of m lose tau v (v . column).
  void apply(int j, Scratch<T>& m, int first, int end) {
    const int from = j / w * w;  // zeros before row j change nothing
    int c = first;
    for (; c + 4 <= end; c += 4) take_off<4>(column(v_, j), tau_[j], column(m, c), from);
    for (; c < end; c++) take_off<1>(column(v_, j), tau_[j], column(m, c), from);
  }
  template <int N> void take_off(const T* v, T tau, T* to, int from) const {
    Vec<T> sum[N];
    for (int k = 0; k < N; k++) sum[k] = Vec<T>(T(0));
    for (int i = from; i < height_; i += w)
      for (int k = 0; k < N; k++) sum[k] = lanes::fma(Vec<T>::load(v + i), Vec<T>::load(to + k * height_ + i), sum[k]);
    Vec<T> factor[N];
    for (int k = 0; k < N; k++) factor[k] = Vec<T>(-tau * sum_lanes(sum[k]));
    for (int i = from; i < height_; i += w)
      for (int k = 0; k < N; k++) lanes::fma(Vec<T>::load(v + i), factor[k], Vec<T>::load(to + k * height_ + i)).store(to + k * height_ + i);
  }

  int rows_, count_, height_;
  Scratch<T> v_, r_, tau_;
};

}  // namespace WEIR_ISA
}  // namespace weir
