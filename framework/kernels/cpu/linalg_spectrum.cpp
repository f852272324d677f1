#include "framework/ops/linalg_spectrum.h"

#include <cmath>
#include <limits>

#include "framework/kernels/cpu/lapack.h"
#include "framework/kernels/cpu/small_matrix.h"
#include "framework/kernels/cpu/tall.h"

namespace weir {
namespace WEIR_ISA {
namespace {

double cube(const Matrices& m) { return 10.0 * double(m.each) * std::min(m.rows, m.cols); }

template <class T> bool finite(const T* a, int64_t n) {
  return std::isfinite(largest(a, n));
}
std::string element(const Tensor& A, int64_t i) { return A.ndim() > 2 ? str("(Batch element ", i, "): ") : ""; }
void check_converged(const char* op, const Tensor& A, int64_t i, int info) {
  check<LinAlgError>(info == 0, op, ": ", element(A, i), "The algorithm failed to converge because the input matrix is ill-conditioned or has "
                     "too many repeated eigenvalues (error code: ", info, ").");
}
// Whether singular values exist: infinite matrices have NaN for them. LinAlgError for NaN.
template <class T> bool regular(const Tensor& A, int64_t i, const T* a, int64_t n) {
  if (finite(a, n)) return true;
  for (int64_t k = 0; k < n; k++)
    check<LinAlgError>(!std::isnan(std::real(a[k])) && !std::isnan(std::imag(a[k])), "linalg.svd: ", element(A, i), "The algorithm failed to converge "
                       "because the input matrix contained non-finite values.");
  return false;
}
void check_finite(const char* op, const Tensor& A, int64_t i, bool finite) {
  check<LinAlgError>(finite, op, ": ", element(A, i), "The algorithm failed to converge because the input matrix contained non-finite values.");
}

// The same of a small real matrix, of which the lower triangle counts, by the steps that LAPACK would take.
template <class T> int small_spectrum(const Matrices& m, T* a, T* values, bool vectors) {
  const int n = m.rows;
  Small<T> whole = Small<T>::columns(a, n, n, m.ld), q;
  for (int j = 0; j < n; j++)
    for (int i = j + 1; i < n; i++) whole[i][j] = whole[j][i];
  T beside[kSmall] = {}, work[2 * kSmall];
  small_tridiagonal(n, whole, values, beside, vectors ? &q : nullptr);
  int info = 0;
  if (!vectors) return lapack<"sterf", T>(&n, values, beside, &info), info;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) a[i + int64_t(j) * m.ld] = q[i][j];
  char job = 'V';
  lapack<"steqr", T>(&job, &n, values, beside, a, &m.ld, work, &info);
  return info;
}

// The eigenvalues of a Hermitian matrix, and in its place the vectors if they are wanted. Returns LAPACK's info.
template <class T> int hermitian_spectrum(const Matrices& m, T* a, Part<T>* values, char side, bool vectors) {
  if (m.rows == 0) return 0;
  if constexpr (!kIsComplex<T>)
    if (side == 'L' && Small<T>::fits(m.rows, m.cols) && is_tame(a, m.each)) return small_spectrum(m, a, values, vectors);
  char job = vectors ? 'V' : 'N';
  int info = 0, query = -1, whole_query = -1, real_query = -1, whole_size = 0;
  T size{};
  Part<T> real_size{};
  auto run = [&](T* work, int* length, Part<T>* reals, int* reals_length, int* wholes, int* wholes_length) {
    if constexpr (kIsComplex<T>)
      lapack<"heevd", T>(&job, &side, &m.rows, a, &m.ld, values, work, length, reals, reals_length, wholes, wholes_length, &info);
    else lapack<"syevd", T>(&job, &side, &m.rows, a, &m.ld, values, work, length, wholes, wholes_length, &info);
  };
  run(&size, &query, &real_size, &real_query, &whole_size, &whole_query);
  int length = work_size(size), reals_length = work_size(real_size), wholes_length = std::max(1, whole_size);
  Scratch<T> work(length);
  std::vector<Part<T>> reals(reals_length);
  std::vector<int> wholes(wholes_length);
  run(work.data(), &length, reals.data(), &reals_length, wholes.data(), &wholes_length);
  return info;
}

char side_of(const Str& UPLO) { return UPLO.view()[0] == 'U' || UPLO.view()[0] == 'u' ? 'U' : 'L'; }

// LAPACK need not return from what is not finite.
template <class T> void triangle_only(const Matrices& m, T* a, char side) {
  for (int64_t j = 0; j < m.cols; j++)
    for (int64_t r = 0; r < m.rows; r++)
      if (side == 'L' ? r < j : r > j) a[r + j * m.ld] = T(0);
}

void hermitian(const char* op, const Tensor& A, const Tensor& matrices, const Tensor& values, const Str& UPLO, bool vectors) {
  if (A.numel() == 0) return;
  Matrices m(matrices);
  visit_lapack_dtype(op, A.dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      T* a = m.at<T>(matrices, i);
      triangle_only(m, a, side_of(UPLO));
      check_finite(op, A, i, finite(a, m.each));
      check_converged(op, A, i, hermitian_spectrum<T>(m, a, values.data<Part<T>>() + i * m.rows, side_of(UPLO), vectors));
    });
  });
}
void eigh(const Eigh& op, Inputs in, Outputs out) {
  run_copy(in[0], out[1]);
  hermitian("linalg.eigh", in[0], out[1], out[0], op.UPLO, true);
}
void eigh_values(const EighValues& op, Inputs in, Outputs out) { hermitian("linalg.eigh", in[0], columns_of(in[0]), out[0], op.UPLO, false); }

// One matrix of any kind: values, and vectors unless null. Real matrices have their complex results in pairs of columns.
template <class T> int spectrum(const Matrices& m, T* a, std::complex<Part<T>>* values, std::complex<Part<T>>* vectors) {
  using C = std::complex<Part<T>>;
  const int n = m.rows;
  if (n == 0) return 0;
  char none = 'N', job = vectors ? 'V' : 'N';
  int info = 0, one = 1;
  T unused{};
  if constexpr (kIsComplex<T>) {
    std::vector<Part<T>> reals(2 * n);
    with_work<T>([&](T* work, int* length) {
      lapack<"geev", T>(&none, &job, &n, a, &m.ld, values, &unused, &one, vectors ? vectors : &unused, vectors ? &m.ld : &one, work, length,
                        reals.data(), &info);
    });
  } else {
    std::vector<T> re(n), im(n);
    Scratch<T> right(vectors ? m.each : 1);
    with_work<T>([&](T* work, int* length) {
      lapack<"geev", T>(&none, &job, &n, a, &m.ld, re.data(), im.data(), &unused, &one, right.data(), vectors ? &m.ld : &one, work, length, &info);
    });
    for (int j = 0; j < n; j++) values[j] = C(re[j], im[j]);
    for (int64_t j = 0; vectors && j < n; j++) {
      const T* column = right.data() + j * n;
      C* to = vectors + j * n;
      if (im[j] == 0) {
        for (int r = 0; r < n; r++) to[r] = C(column[r], 0);
      } else if (j + 1 < n) {
        for (int r = 0; r < n; r++) to[r] = C(column[r], column[r + n]), to[r + n] = std::conj(to[r]);
        j++;
      }
    }
  }
  return info;
}
void general(const Tensor& A, const Tensor& values, const Tensor* vectors) {
  Tensor copy = columns_of(A);
  Matrices m(copy);
  visit_lapack_dtype("linalg.eig", A.dtype(), [&]<class T>(TypeTag<T>) {
    using C = std::complex<Part<T>>;
    check(finite(copy.data<T>(), copy.numel()), "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    each_matrix(m.batch, 2 * cube(m), [&](int64_t i) {
      check_converged("linalg.eig", A, i, spectrum<T>(m, m.at<T>(copy, i), values.data<C>() + i * m.rows, vectors ? m.at<C>(*vectors, i) : nullptr));
    });
  });
}
void eig(const Eig&, Inputs in, Outputs out) { general(in[0], out[0], &out[1]); }
void eig_values(const EigValues&, Inputs in, Outputs out) { general(in[0], out[0], nullptr); }

template <class T> int singular(const Matrices& m, char job, T* a, Part<T>* s, T* u, T* vh);
constexpr int64_t kTall = 1024;  // numbers from which on a triangle pays
// Those of R, turned by Q: gesdd would do the same after a norm that asks every number by a call whether it is NaN.
template <class T> int tall_singular(const Matrices& m, char job, T* a, Part<T>* s, T* u, T* vh) {
  const int n = m.cols;
  std::vector<T> tau(n);
  factored<T>(m, a, tau.data());
  Scratch<T> r = upper_of<T>(m, a), turns(job == 'N' ? 1 : size_t(n) * n);
  const int info = singular<T>(square_of(m), job, r.data(), s, turns.data(), vh);
  if (job == 'N' || info) return info;
  for (int j = 0; j < n; j++) {
    std::copy_n(turns.data() + int64_t(j) * n, n, u + int64_t(j) * m.ld);
    std::fill_n(u + int64_t(j) * m.ld + n, m.rows - n, T(0));
  }
  apply<T>(false, m, a, tau.data(), m, u);
  return 0;
}
// job: 'A' for squares, 'S' for the first columns and rows, 'N' for values only.
template <class T> int singular(const Matrices& m, char job, T* a, Part<T>* s, T* u, T* vh) {
  const int k = std::min(m.rows, m.cols), large = std::max(m.rows, m.cols);
  if (k == 0) return 0;
  if (job != 'A' && m.rows >= 2 * m.cols && m.each >= kTall && needs_no_scale(a, m.each)) return tall_singular<T>(m, job, a, s, u, vh);
  int ldu = m.ld, ldv = std::max(job == 'A' ? m.cols : k, 1), info = 0;
  std::vector<int> wholes(8 * size_t(k));
  std::vector<Part<T>> reals(kIsComplex<T> ? size_t(k) * std::max(5 * k + 7, 2 * large + 2 * k + 1) : 0);
  with_work<T>([&](T* work, int* length) {
    if constexpr (kIsComplex<T>)
      lapack<"gesdd", T>(&job, &m.rows, &m.cols, a, &m.ld, s, u, &ldu, vh, &ldv, work, length, reals.data(), wholes.data(), &info);
    else lapack<"gesdd", T>(&job, &m.rows, &m.cols, a, &m.ld, s, u, &ldu, vh, &ldv, work, length, wholes.data(), &info);
  });
  return info;
}

// The vectors of matrices without rows or columns, in any dtype.
void set_units(const Tensor& to) {
  const Matrices m(to);
  const double numbers[] = {0, 1};
  const int64_t item = size_of(to.dtype());
  for (int64_t i = 0; i < m.batch; i++)
    for (int64_t j = 0; j < m.cols; j++)
      for (int64_t r = 0; r < m.rows; r++)
        convert(DType::float64, &numbers[r == j], 0, to.dtype(), to.raw() + (i * m.each + j * m.ld + r) * item, 1, 1);
}

void svd(const SvdParts& op, Inputs in, Outputs out) {
  Tensor copy = columns_of(in[0]);
  Matrices m(copy), u(out[1]), vh(out[2]);
  const int k = std::min(m.rows, m.cols);
  if (copy.numel() == 0) return set_units(out[1]), set_units(out[2]);
  visit_lapack_dtype("linalg.svd", copy.dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      T *a = m.at<T>(copy, i), *left = u.at<T>(out[1], i), *right = vh.at<T>(out[2], i);
      Part<T>*s = out[0].data<Part<T>>() + int64_t(i) * k, nan = std::numeric_limits<Part<T>>::quiet_NaN();
      if (!regular(in[0], i, a, m.each)) return void((std::fill_n(s, k, nan), std::fill_n(left, u.each, T(nan)), std::fill_n(right, vh.each, T(nan))));
      check_converged("linalg.svd", in[0], i, singular<T>(m, op.full_matrices ? 'A' : 'S', a, s, left, right));
    });
  });
}
void svd_values(const SvdValues&, Inputs in, Outputs out) {
  Tensor copy = columns_of(in[0]);
  Matrices m(copy);
  const int k = std::min(m.rows, m.cols);
  if (copy.numel() == 0) return;
  visit_lapack_dtype("linalg.svd", copy.dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, cube(m), [&](int64_t i) {
      T *a = m.at<T>(copy, i), unused{};
      Part<T>* s = out[0].data<Part<T>>() + int64_t(i) * k;
      if (!regular(in[0], i, a, m.each)) return void(std::fill_n(s, k, std::numeric_limits<Part<T>>::quiet_NaN()));
      check_converged("linalg.svd", in[0], i, singular<T>(m, 'N', a, s, &unused, &unused));
    });
  });
}

// The singular values of a matrix and the conjugates of its vectors, column by column; of a Hermitian one, whose values have signs, those on one side
// only. Without values where the matrix is not finite.
template <class T> struct Decomposed {
  std::vector<Part<T>> s;
  Scratch<T> left, right;

  Decomposed(const Tensor& A, const Matrices& m, int64_t i, T* a, bool hermitian) {
    const int k = std::min(m.rows, m.cols);
    if (hermitian) triangle_only(m, a, 'L');
    if (!regular(A, i, a, m.each)) return;
    s.resize(k);
    if (hermitian) {
      check_converged("linalg.eigh", A, i, hermitian_spectrum<T>(m, a, s.data(), 'L', true));
      left.assign(a, a + m.each);
    } else {
      left.resize(size_t(m.rows) * k), right.resize(size_t(k) * m.cols);
      check_converged("linalg.svd", A, i, singular<T>(m, 'S', a, s.data(), left.data(), right.data()));
    }
    if constexpr (kIsComplex<T>)
      for (auto* vectors : {&left, &right})
        for (T& x : *vectors) x = std::conj(x);
  }
};
// P = V diag(1 / s) U^H over the values that count; Hermitian matrices have U = V and values of either sign.
void pinv(const PinvParts& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  // One matrix with several tolerances, which is how a batch comes of it, is decomposed once.
  bool one = in[0].ndim() > 2;
  Tensor A = in[0];
  for (int d = 0; d + 2 < A.ndim(); d++) one = one && (A.sizes()[d] == 1 || A.strides()[d] == 0);
  if (one) {
    const int last = A.ndim() - 1;
    A = alias(A, Dims{A.size(-2), A.size(-1)}, Dims{A.strides()[last - 1], A.strides()[last]}, A->offset);
  }
  Tensor copy = columns_of(A), atol = row_major(in[1]), rtol = row_major(in[2]);
  Matrices m(copy);
  const int k = std::min(m.rows, m.cols);
  visit_lapack_dtype("linalg.pinv", copy.dtype(), [&]<class T>(TypeTag<T>) {
    auto put = [&](const Decomposed<T>& d, int64_t i) {
      T* p = out[0].data<T>() + i * m.each;
      if (d.s.empty()) return void(std::fill_n(p, m.each, T(std::numeric_limits<Part<T>>::quiet_NaN())));
      Part<T> largest = 0;
      for (Part<T> v : d.s) largest = std::max(largest, std::abs(v));
      const Part<T> absolute = Part<T>(atol.data<double>()[i]), relative = Part<T>(rtol.data<double>()[i]) * largest;
      const Part<T> limit = std::isnan(absolute) || absolute > relative ? absolute : relative;  // a NaN stays, and no value is above it
      auto factor = [&](int j) { return std::abs(d.s[j]) > limit ? 1 / d.s[j] : Part<T>(0); };
      // Row by row the result is its own transpose: P^T = conj(U) scaled conj(V)^T, of which the smaller factor is scaled.
      Scratch<T> scaled(op.hermitian ? d.left : d.right);
      if (op.hermitian) {
        for (int j = 0; j < k; j++) {
          const Part<T> f = factor(j);
          for (int r = 0; r < m.rows; r++) scaled[r + size_t(j) * m.rows] *= f;
        }
        return blas_gemm<T>('N', kIsComplex<T> ? 'C' : 'T', m.rows, m.cols, k, T(1), scaled.data(), m.ld, d.left.data(), m.ld, T(0), p, m.ld);
      }
      std::vector<Part<T>> factors(k);
      for (int j = 0; j < k; j++) factors[j] = factor(j);
      for (int c = 0; c < m.cols; c++)
        for (int j = 0; j < k; j++) scaled[j + size_t(c) * k] *= factors[j];
      if (k > 1) return blas_gemm<T>('N', 'N', m.rows, m.cols, k, T(1), d.left.data(), m.ld, scaled.data(), k, T(0), p, m.ld);
      for (int c = 0; c < m.cols; c++)
        for (int r = 0; r < m.rows; r++) p[r + size_t(c) * m.ld] = d.left[r] * scaled[c];
    };
    if (!one) return each_matrix(m.batch, 2 * cube(m), [&](int64_t i) { put(Decomposed<T>(in[0], m, i, m.at<T>(copy, i), op.hermitian), i); });
    openblas();
    const Decomposed<T> d(in[0], m, 0, copy.data<T>(), op.hermitian);
    each_matrix(out[0].numel() / m.each, 2.0 * double(m.each) * k, [&](int64_t i) { put(d, i); });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Eigh, eigh>(DeviceType::cpu);
  set_kernel<EighValues, eigh_values>(DeviceType::cpu);
  set_kernel<Eig, eig>(DeviceType::cpu);
  set_kernel<EigValues, eig_values>(DeviceType::cpu);
  set_kernel<SvdParts, svd>(DeviceType::cpu);
  set_kernel<SvdValues, svd_values>(DeviceType::cpu);
  set_kernel<PinvParts, pinv>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
