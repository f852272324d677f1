#include "framework/ops/linalg_cholesky.h"

#include <cmath>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/lapack.h"
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {
namespace {

double cube(const Matrices& m) { return double(m.each) * m.rows; }

// Zeros in the triangle that a factor has not.
template <class T> void clear_other(const Matrices& m, T* a, bool upper) {
  for (int j = 0; j < m.cols; j++) {
    T* column = a + int64_t(j) * m.ld;
    if (upper) std::fill(column + std::min(j + 1, m.rows), column + m.rows, T(0));
    else std::fill(column, column + std::min(j, m.rows), T(0));
  }
}

[[noreturn]] void not_definite(const Tensor& infos, int64_t at, int info) {
  throw LinAlgError(str("linalg.cholesky: ", infos.ndim() ? str("(Batch element ", at, "): ") : "", "The factorization could not be completed "
                        "because the input is not positive-definite (the leading minor of order ", info, " is not positive-definite)."));
}

void cholesky(const CholeskyEx& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return void(std::fill_n(out[1].data<int>(), out[1].numel(), 0));
  run_copy(in[0], out[0]);
  Matrices m(out[0]);
  int* infos = out[1].data<int>();
  visit_lapack_dtype("linalg.cholesky", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      infos[i] = 0;
      if (m.rows == 0) return;
      char side = op.upper ? 'U' : 'L';
      T* a = m.at<T>(out[0], i);
      clear_other(m, a, op.upper);
      lapack<"potrf", T>(&side, &m.rows, a, &m.ld, &infos[i]);
      for (int j = 0; j < m.rows && infos[i] == 0; j++)  // OpenBLAS compares with zero, which NaN passes
        if (std::isnan(std::real(a[j + int64_t(j) * m.ld]))) infos[i] = j + 1;
    });
  });
  if (op.check_errors)
    for (int64_t i = 0; i < m.batch; i++)
      if (infos[i]) not_definite(out[1], i, infos[i]);
}

void cholesky_inverse(const CholeskyInverse& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  Matrices m(out[0]);
  visit_lapack_dtype("cholesky_inverse", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      if (m.rows == 0) return;
      char side = op.upper ? 'U' : 'L';
      int info = 0;
      T* a = m.at<T>(out[0], i);
      lapack<"potri", T>(&side, &m.rows, a, &m.ld, &info);
      if (info)
        throw LinAlgError(str("cholesky_inverse: ", out[0].ndim() > 2 ? str("(Batch element ", i, "): ") : "", "The diagonal element ", info,
                              " is zero, the inversion could not be completed because the input matrix is singular."));
      for (int64_t j = 0; j < m.cols; j++)
        for (int64_t r = j + 1; r < m.rows; r++) {
          T &below = a[r + j * m.ld], &above = a[j + r * m.ld];
          T& known = op.upper ? above : below;
          T mirrored = known;
          if constexpr (kIsComplex<T>) mirrored = std::conj(known);
          (op.upper ? below : above) = mirrored;
        }
    });
  });
}

void cholesky_apply(const CholeskyApply& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  Tensor factor = columns_of(in[1]);
  Matrices a(factor), b(out[0]);
  visit_lapack_dtype("cholesky_solve", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(b.batch, double(a.each) * b.cols, [&](int64_t i) {
      if (b.each == 0) return;
      char side = op.upper ? 'U' : 'L';
      int info = 0;
      lapack<"potrs", T>(&side, &a.rows, &b.cols, a.at<T>(factor, i), &a.ld, b.at<T>(out[0], i), &b.ld, &info);
    });
  });
}

// R columns of X with A X = B, one row of A after the other, whose rows are dense. B stands in x, column by column.
template <int R, class T> void substitute(const TriangularApply& op, const T* a, int64_t n, T* x) {
  constexpr int64_t w = Vec<T>::size;
  for (int64_t step = 0; step < n; step++) {
    const int64_t i = op.upper ? n - 1 - step : step, first = op.upper ? i + 1 : 0, last = op.upper ? n : i;
    const T* row = a + i * n;
    Vec<T> acc[R];
    for (int r = 0; r < R; r++) acc[r] = Vec<T>(T(0));
    int64_t k = first;
    for (; k + w <= last; k += w)
      for (int r = 0; r < R; r++) acc[r] = acc[r] + Vec<T>::load(row + k) * Vec<T>::load(x + r * n + k);
    for (int r = 0; r < R; r++) {
      T known = sum_lanes(acc[r]);
      for (int64_t j = k; j < last; j++) known += row[j] * x[r * n + j];
      x[r * n + i] = (x[r * n + i] - known) / (op.unitriangular ? T(1) : row[i]);
    }
  }
}
// Few columns, for which BLAS would pack the whole matrix: real numbers only.
bool substitutes(const TriangularApply& op, bool rows, const Matrices& b) {
  constexpr int kLeast = 32, kMost = 8;
  return op.left && rows && b.rows >= kLeast && b.cols <= kMost;
}

void triangular_apply(const TriangularApply& op, Inputs in, Outputs out) {
  run_copy(in[1], out[0]);
  // BLAS reads the triangle where it is: row by row it is the transpose of one column by column.
  const bool rows = in[0].is_contiguous(), columns = in[0].strides() == column_strides(in[0].sizes());
  Tensor triangle = rows || columns ? in[0] : columns_of(in[0]);
  Matrices a(triangle), b(out[0]);
  const bool turned = rows && !columns;
  visit_lapack_dtype("linalg.solve_triangular", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(b.batch, double(b.each) * a.rows, [&](int64_t i) {
      if (b.each == 0) return;
      if constexpr (!kIsComplex<T>)
        if (substitutes(op, rows, b)) {
          int c = 0;
          for (; c + 4 <= b.cols; c += 4) substitute<4>(op, a.at<T>(triangle, i), b.rows, b.at<T>(out[0], i) + int64_t(c) * b.rows);
          for (; c < b.cols; c++) substitute<1>(op, a.at<T>(triangle, i), b.rows, b.at<T>(out[0], i) + int64_t(c) * b.rows);
          return;
        }
      char side = op.left ? 'L' : 'R', half = op.upper != turned ? 'U' : 'L', turn = turned ? 'T' : 'N', unit = op.unitriangular ? 'U' : 'N';
      T one(1);
      lapack<"trsm", T>(&side, &half, &turn, &unit, &b.rows, &b.cols, &one, a.at<T>(triangle, i), &a.ld, b.at<T>(out[0], i), &b.ld);
    });
  });
}

void ldl_factor(const LdlFactorEx& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return void(std::fill_n(out[2].data<int>(), out[2].numel(), 0));
  run_copy(in[0], out[0]);
  Matrices m(out[0]);
  visit_lapack_dtype("linalg.ldl_factor", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      int &info = out[2].data<int>()[i] = 0, query = -1, *pivots = out[1].data<int>() + i * m.rows;
      if (m.rows == 0) return;
      char side = 'L';
      T *a = m.at<T>(out[0], i), size{};
      clear_other(m, a, false);
      auto run = [&](T* work, int* length) {
        if constexpr (kIsComplex<T>)
          if (op.hermitian) return lapack<"hetrf", T>(&side, &m.rows, a, &m.ld, pivots, work, length, &info);
        lapack<"sytrf", T>(&side, &m.rows, a, &m.ld, pivots, work, length, &info);
      };
      run(&size, &query);
      int length = work_size(size);
      Scratch<T> work(length);
      run(work.data(), &length);
    });
  });
  if (!op.check_errors) return;
  for (int64_t i = 0; i < m.batch; i++)
    if (int info = out[2].data<int>()[i])
      throw LinAlgError(str("torch.linalg.ldl_factor: the diagonal element ", info, " of D is zero, and solving with it would divide by zero"));
}

// A block of two rows has its place twice, negative. LAPACK trusts this and would read past the matrix.
void check_pivots(const int* places, int n) {
  for (int k = 0; k < n; k++) {
    check(places[k] != 0 && std::abs(int64_t(places[k])) <= n, "torch.linalg.ldl_solve: pivots must be places from 1 to ", n, ", got ", places[k]);
    if (places[k] > 0) continue;
    check(k + 1 < n && places[k + 1] == places[k], "torch.linalg.ldl_solve: negative pivots must come in equal pairs, got ", places[k], " alone");
    k++;
  }
}

void ldl_apply(const LdlApply& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  run_copy(in[2], out[0]);
  Tensor packed = columns_of(in[0]), pivots = row_major(in[1]);
  Matrices a(packed), b(out[0]);
  const int* places = pivots.data<int>();
  for (int64_t i = 0; i < b.batch; i++) check_pivots(places + i * a.rows, a.rows);
  visit_lapack_dtype("linalg.ldl_solve", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(b.batch, double(a.each) * b.cols, [&](int64_t i) {
      if (b.each == 0) return;
      char side = 'L';
      int info = 0;
      const int* swaps = places + i * a.rows;
      if constexpr (kIsComplex<T>)
        if (op.hermitian)
          return lapack<"hetrs", T>(&side, &a.rows, &b.cols, a.at<T>(packed, i), &a.ld, swaps, b.at<T>(out[0], i), &b.ld, &info);
      lapack<"sytrs", T>(&side, &a.rows, &b.cols, a.at<T>(packed, i), &a.ld, swaps, b.at<T>(out[0], i), &b.ld, &info);
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<CholeskyEx, cholesky>(DeviceType::cpu);
  set_kernel<CholeskyInverse, cholesky_inverse>(DeviceType::cpu);
  set_kernel<CholeskyApply, cholesky_apply>(DeviceType::cpu);
  set_kernel<TriangularApply, triangular_apply>(DeviceType::cpu);
  set_kernel<LdlFactorEx, ldl_factor>(DeviceType::cpu);
  set_kernel<LdlApply, ldl_apply>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
