// Matrices of more rows than columns: what LAPACK's drivers do of them is done of a triangle, R of A = Q R.
#pragma once
#include <bit>
#include <limits>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/lapack.h"

namespace weir {
namespace WEIR_ISA {

/// The largest magnitude among n numbers, by their bits: these have the order of magnitudes, with infinity and NaN behind all.
template <class R> R largest(const R* x, int64_t n) {
  using Bits = std::conditional_t<sizeof(R) == 4, int32_t, int64_t>;
  Bits most = 0;
  for (int64_t i = 0; i < n; i++) most = std::max(most, std::bit_cast<Bits>(x[i]) & std::numeric_limits<Bits>::max());
  return std::bit_cast<R>(most);
}
template <class R> R largest(const std::complex<R>* x, int64_t n) { return largest(reinterpret_cast<const R*>(x), 2 * n); }
/// Whether the drivers would take numbers as they are: the largest is neither zero nor so small or large that a product might not be normal.
template <class T> bool needs_no_scale(const T* x, int64_t n) {
  using R = Part<T>;
  constexpr R least = 2 * std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  const R most = largest(x, n);
  return most > least && most < 1 / least;
}

/// R in the upper triangle of `a`, below it the vectors of the reflectors that make Q, and their factors.
template <class T> void factored(const Matrices& m, T* a, T* tau) {
  if (m.each == 0) return;
  int info = 0;
  with_work<T>([&](T* work, int* length) { lapack<"geqrf", T>(&m.rows, &m.cols, a, &m.ld, tau, work, length, &info); });
}
/// x = Q x of what was factored, or Q^H x.
template <class T> void apply(bool turned, const Matrices& m, const T* a, const T* tau, const Matrices& b, T* x) {
  char side = 'L', turn = !turned ? 'N' : kIsComplex<T> ? 'C' : 'T';
  const int k = std::min(m.rows, m.cols);
  int info = 0;
  with_work<T>([&](T* work, int* length) {
    if constexpr (kIsComplex<T>) lapack<"unmqr", T>(&side, &turn, &m.rows, &b.cols, &k, a, &m.ld, tau, x, &b.ld, work, length, &info);
    else lapack<"ormqr", T>(&side, &turn, &m.rows, &b.cols, &k, a, &m.ld, tau, x, &b.ld, work, length, &info);
  });
}
/// The shape of R without its zero rows.
inline Matrices square_of(Matrices m) {
  m.rows = m.ld = m.cols, m.each = int64_t(m.cols) * m.cols, m.batch = 1;
  return m;
}
/// R by itself.
template <class T> Scratch<T> upper_of(const Matrices& m, const T* a) {
  const int n = m.cols;
  Scratch<T> r(size_t(n) * n);
  for (int j = 0; j < n; j++) {
    std::copy_n(a + int64_t(j) * m.ld, j + 1, r.data() + int64_t(j) * n);
    std::fill_n(r.data() + int64_t(j) * n + j + 1, n - j - 1, T(0));
  }
  return r;
}

}  // namespace WEIR_ISA
}  // namespace weir
