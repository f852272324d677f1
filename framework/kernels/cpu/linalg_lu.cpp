#include "framework/ops/linalg_lu.h"

#include <algorithm>
#include <numeric>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/matrix_lanes.h"
#include "framework/kernels/cpu/small_matrix.h"
#include "framework/kernels/cpu/substitute.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// LU of a matrix, in place. Returns the place of the first zero on U's diagonal, or 0.
template <class T> int factored(const Matrices& m, T* lu, int* pivots) {
  if (m.rows == 0 || m.cols == 0) return 0;
  if (Small<T>::fits(m.rows, m.cols)) {
    return by_length(m.rows, m.cols, [&]<int N>(std::integral_constant<int, N>) {
      auto small = Small<T, N>::columns(lu, m.rows, m.cols, m.ld);
      const int info = small_lu(m.rows, m.cols, small, pivots);
      small.to_columns(lu, m.rows, m.cols, m.ld);
      return info;
    });
  }
  int info = 0;
  lapack<"getrf", T>(&m.rows, &m.cols, lu, &m.ld, pivots, &info);
  return info;
}
double cube(const Matrices& m) { return double(m.rows) * m.cols * std::min(m.rows, m.cols); }

// Few rows, which LAPACK would go over again and again: their square at the beginning is factored by it, and the columns behind are solved for some at
// a time, while they lie row by row.
bool is_wide(const Matrices& m) {
  constexpr int kFewRows = 64, kTimes = 8;
  return m.rows > 0 && m.rows <= kFewRows && m.cols >= kTimes * kFewRows;
}
template <class T> int factored_wide(const Matrices& m, const T* x, T* lu, int* pivots) {
  constexpr int64_t kColumns = 256;  // with as many rows they fill half of a first-level cache, or a part of the second
  const int64_t n = m.rows, cols = m.cols;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) lu[j * m.ld + i] = x[i * cols + j];
  Matrices square = m;
  square.cols = m.rows;
  openblas();
  const int info = factored<T>(square, lu, pivots);
  Scratch<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t(0));
  for (int64_t i = 0; i < n; i++) std::swap(order[i], order[pivots[i] - 1]);
  parallel_for((cols - n + kColumns - 1) / kColumns, kGrain / (kColumns * n), [&](int64_t b, int64_t e) {
    Scratch<T> some(n * kColumns);
    for (int64_t first = n + b * kColumns; first < std::min(n + e * kColumns, cols); first += kColumns) {
      const int64_t width = std::min(kColumns, cols - first);
      for (int64_t i = 0; i < n; i++) {
        T* __restrict row = some.data() + i * kColumns;
        std::copy_n(x + order[i] * cols + first, width, row);
        for (int64_t k = 0; k < i; k++) {
          const T factor = lu[k * m.ld + i];
          const T* __restrict above = some.data() + k * kColumns;
          for (int64_t c = 0; c < width; c++) row[c] -= factor * above[c];
        }
      }
      for (int64_t c = 0; c < width; c++)
        for (int64_t i = 0; i < n; i++) lu[(first + c) * m.ld + i] = some[i * kColumns + c];
    }
  });
  return info;
}

// The first matrix of the batch that says something. Returns its message's beginning.
struct Trouble {
  int64_t at = -1;
  int info = 0;
  explicit Trouble(const Tensor& infos) {
    const int* p = infos.data<int>();
    for (int64_t i = 0; i < infos.numel() && at < 0; i++)
      if (p[i]) at = i, info = p[i];
  }
  explicit operator bool() const { return at >= 0; }
  std::string start(const char* op, const Tensor& infos) const {
    return infos.ndim() ? str(op, ": (Batch element ", at, "): ") : str(op, ": ");
  }
};

void lu_factor(const LuFactorEx& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return void(std::fill_n(out[2].data<int>(), out[2].numel(), 0));
  Matrices m(out[0]);
  const int k = std::min(m.rows, m.cols);
  visit_lapack_dtype("linalg.lu_factor", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    const bool done = in_lanes<T>(in[0], m, cube(m), [&](const auto& lu, int64_t first, int64_t count) {
      lu.store_factors(m.at<T>(out[0], first), count);
      lu.store_pivots(out[1].data<int>() + first * k, count);
      lu.store_info(out[2].data<int>() + first, count);
    });
    if (done) return;
    if (is_wide(m)) {
      const Tensor x = row_major(in[0]);
      for (int64_t i = 0; i < m.batch; i++)
        out[2].data<int>()[i] = factored_wide<T>(m, x.data<T>() + i * m.rows * m.cols, m.at<T>(out[0], i), out[1].data<int>() + i * k);
      return;
    }
    run_copy(in[0], out[0]);
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      out[2].data<int>()[i] = factored<T>(m, m.at<T>(out[0], i), out[1].data<int>() + i * k);
    });
  });
  if (!op.check_errors) return;
  if (Trouble t{out[2]})
    throw Error(str(t.start("torch.linalg.lu_factor", out[2]), "U[", t.info, ",", t.info, "] is zero and using it on lu_solve would result in a "
                    "division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                    "linalg.lu_factor_ex(A, pivot)"));
}

void lu_order(const LuOrder& op, Inputs in, Outputs out) {
  Tensor pivots = row_major(in[0]);
  const int64_t k = pivots.size(-1), n = op.rows;
  for (int64_t i = 0, batch = out[0].numel() / std::max<int64_t>(n, 1); i < batch; i++) {
    const int* swap = pivots.data<int>() + i * k;
    int64_t* order = out[0].data<int64_t>() + i * n;
    std::iota(order, order + n, 0);
    for (int64_t j = 0; j < k; j++) {
      check(swap[j] >= 1 && swap[j] <= n && j < n, "lu_unpack: pivots must be from 1 to ", n, ", got ", swap[j]);
      std::swap(order[j], order[swap[j] - 1]);
    }
  }
}

template <class T> void substituted(const Matrices& a, const T* lu, const int* pivots, char turn, const Matrices& b, T* x) {
  if (b.rows == 0 || b.cols == 0) return;
  if (turn == 'N' && Small<T>::fits(b.rows, b.cols)) {
    return by_length(b.rows, b.cols, [&]<int N>(std::integral_constant<int, N>) {
      auto solutions = Small<T, N>::columns(x, b.rows, b.cols, b.ld);
      small_solve(a.rows, Small<T, N>::columns(lu, a.rows, a.cols, a.ld), pivots, solutions, b.cols);
      solutions.to_columns(x, b.rows, b.cols, b.ld);
    });
  }
  auto exchange = [&](bool forward) {
    for (T* column = x; column < x + int64_t(b.cols) * b.ld; column += b.ld)
      for (int64_t k = 0; k < a.rows; k++) {
        const int64_t j = forward ? k : a.rows - 1 - k;
        std::swap(column[j], column[pivots[j] - 1]);
      }
  };
  if (is_few(b.rows, b.cols)) {
    const Triangle<T> lower{lu, a.rows, 1, a.ld, false, true}, upper{lu, a.rows, 1, a.ld, true, false};
    if (turn == 'N') {
      exchange(true);
      substitute(lower, x, b.cols, b.ld);
      return substitute(upper, x, b.cols, b.ld);
    }
    substitute_adjoint(upper, x, b.cols, b.ld);
    substitute_adjoint(lower, x, b.cols, b.ld);
    return exchange(false);
  }
  if (turn == 'N') {
    exchange(true);
    blas_trsm<T>('L', 'L', 'N', 'U', b.rows, b.cols, lu, a.ld, x, b.ld);
    return blas_trsm<T>('L', 'U', 'N', 'N', b.rows, b.cols, lu, a.ld, x, b.ld);
  }
  blas_trsm<T>('L', 'U', turn, 'N', b.rows, b.cols, lu, a.ld, x, b.ld);
  blas_trsm<T>('L', 'L', turn, 'U', b.rows, b.cols, lu, a.ld, x, b.ld);
  exchange(false);
}

void lu_apply(const LuApply& op, Inputs in, Outputs out) {
  run_copy(in[2], out[0]);
  const Tensor lu = in[0].strides() == column_strides(in[0].sizes()) ? in[0] : columns_of(in[0]), pivots = row_major(in[1]);
  if (out[0].numel() == 0) return;
  Matrices a(lu), b(out[0]);
  const int* swaps = pivots.data<int>();
  for (int64_t i = 0; i < pivots.numel(); i++)
    check(swaps[i] >= 1 && swaps[i] <= a.rows, "Pivots given to lu_solve must all be greater or equal to 1 and at most ", a.rows, ". Did you properly pass the result of lu_factor?");
  visit_lapack_dtype("linalg.lu_solve", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(b.batch, double(a.each) * b.cols, [&](int64_t i) {
      substituted<T>(a, a.at<T>(lu, i), swaps + i * a.rows, op.adjoint ? 'C' : 'N', b, b.at<T>(out[0], i));
    });
  });
}

void solve_lu(const SolveLu& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return void(std::fill_n(out[3].data<int>(), out[3].numel(), 0));
  run_copy(in[1], out[0]);
  Matrices a(out[1]), b(out[0]);
  visit_lapack_dtype("linalg.solve", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    const bool done = in_lanes<T>(in[0], a, cube(a) + double(a.each) * b.cols, [&](const auto& lu, int64_t first, int64_t count) {
      lu.store_factors(a.at<T>(out[1], first), count);
      lu.store_pivots(out[2].data<int>() + first * a.rows, count);
      lu.store_info(out[3].data<int>() + first, count);
      lu.solve(b.at<T>(out[0], first), b.cols, count);
    });
    if (done) return;
    run_copy(in[0], out[1]);
    each_matrix(a.batch, cube(a) + double(a.each) * b.cols, [&](int64_t i) {
      int* pivots = out[2].data<int>() + i * a.rows;
      out[3].data<int>()[i] = factored<T>(a, a.at<T>(out[1], i), pivots);
      substituted<T>(a, a.at<T>(out[1], i), pivots, 'N', b, b.at<T>(out[0], i));
    });
  });
  if (!op.check_errors) return;
  if (Trouble t{out[3]}) throw LinAlgError(t.start("torch.linalg.solve", out[3]) + "The solver failed because the input matrix is singular.");
}

void inv(const InvEx& op, Inputs in, Outputs out) {
  Matrices m(out[0]);
  visit_lapack_dtype("linalg.inv", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    const bool done = in_lanes<T>(in[0], m, 3 * cube(m), [&](const auto& lu, int64_t first, int64_t count) {
      lu.store_inverse(m.at<T>(out[0], first), count);
      lu.store_info(out[1].data<int>() + first, count);
    });
    if (done) return;
    run_copy(in[0], out[0]);
    each_matrix(m.batch, 3 * cube(m), [&](int64_t i) {
      int& info = out[1].data<int>()[i] = 0;
      if (m.rows == 0) return;
      T* a = m.at<T>(out[0], i);
      if (m.rows <= kSmall) return by_length(m.rows, m.rows, [&]<int N>(std::integral_constant<int, N>) {
        int pivots[N];
        auto lu = Small<T, N>::columns(a, m.rows, m.rows, m.ld);
        info = small_lu(m.rows, m.rows, lu, pivots);
        if (info) return lu.to_columns(a, m.rows, m.rows, m.ld);  // as PyTorch, the factors are left for those who did not ask for an error
        Small<T, N> inverse;
        for (int k = 0; k < m.rows; k++) inverse[k][k] = T(1);
        small_solve(m.rows, lu, pivots, inverse, m.rows);
        inverse.to_columns(a, m.rows, m.rows, m.ld);
      });
      std::vector<int> pivots(m.rows);
      info = factored<T>(m, a, pivots.data());
      if (info) return;
      const Scratch<T> factors(a, a + m.each);
      std::fill_n(a, m.each, T(0));
      for (int64_t k = 0; k < m.rows; k++) a[k * (m.ld + 1)] = T(1);
      substituted<T>(m, factors.data(), pivots.data(), 'N', m, a);
    });
  });
  if (!op.check_errors) return;
  if (Trouble t{out[1]})
    throw LinAlgError(str(t.start("linalg.inv", out[1]), "The diagonal element ", t.info, " is zero, the inversion could not be completed because "
                          "the input matrix is singular."));
}

// f(i, U's diagonal element by element, whether the exchanges turn the sign) for each matrix.
template <class T, class F> void each_lu(const Tensor& A, F&& f) {
  const Matrices shape(A);
  const bool done = in_lanes<T>(A, shape, cube(shape), [&](const auto& lu, int64_t first, int64_t count) {
    const auto factors = lu.numbers();
    for (int64_t m = 0; m < count; m++) {
      bool odd = false;
      for (int j = 0; j < shape.rows; j++) odd ^= factors.pivot[j][m] != T(j);
      f(first + m, [&](int j) { return factors.diagonal[j][m]; }, shape.rows, odd);
    }
  });
  if (done) return;
  Tensor lu = columns_of(A);
  Matrices m(lu);
  each_matrix(m.batch, cube(m), [&](int64_t i) {
    std::vector<int> pivots(m.rows);
    T* a = m.at<T>(lu, i);
    factored<T>(m, a, pivots.data());
    bool odd = false;
    for (int j = 0; j < m.rows; j++) odd ^= pivots[j] != j + 1;
    f(i, [&](int j) { return a[j + int64_t(j) * m.ld]; }, m.rows, odd);
  });
}

void det(const Det&, Inputs in, Outputs out) {
  const std::complex<double> one = 1;  // of matrices without elements
  if (in[0].numel() == 0) return convert(DType::complex128, &one, 0, out[0].dtype(), out[0].raw(), 1, out[0].numel());
  visit_lapack_dtype("linalg.det", in[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_lu<T>(in[0], [&](int64_t i, auto&& pivot, int n, bool odd) {
      T product(odd ? -1 : 1);
      for (int j = 0; j < n; j++) product *= pivot(j);
      out[0].data<T>()[i] = product;
    });
  });
}

void slogdet(const Slogdet&, Inputs in, Outputs out) {
  visit_lapack_dtype("linalg.slogdet", in[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_lu<T>(in[0], [&](int64_t i, auto&& pivot, int n, bool odd) {
      T sign(odd ? -1 : 1);
      Part<T> sum(0);
      for (int j = 0; j < n; j++) {
        T p = pivot(j);
        Part<T> size = std::abs(p);
        if constexpr (kIsComplex<T>) sign *= size == 0 ? T(0) : p / size;
        else sign *= p > 0 ? T(1) : p < 0 ? T(-1) : T(0);  // also of NaN, as in PyTorch
        sum += std::log(size);
      }
      out[0].data<T>()[i] = sign;
      out[1].data<Part<T>>()[i] = sum;
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<LuFactorEx, lu_factor>(DeviceType::cpu);
  set_kernel<LuOrder, lu_order>(DeviceType::cpu);
  set_kernel<LuApply, lu_apply>(DeviceType::cpu);
  set_kernel<SolveLu, solve_lu>(DeviceType::cpu);
  set_kernel<InvEx, inv>(DeviceType::cpu);
  set_kernel<Det, det>(DeviceType::cpu);
  set_kernel<Slogdet, slogdet>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
