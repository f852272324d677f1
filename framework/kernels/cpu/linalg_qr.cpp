#include "framework/ops/linalg_qr.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/kernels/cpu/lapack.h"
#include "framework/kernels/cpu/reflectors.h"
#include "framework/kernels/cpu/small_matrix.h"
#include "framework/kernels/cpu/tall.h"

namespace weir {
namespace WEIR_ISA {
namespace {

double cube(const Matrices& m) { return 2.0 * double(m.each) * std::min(m.rows, m.cols); }

// The first `cols` columns of the product of `count` reflectors, over them.
template <class T> void generated(int rows, int cols, int count, T* a, int ld, const T* tau) {
  if (rows == 0 || cols == 0) return;
  int info = 0;
  with_work<T>([&](T* work, int* length) {
    if constexpr (kIsComplex<T>) lapack<"ungqr", T>(&rows, &cols, &count, a, &ld, tau, work, length, &info);
    else lapack<"orgqr", T>(&rows, &cols, &count, a, &ld, tau, work, length, &info);
  });
}

void qr(const Qr& op, Inputs in, Outputs out) {
  Tensor packed = columns_of(in[0]);
  Matrices m(packed), r(out[1]);
  const int k = std::min(m.rows, m.cols);
  const bool wanted = !(op.mode == "r");
  visit_lapack_dtype("linalg.qr", packed.dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, 2 * cube(m), [&](int64_t i) {
      T* a = m.at<T>(packed, i);
      auto put_upper = [&](auto from) {
        T* upper = r.at<T>(out[1], i);
        for (int j = 0; j < m.cols; j++)
          for (int row = 0; row < r.rows; row++) upper[row + int64_t(j) * r.ld] = row <= j && row < m.rows ? from(row, j) : T(0);
      };
      if constexpr (!kIsComplex<T>) {
        if (Small<T>::fits(m.rows, m.cols) && is_tame(a, m.each)) {
          Small<T> rows = Small<T>::rows(a, m.rows, m.cols, m.ld), orthonormal;
          const int columns = wanted ? as_int(out[0].size(-1)) : 0;
          small_qr(m.rows, m.cols, rows, wanted ? &orthonormal : nullptr, columns);
          put_upper([&](int row, int j) { return rows[row][j]; });
          T* q = wanted ? out[0].data<T>() + i * m.rows * columns : nullptr;
          for (int j = 0; j < columns; j++)
            for (int row = 0; row < m.rows; row++) q[row + int64_t(j) * m.rows] = orthonormal[row][j];
          return;
        }
        if (Reflectors<T>::fit(m.rows, m.cols) && is_tame(a, m.each)) {
          Reflectors<T> reflectors(a, m.rows, m.cols, m.ld);
          put_upper([&](int row, int j) { return reflectors.upper(row, j); });
          if (wanted) reflectors.orthonormal(out[0].data<T>() + i * m.rows * out[0].size(-1), as_int(out[0].size(-1)));
          return;
        }
      }
      std::vector<T> tau(k);
      factored<T>(m, a, tau.data());
      put_upper([&](int row, int j) { return a[row + int64_t(j) * m.ld]; });
      if (!wanted) return;
      Matrices q(out[0]);
      T* to = q.at<T>(out[0], i);
      std::copy_n(a, int64_t(m.rows) * std::min(q.cols, m.cols), to);
      if (q.cols > m.cols) std::fill(to + int64_t(m.rows) * m.cols, to + q.each, T(0));
      generated<T>(q.rows, q.cols, k, to, q.ld, tau.data());
    });
  });
}

void geqrf(const Geqrf&, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  Matrices m(out[0]);
  const int k = std::min(m.rows, m.cols);
  visit_lapack_dtype("geqrf", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) { factored<T>(m, m.at<T>(out[0], i), out[1].data<T>() + i * k); });
  });
}

// The factors of reflectors, row-major. One with a part that is NaN is NaN: OpenBLAS would scale by its other part alone.
Tensor factors_of(const Tensor& tau) {
  if (!is_complex(tau.dtype())) return row_major(tau);
  const Tensor own = copied(tau, Meta(tau.sizes(), tau.dtype()));
  visit_lapack_dtype("factors_of", own.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (kIsComplex<T>) {
      constexpr auto nan = std::numeric_limits<Part<T>>::quiet_NaN();
      std::replace_if(own.data<T>(), own.data<T>() + own.numel(), [](T v) { return std::isnan(v.real()) || std::isnan(v.imag()); }, T(nan, nan));
    }
  });
  return own;
}

void householder(const HouseholderParts&, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  const Tensor tau = factors_of(in[1]);
  Matrices m(out[0]);
  const int k = as_int(tau.size(-1));
  visit_lapack_dtype("linalg.householder_product", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) { generated<T>(m.rows, m.cols, k, m.at<T>(out[0], i), m.ld, tau.data<T>() + i * k); });
  });
}

void ormqr(const OrmqrParts& op, Inputs in, Outputs out) {
  run_copy(in[2], out[0]);
  Tensor packed = columns_of(in[0]), tau = factors_of(in[1]);
  Matrices a(packed), c(out[0]);
  const int k = as_int(tau.size(-1));
  visit_lapack_dtype("ormqr", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(c.batch, double(c.each) * k, [&](int64_t i) {
      if (c.each == 0 || k == 0) return;
      char side = op.left ? 'L' : 'R', turn = !op.transpose ? 'N' : kIsComplex<T> ? 'C' : 'T';
      int info = 0;
      T *v = a.at<T>(packed, i), *to = c.at<T>(out[0], i);
      const T* factors = tau.data<T>() + i * k;
      with_work<T>([&](T* work, int* length) {
        if constexpr (kIsComplex<T>) lapack<"unmqr", T>(&side, &turn, &c.rows, &c.cols, &k, v, &a.ld, factors, to, &c.ld, work, length, &info);
        else lapack<"ormqr", T>(&side, &turn, &c.rows, &c.cols, &k, v, &a.ld, factors, to, &c.ld, work, length, &info);
      });
    });
  });
}

// gels and gelsy where they scale nothing and there are as many equations as unknowns: their own steps, without their norms, which ask every
// number by a call whether it is NaN.
template <class T> bool needs_no_norms(const Matrices& m, const T* a, const Matrices& b, const T* x) {
  return m.rows >= m.cols && needs_no_scale(a, m.each) && needs_no_scale(x, b.each);
}
template <class T> int plain_gels(const Matrices& m, T* a, const Matrices& b, T* x) {
  char upper = 'U', plain = 'N';
  int info = 0;
  std::vector<T> tau(m.cols);
  factored<T>(m, a, tau.data());
  apply<T>(true, m, a, tau.data(), b, x);
  lapack<"trtrs", T>(&upper, &plain, &plain, &m.cols, &b.cols, a, &m.ld, x, &b.ld, &info);
  return info;
}
// How many leading columns of R are well conditioned: extremes of singular values are followed from column to column.
template <class T> int rank_of(const Matrices& m, const T* r, Part<T> rcond) {
  using R = Part<T>;
  std::vector<T> smallest(m.cols, T(1)), greatest(m.cols, T(1));
  R least = std::abs(r[0]), most = least;
  if (most == 0) return 0;
  int rank = 1;
  for (const int to_greatest = 1, to_least = 2; rank < m.cols; rank++) {
    const T* column = r + int64_t(rank) * m.ld;
    R next_least = 0, next_most = 0;
    T s[2]{}, c[2]{};
    lapack<"laic1", T>(&to_least, &rank, smallest.data(), &least, column, column + rank, &next_least, s, c);
    lapack<"laic1", T>(&to_greatest, &rank, greatest.data(), &most, column, column + rank, &next_most, s + 1, c + 1);
    if (!(next_most * rcond <= next_least)) break;
    for (int i = 0; i < rank; i++) smallest[i] *= s[0], greatest[i] *= s[1];
    smallest[rank] = c[0], greatest[rank] = c[1], least = next_least, most = next_most;
  }
  return rank;
}
// The rank; x becomes the shortest of the best answers.
template <class T> int plain_gelsy(const Matrices& m, T* a, const Matrices& b, T* x, Part<T> rcond) {
  std::vector<int> order(m.cols, 0);
  std::vector<T> tau(m.cols), free(m.cols), line(m.cols);
  std::vector<Part<T>> reals(kIsComplex<T> ? 2 * m.cols : 0);
  int info = 0;
  with_work<T>([&](T* work, int* length) {
    if constexpr (kIsComplex<T>) lapack<"geqp3", T>(&m.rows, &m.cols, a, &m.ld, order.data(), tau.data(), work, length, reals.data(), &info);
    else lapack<"geqp3", T>(&m.rows, &m.cols, a, &m.ld, order.data(), tau.data(), work, length, &info);
  });
  const int rank = rank_of<T>(m, a, rcond), rest = m.cols - rank;
  if (rank == 0) return std::fill_n(x, b.each, T(0)), 0;
  if (rest)
    with_work<T>([&](T* work, int* length) { lapack<"tzrzf", T>(&rank, &m.cols, a, &m.ld, free.data(), work, length, &info); });
  apply<T>(true, m, a, tau.data(), b, x);
  char side = 'L', upper = 'U', plain = 'N', turn = kIsComplex<T> ? 'C' : 'T';
  blas_trsm<T>(side, upper, plain, plain, rank, b.cols, a, m.ld, x, b.ld);
  if (rest) {
    for (int j = 0; j < b.cols; j++) std::fill_n(x + int64_t(j) * b.ld + rank, rest, T(0));
    with_work<T>([&](T* work, int* length) {
      if constexpr (kIsComplex<T>) lapack<"unmrz", T>(&side, &turn, &m.cols, &b.cols, &rank, &rest, a, &m.ld, free.data(), x, &b.ld, work, length, &info);
      else lapack<"ormrz", T>(&side, &turn, &m.cols, &b.cols, &rank, &rest, a, &m.ld, free.data(), x, &b.ld, work, length, &info);
    });
  }
  for (int j = 0; j < b.cols; j++) {
    T* column = x + int64_t(j) * b.ld;
    for (int i = 0; i < m.cols; i++) line[order[i] - 1] = column[i];
    std::copy_n(line.data(), m.cols, column);
  }
  return rank;
}

// One system by `driver`: B becomes X, with what is left over below it. Returns LAPACK's info.
template <class T> int least_squares(std::string_view driver, const Matrices& m, T* a, const Matrices& b, T* x, Part<T> rcond, int* rank, Part<T>* s) {
  using R = Part<T>;
  int info = 0, query = -1;
  const int k = std::min(m.rows, m.cols);
  std::vector<R> reals(kIsComplex<T> ? std::max(2 * m.cols, 5 * k) : 0);
  if (driver == "gels") {
    if (needs_no_norms<T>(m, a, b, x)) return plain_gels<T>(m, a, b, x);
    char turn = 'N';
    with_work<T>([&](T* work, int* length) { lapack<"gels", T>(&turn, &m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, work, length, &info); });
  } else if (driver == "gelsy") {
    if (needs_no_norms<T>(m, a, b, x)) return *rank = plain_gelsy<T>(m, a, b, x, rcond), 0;
    std::vector<int> order(m.cols, 0);
    with_work<T>([&](T* work, int* length) {
      if constexpr (kIsComplex<T>)
        lapack<"gelsy", T>(&m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, order.data(), &rcond, rank, work, length, reals.data(), &info);
      else lapack<"gelsy", T>(&m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, order.data(), &rcond, rank, work, length, &info);
    });
  } else if (m.rows >= 2 * m.cols && needs_no_norms<T>(m, a, b, x)) {
    std::vector<T> tau(k);
    factored<T>(m, a, tau.data());
    apply<T>(true, m, a, tau.data(), b, x);
    Scratch<T> r = upper_of<T>(m, a);
    return least_squares<T>(driver, square_of(m), r.data(), b, x, rcond, rank, s);
  } else if (driver == "gelss") {
    with_work<T>([&](T* work, int* length) {
      if constexpr (kIsComplex<T>)
        lapack<"gelss", T>(&m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, s, &rcond, rank, work, length, reals.data(), &info);
      else lapack<"gelss", T>(&m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, s, &rcond, rank, work, length, &info);
    });
  } else {
    int wholes = 0;
    T size{};
    R real_size{};
    auto run = [&](T* work, int* length, R* scratch, int* places) {
      if constexpr (kIsComplex<T>)
        lapack<"gelsd", T>(&m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, s, &rcond, rank, work, length, scratch, places, &info);
      else lapack<"gelsd", T>(&m.rows, &m.cols, &b.cols, a, &m.ld, x, &b.ld, s, &rcond, rank, work, length, places, &info);
    };
    run(&size, &query, &real_size, &wholes);
    int length = work_size(size);
    Scratch<T> work(length);
    std::vector<R> scratch(work_size(real_size));
    std::vector<int> places(std::max(wholes, 1));
    run(work.data(), &length, scratch.data(), places.data());
  }
  return info;
}

void lstsq(const LstsqParts& op, Inputs in, Outputs out) {
  const Tensor &A = in[0], &B = in[1];
  const int64_t rows = A.size(-2), n = A.size(-1), large = std::max(rows, n), k = std::min(rows, n), columns = B.size(-1);
  Dims batch = batch_of(A);
  auto sized = [&](int64_t last) { Dims d = batch; d.push(last); return d; };
  Tensor copy = columns_of(A), whole = empty_columns(with_matrix(batch, large, columns), A.dtype());
  Tensor head = alias(whole, B.sizes(), whole.strides(), whole->offset);
  Matrices m(copy), b(whole);
  const bool ranked = !(op.driver == "gels"), valued = op.driver == "gelsd" || op.driver == "gelss";
  visit_lapack_dtype("linalg.lstsq", A.dtype(), [&]<class T>(TypeTag<T>) {
    using R = Part<T>;
    if (rows < n) std::fill_n(whole.data<T>(), whole.numel(), T(0));
    run_copy(B, head);
    check<LinAlgError>(std::isfinite(largest(copy.data<T>(), copy.numel())), "torch.linalg.lstsq: the input matrix contains non-finite values");
    out[2] = ranked ? empty(batch, DType::int64) : empty(Dims{0}, DType::int64);
    out[3] = empty(valued ? sized(k) : Dims{0}, dtype_of<R>());
    if (valued) std::fill_n(out[3].data<R>(), out[3].numel(), R(0));
    bool full = true;
    std::vector<int> ranks(m.batch, ranked ? 0 : int(n));
    each_matrix(m.batch, 4 * cube(m) + double(m.each) * columns, [&](int64_t i) {
      if (m.each == 0 || b.each == 0) return;
      std::vector<R> s(k);
      int info = least_squares<T>(op.driver.view(), m, m.at<T>(copy, i), b, b.at<T>(whole, i), R(op.rcond), &ranks[i], valued ? out[3].data<R>() + i * k : s.data());
      check<LinAlgError>(info == 0, "torch.linalg.lstsq: ", m.batch > 1 ? str("(Batch element ", i, "): ") : "", "The least squares solution could not "
                         "be computed because the input matrix does not have full rank (error code: ", info, ").");
    });
    for (int64_t i = 0; i < m.batch; i++) {
      full = full && ranks[i] == n;
      if (ranked) out[2].data<int64_t>()[i] = ranks[i];
    }
    const bool left_over = rows > n && full && !(op.driver == "gelsy");
    out[1] = empty(left_over ? sized(columns) : Dims{0}, dtype_of<R>());
    for (int64_t i = 0; left_over && i < m.batch * columns; i++) {
      double sum = 0;  // of as many squares as there are rows
      for (int64_t r = n; r < rows; r++) sum += double(std::norm(whole.data<T>()[i * large + r]));
      out[1].data<R>()[i] = R(sum);
    }
  });
  out[0] = alias(whole, with_matrix(batch, n, columns), whole.strides(), whole->offset);
}

}  // namespace

static const bool registered = [] {
  set_kernel<Qr, qr>(DeviceType::cpu);
  set_kernel<Geqrf, geqrf>(DeviceType::cpu);
  set_kernel<HouseholderParts, householder>(DeviceType::cpu);
  set_kernel<OrmqrParts, ormqr>(DeviceType::cpu);
  set_kernel<LstsqParts, lstsq>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
