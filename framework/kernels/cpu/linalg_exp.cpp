#include "framework/ops/linalg_exp.h"

#include <cmath>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/lapack.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Up to this norm the approximant below is exact to double's rounding. Source: Higham 2005, table 2.3, degree 13.
constexpr double kApproximated = 5.371920351148152;
constexpr double kPade[] = {64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600.,
                            670442572800., 33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.};

/// Scaling and squaring with a Pade approximant. Source: Higham 2005, "The scaling and squaring method for the matrix
/// exponential revisited". The result is the same for a matrix that lies row by row: exp(A^T) = exp(A)^T.
template <class T> struct Exponential {
  using R = Part<T>;
  int n;
  size_t size;
  Scratch<T> a2, a4, a6, u, v, w;

  explicit Exponential(int n) : n(n), size(size_t(n) * n), a2(size), a4(size), a6(size), u(size), v(size), w(size) {}

  void product(const T* a, const T* b, T* c) { blas_gemm<T>('N', 'N', n, n, n, T(1), a, n, b, n, T(0), c, n); }
  // to = p6 A^6 + p4 A^4 + p2 A^2 + p0 I
  void even(Scratch<T>& to, double p6, double p4, double p2, double p0) {
    for (size_t i = 0; i < size; i++) to[i] = T(R(p6)) * a6[i] + T(R(p4)) * a4[i] + T(R(p2)) * a2[i];
    for (int i = 0; i < n; i++) to[i * size_t(n + 1)] += T(R(p0));
  }

  void run(T* a) {
    double norm = 0;
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int i = 0; i < n; i++) sum += std::abs(a[i + size_t(j) * n]);
      norm = !(sum <= norm) ? sum : norm;
    }
    if (!std::isfinite(norm)) return void(std::fill_n(a, size, T(std::numeric_limits<R>::quiet_NaN())));
    const int halvings = norm > kApproximated ? int(std::ceil(std::log2(norm / kApproximated))) : 0;
    for (size_t i = 0; i < size; i++) a[i] *= T(R(std::ldexp(1.0, -halvings)));
    product(a, a, a2.data()), product(a2.data(), a2.data(), a4.data()), product(a4.data(), a2.data(), a6.data());
    auto c = [](int k) { return kPade[k] / kPade[0]; };
    even(w, c(13), c(11), c(9), 0), product(a6.data(), w.data(), v.data());
    even(w, c(7), c(5), c(3), c(1));
    for (size_t i = 0; i < size; i++) w[i] += v[i];
    product(a, w.data(), u.data());
    even(w, c(12), c(10), c(8), 0), product(a6.data(), w.data(), v.data());
    even(w, c(6), c(4), c(2), c(0));
    for (size_t i = 0; i < size; i++) v[i] += w[i];
    for (size_t i = 0; i < size; i++) w[i] = v[i] - u[i], a[i] = v[i] + u[i];
    std::vector<int> pivots(n);
    int info = 0;
    lapack<"gesv", T>(&n, &n, w.data(), &n, pivots.data(), a, &n, &info);
    for (int k = 0; k < halvings; k++) product(a, a, u.data()), std::copy_n(u.data(), size, a);
  }
};

void matrix_exp(const MatrixExpParts&, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  if (out[0].numel() == 0) return;
  Matrices m(out[0]);
  visit_lapack_dtype("linalg.matrix_exp", out[0].dtype(), [&]<class T>(TypeTag<T>) {
    each_matrix(m.batch, 16.0 * double(m.each) * m.rows, [&](int64_t i) {
      T* a = m.at<T>(out[0], i);
      if (m.rows == 1) return void(a[0] = std::exp(a[0]));
      // Squaring multiplies what rounding lost: in double, float32 comes out with all its digits.
      using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;
      Scratch<Wide> wide(a, a + m.each);
      Exponential<Wide>(m.rows).run(wide.data());
      for (int64_t k = 0; k < m.each; k++) a[k] = T(wide[size_t(k)]);
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<MatrixExpParts, matrix_exp>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
