/* Calibration kernels: what this machine can copy and compute, with no framework in between. */
#include <stddef.h>
#include <string.h>

#if defined(__AVX512F__)
enum { kBytes = 64, kChains = 24 };
#elif defined(__AVX__)
enum { kBytes = 32, kChains = 12 };
#else
enum { kBytes = 16, kChains = 12 };
#endif
typedef float vec __attribute__((vector_size(kBytes)));

/* Floating-point operations that one iteration of `flops` does on each thread. */
long flops_per_iter(void) { return 2L * kChains * (kBytes / 4); }

/* Copies `bytes` from src to dst `iters` times, each thread its own part. */
void copy(char* dst, const char* src, size_t bytes, long iters, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; t++) {
    size_t from = bytes / threads * t;
    for (long i = 0; i < iters; i++) {
      memcpy(dst + from, src + from, bytes / threads);
      __asm__ volatile("" ::: "memory"); /* each copy must happen */
    }
  }
}

/* Reads `bytes` from src `iters` times, each thread its own part; returns a sum so that no load can be dropped. */
float read_all(const char* src, size_t bytes, long iters, int threads) {
  float total = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total)
  for (int t = 0; t < threads; t++) {
    size_t count = bytes / threads / sizeof(vec) / 8 * 8;
    const vec* from = (const vec*)(src + bytes / threads / sizeof(vec) * sizeof(vec) * t);
    vec sum[8] = {{0}};
    for (long i = 0; i < iters; i++) {
      for (size_t j = 0; j < count; j += 8)
#pragma GCC unroll 8
        for (int c = 0; c < 8; c++) sum[c] += from[j + c];
      __asm__ volatile("" ::: "memory");
    }
    for (int c = 0; c < 8; c++) total += sum[c][0];
  }
  return total;
}

/* Updates dst in place from src `iters` times, each thread its own part. */
void update(char* dst, const char* src, size_t bytes, long iters, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; t++) {
    size_t count = bytes / threads / sizeof(vec) / 4 * 4, from = bytes / threads / sizeof(vec) * t;
    vec* to = (vec*)dst + from;
    const vec* by = (const vec*)src + from;
    for (long i = 0; i < iters; i++) {
      for (size_t j = 0; j < count; j += 4)
#pragma GCC unroll 4
        for (int c = 0; c < 4; c++) {
          __builtin_prefetch(by + j + c + 512 / sizeof(vec));
          __builtin_prefetch(to + j + c + 512 / sizeof(vec));
          to[j + c] = to[j + c] * 0.5f + by[j + c];
        }
      __asm__ volatile("" ::: "memory");
    }
  }
}

/* Multiply-adds in independent chains, enough of them to hide the latency of the unit. */
float flops(long iters, int threads) {
  float total = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : total)
  for (int t = 0; t < threads; t++) {
    vec x[kChains], scale = {0}, shift = {0};
    scale += 0.999f;
    shift += 0.001f;
    for (int c = 0; c < kChains; c++) x[c] = shift * (float)c;
    for (long i = 0; i < iters; i++) {
#pragma GCC unroll 24
      for (int c = 0; c < kChains; c++) x[c] = x[c] * scale + shift;
    }
    for (int c = 0; c < kChains; c++) total += x[c][0];
  }
  return total;
}
