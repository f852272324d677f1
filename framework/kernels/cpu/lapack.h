// BLAS and LAPACK behind one door: OpenBLAS from the wheel scipy-openblas32, opened when first asked for.
//
// Routines keep their Fortran arguments: everything by address, matrices column by column, 32-bit integers. OpenBLAS's own
// threads are turned off: batches and strips of large products are shared among ours, and two pools would fight for the cores.
#pragma once
#include <dlfcn.h>
#include <omp.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <climits>
#include <string>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/triangle_lanes.h"
#include "framework/ops/linalg.h"

namespace weir {
namespace WEIR_ISA {

constexpr size_t kBlasBuffer = 32 << 20;  // bytes that OpenBLAS works in for each call in flight, and keeps

/// OpenBLAS ends the process where it finds no memory: what it is about to take is asked for first, where a lack is an error still.
inline void check_room(size_t bytes) {
  void* here = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check<OutOfMemory>(here != MAP_FAILED, "linear algebra: not enough memory for OpenBLAS and its buffers, ", bytes, " bytes");
  munmap(here, bytes);
}

/// Lets each thread of ours have its buffer now: a call makes one when it finds the others in use.
inline void make_buffers(void* library, int threads) {
  check_room(kBlasBuffer * size_t(threads));
  using Solve = void (*)(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
                         const int*, double*, const int*, size_t, size_t, size_t, size_t);
  auto solve = reinterpret_cast<Solve>(dlsym(library, "scipy_dtrsm_"));
  check<NotImplemented>(solve, "OpenBLAS has no dtrsm");
  starting_pool();
#pragma omp parallel num_threads(threads)
  {
    constexpr int n = 64;
    std::array<double, n * n> a, b;
    a.fill(1), b.fill(1);
    const int size = n;
    const double one = 1;
#pragma omp barrier  // all at once, since a call takes the first buffer that is free
    solve("L", "U", "N", "U", &size, &size, &one, a.data(), &size, b.data(), &size, 1, 1, 1, 1);
  }
}

inline void* openblas() {
  static void* const library = [] {
    constexpr size_t kLibrary = 48 << 20, kThread = 8 << 20;  // it starts a thread per core, and has a buffer, when it is opened
    check_room(kLibrary + kBlasBuffer + kThread * size_t(omp_get_num_procs()));
    void* l = dlopen("libscipy_openblas.so", RTLD_NOW | RTLD_LOCAL);
    check<NotImplemented>(l, "linear algebra needs the package scipy-openblas32: ", l ? "" : dlerror());
    reinterpret_cast<void (*)(int)>(dlsym(l, "scipy_openblas_set_num_threads"))(1);
    return l;
  }();
  static std::atomic<int> buffers{0};
  const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  if (buffers.load(std::memory_order_relaxed) < threads) {
    make_buffers(library, threads);
    buffers.store(threads, std::memory_order_relaxed);
  }
  return library;
}

/// A routine's name as a template argument, without the letter of its element type.
template <size_t n> struct Routine {
  char v[n];
  constexpr Routine(const char (&s)[n]) { std::copy_n(s, n, v); }
};

template <class T> constexpr char kLetter = std::is_same_v<T, float> ? 's' : std::is_same_v<T, double> ? 'd'
                                            : std::is_same_v<T, std::complex<float>> ? 'c' : 'z';

/// lapack<"getrf", double>(&m, &n, ...) calls dgetrf.
template <Routine name, class T, class... A> void lapack(A... args) {
  // Fortran takes the length of each text at the end; what is handed over beyond them is not read.
  using F = void (*)(A..., size_t, size_t, size_t, size_t);
  static const F f = [] {
    std::string symbol = std::string("scipy_") + kLetter<T> + name.v + "_";
    void* p = dlsym(openblas(), symbol.c_str());
    check<NotImplemented>(p, "OpenBLAS has no ", symbol);
    return reinterpret_cast<F>(p);
  }();
  f(args..., 1, 1, 1, 1);
}

/// The real type of T's parts.
template <class T> struct PartOf { using type = T; };
template <class R> struct PartOf<std::complex<R>> { using type = R; };
template <class T> using Part = typename PartOf<T>::type;

inline int as_int(int64_t n) {
  check(n <= INT_MAX, "linear algebra: sizes up to ", INT_MAX, " are supported, got ", n);
  return int(n);
}

/// f(TypeTag<T>{}) for the four types that LAPACK has.
template <class F> void visit_lapack_dtype(const char* op, DType t, F&& f) {
  switch (t) {
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: return f(TypeTag<double>{});
    case DType::complex64: return f(TypeTag<std::complex<float>>{});
    case DType::complex128: return f(TypeTag<std::complex<double>>{});
    default: throw NotImplemented(str(op, ": not implemented for ", name_of(t)));
  }
}

/// c (m x n) = alpha * op(a) op(b) + beta * c; ta, tb are 'N', 'T' or 'C'.
template <class T>
void blas_gemm(char ta, char tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  lapack<"gemm", T>(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

/// Solves op(a) X = B ('L') or X op(a) = B ('R') with a triangle a, in the place of B, x (m x n). By halves of the triangle, so that most of the work
/// is products.
template <class T>
void blas_trsm(char side, char half, char turn, char unit, int m, int n, const T* a, int lda, T* x, int ldx) {
  const bool left = side == 'L', lower = (half == 'L') == (turn == 'N');  // of op(a)
  const int order = left ? m : n, first = (order / 2 + 7) / 8 * 8, rest = order - first;
  if constexpr (kIsComplex<T>) {
    const T one(1);
    return lapack<"trsm", T>(&side, &half, &turn, &unit, &m, &n, &one, a, &lda, x, &ldx);
  } else if (order <= LaneTriangle<T>::kOrder) {
    const bool down = left == (turn == 'N');  // a column of `a` holds what an unknown adds to the equations
    const LaneTriangle<T> t(a, order, left == lower, unit == 'U', down ? lda : 1, down ? 1 : lda);
    return left ? t.solve(x, n, 1, ldx) : t.solve(x, m, ldx, 1);
  } else {
    const T* corner = half == 'L' ? a + first : a + int64_t(first) * lda;
    const T* far = a + int64_t(first) * (lda + 1);
    T* const later = left ? x + first : x + int64_t(first) * ldx;
    auto begin = [&] { blas_trsm(side, half, turn, unit, left ? first : m, left ? n : first, a, lda, x, ldx); };
    auto end = [&] { blas_trsm(side, half, turn, unit, left ? rest : m, left ? n : rest, far, lda, later, ldx); };
    auto take = [&](const T* known, T* from, int rows, int inner) {  // what is known off what is not
      if (left) blas_gemm<T>(turn, 'N', rows, n, inner, T(-1), corner, lda, known, ldx, T(1), from, ldx);
      else blas_gemm<T>('N', turn, m, rows, inner, T(-1), known, ldx, corner, lda, T(1), from, ldx);
    };
    if (left == lower) begin(), take(x, later, rest, first), end();
    else end(), take(later, x, first, rest), begin();
  }
}

/// The sizes and the dense, column by column batches of matrices that LAPACK takes.
struct Matrices {
  int rows, cols, ld;
  int64_t batch, each;  // matrices, and elements of one

  explicit Matrices(const Tensor& t)
      : rows(as_int(t.size(-2))), cols(as_int(t.size(-1))), ld(std::max(rows, 1)), batch(1), each(int64_t(rows) * cols) {
    for (int d = 0; d + 2 < t.ndim(); d++) batch *= t.sizes()[d];
  }
  template <class T> T* at(const Tensor& t, int64_t i) const { return t.data<T>() + i * each; }
};

/// A copy of `t` that LAPACK may overwrite.
inline Tensor columns_of(const Tensor& t) { return copied(t, Meta(t.sizes(), column_strides(t.sizes()), t.dtype(), t.device())); }
inline Tensor empty_columns(const Dims& sizes, DType t) { return empty(Meta(sizes, column_strides(sizes), t, Device{})); }

/// f(i) for each matrix of a batch, whose work is about `cost` operations each, on several threads.
template <class F> void each_matrix(int64_t batch, double cost, F&& f) {
  openblas();
  int64_t grain = cost >= kGrain ? 1 : int64_t(kGrain / std::max(cost, 1.0));
  parallel_for(batch, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) f(i);
  });
}

/// What a routine asks for as scratch memory: the first number of its answer to a query.
template <class T> int work_size(T answer) { return std::max(1, int(std::real(answer))); }
/// run(work, length) twice: once to ask for the length.
template <class T, class F> void with_work(F&& run) {
  int query = -1;
  T size{};
  run(&size, &query);
  int length = work_size(size);
  Scratch<T> work(length);
  run(work.data(), &length);
}

}  // namespace WEIR_ISA
}  // namespace weir
