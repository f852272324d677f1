#include "framework/ops/linalg_cholesky.h"

#include <cmath>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/lapack.h"
#include "framework/kernels/cpu/substitute.h"

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

// The steps between rows and between columns of matrices whose triangles are read where they lie.
struct Steps {
  int64_t row, column;

  /// Those of t, if its rows or columns are dense and its matrices one behind the other; else of a copy that takes its place.
  explicit Steps(Tensor& t) {
    const auto [r, c] = of(t);
    const bool whole = t.is_contiguous() || t.strides() == column_strides(t.sizes());
    if (!whole && !((r == 1 || c == 1) && t.ndim() == 2)) t = columns_of(t);
    *this = of(t);
  }

 private:
  Steps(int64_t r, int64_t c) : row(r), column(c) {}
  static Steps of(const Tensor& t) { return {t.strides()[t.ndim() - 2], t.strides()[t.ndim() - 1]}; }
};

void cholesky_apply(const CholeskyApply& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  Matrices b(out[0]);
  const bool few = is_few(b.rows, b.cols);
  Tensor factor = few ? in[1] : columns_of(in[1]);
  const Steps steps(factor);
  Matrices a(factor);
  visit_lapack_dtype("cholesky_solve", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(b.batch, double(a.each) * b.cols, [&](int64_t i) {
      if (b.each == 0) return;
      T* x = b.at<T>(out[0], i);
      if (few) {
        const Triangle<T> t{a.at<T>(factor, i), b.rows, steps.row, steps.column, op.upper, false};
        if (!op.upper) substitute(t, x, b.cols, b.ld);
        substitute_adjoint(t, x, b.cols, b.ld);
        if (op.upper) substitute(t, x, b.cols, b.ld);
        return;
      }
      const char half = op.upper ? 'U' : 'L', adjoint = kIsComplex<T> ? 'C' : 'T';
      for (char turn : {op.upper ? adjoint : 'N', op.upper ? 'N' : adjoint}) blas_trsm<T>('L', half, turn, 'N', b.rows, b.cols, a.at<T>(factor, i), a.ld, x, b.ld);
    });
  });
}

// X with X A = B is the transpose of that with A^T X^T = B^T, whose columns have to be dense.
template <class T> void substitute_rows(const Triangle<T>& t, T* x, int64_t rows) {
  Scratch<T> turned(rows * t.n);
  for (int64_t i = 0; i < t.n; i++)
    for (int64_t r = 0; r < rows; r++) turned[r * t.n + i] = x[i * rows + r];
  substitute(t.turned(), turned.data(), rows, t.n);
  for (int64_t i = 0; i < t.n; i++)
    for (int64_t r = 0; r < rows; r++) x[i * rows + r] = turned[r * t.n + i];
}

void triangular_apply(const TriangularApply& op, Inputs in, Outputs out) {
  run_copy(in[1], out[0]);
  Matrices b(out[0]);
  const bool few = op.left ? is_few(b.rows, b.cols) : is_few(b.cols, b.rows);
  // BLAS reads the triangle where it is: row by row it is the transpose of one column by column.
  const bool rows = in[0].is_contiguous(), columns = in[0].strides() == column_strides(in[0].sizes());
  Tensor triangle = few || rows || columns ? in[0] : columns_of(in[0]);
  const Steps steps(triangle);
  Matrices a(triangle);
  const bool turned = rows && !columns;
  visit_lapack_dtype("linalg.solve_triangular", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(b.batch, double(b.each) * a.rows, [&](int64_t i) {
      if (b.each == 0) return;
      T* x = b.at<T>(out[0], i);
      if (few) {
        const Triangle<T> t{a.at<T>(triangle, i), a.rows, steps.row, steps.column, op.upper, op.unitriangular};
        return op.left ? substitute(t, x, b.cols, b.ld) : substitute_rows(t, x, b.rows);
      }
      char side = op.left ? 'L' : 'R', half = op.upper != turned ? 'U' : 'L', turn = turned ? 'T' : 'N', unit = op.unitriangular ? 'U' : 'N';
      blas_trsm<T>(side, half, turn, unit, b.rows, b.cols, a.at<T>(triangle, i), a.ld, x, b.ld);
    });
  });
}

void ldl_factor(const LdlFactorEx& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return void(std::fill_n(out[2].data<int>(), out[2].numel(), 0));
  run_copy(in[0], out[0]);
  Matrices m(out[0]);
  visit_lapack_dtype("linalg.ldl_factor", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      int &info = out[2].data<int>()[i] = 0, *pivots = out[1].data<int>() + i * m.rows;
      if (m.rows == 0) return;
      char side = 'L';
      T* a = m.at<T>(out[0], i);
      clear_other(m, a, false);
      with_work<T>([&](T* work, int* length) {
        if constexpr (kIsComplex<T>)
          if (op.hermitian) return lapack<"hetrf", T>(&side, &m.rows, a, &m.ld, pivots, work, length, &info);
        lapack<"sytrf", T>(&side, &m.rows, a, &m.ld, pivots, work, length, &info);
      });
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
