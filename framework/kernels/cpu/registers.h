// A run of numbers in whole registers, the last of which may be filled in part.
#pragma once
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

/// The first n numbers at p, zeros behind them.
template <class T> Vec<T> load(const T* p, int n) {
  if (n == Vec<T>::size) return Vec<T>::load(p);
#ifdef __AVX512F__  // by masks: what is stored in pieces and loaded whole waits for the store
  if constexpr (std::is_same_v<T, float>) return typename Vec<T>::V(_mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p));
  if constexpr (std::is_same_v<T, double>) return typename Vec<T>::V(_mm512_maskz_loadu_pd(__mmask8((1u << n) - 1), p));
#endif
  T pad[Vec<T>::size] = {};
  std::memcpy(pad, p, n * sizeof(T));
  return Vec<T>::load(pad);
}
/// The first n lanes to p.
template <class T> void store(Vec<T> v, T* p, int n) {
  if (n == Vec<T>::size) return v.store(p);
#ifdef __AVX512F__
  if constexpr (std::is_same_v<T, float>) return _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), __m512(v.v));
  if constexpr (std::is_same_v<T, double>) return _mm512_mask_storeu_pd(p, __mmask8((1u << n) - 1), __m512d(v.v));
#endif
  T pad[Vec<T>::size];
  v.store(pad);
  std::memcpy(p, pad, n * sizeof(T));
}
/// f(j, count) for each register of n numbers: those from j on.
template <class T, class F> void for_registers(int64_t n, F&& f) {
  constexpr int w = Vec<T>::size;
  int64_t j = 0;
  for (; j + w <= n; j += w) f(j, w);
  if (j < n) f(j, int(n - j));
}

/// start joined with all of n numbers, in no defined order.
template <class T, class F> T fold(const T* x, int64_t n, T start, F&& join) {
  constexpr int w = Vec<T>::size, k = 4;  // four chains, since one waits for its own result
  Vec<T> acc[k] = {Vec<T>(start), Vec<T>(start), Vec<T>(start), Vec<T>(start)};
  int64_t i = 0;
  for (; i + k * w <= n; i += k * w)
    for (int j = 0; j < k; j++) acc[j] = join(acc[j], Vec<T>::load(x + i + j * w));
  for (; i + w <= n; i += w) acc[0] = join(acc[0], Vec<T>::load(x + i));
  T r = across_lanes(join(join(acc[0], acc[1]), join(acc[2], acc[3])), join);
  for (; i < n; i++) r = join(Vec<T>(r), Vec<T>(x[i])).v[0];
  return r;
}
/// y = f(x), register by register.
template <class T, class F> void map(const T* x, T* y, int64_t n, F&& f) {
  for_registers<T>(n, [&](int64_t i, int count) { store(f(load(x + i, count)), y + i, count); });
}
/// NaN where one of them is.
template <class T> T largest_of(const T* x, int64_t n) {
  return fold(x, n, -std::numeric_limits<T>::infinity(), [](auto a, auto b) { return where((a > b) | (a != a), a, b); });
}
template <class T> T sum_of(const T* x, int64_t n) {
  return fold(x, n, T(0), [](auto a, auto b) { return a + b; });
}

}  // namespace WEIR_ISA
}  // namespace weir
