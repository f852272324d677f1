// Which numbers ReLU let through, a bit for each, the lowest of a byte first: a sixteenth of what its result takes in bfloat16.
#pragma once
#include <cstdint>

#include "framework/kernels/cpu/registers.h"

namespace weir {
namespace WEIR_ISA {

/// As the gradient of ReLU asks: of all but zeros and negative numbers.
template <class T> bool lets_through(T y) { return !(double(y) <= 0); }

/// The bits of n results of a ReLU, from the first of `to` on. Behind the last they are 0.
template <class T> void write_bits(const T* y, int64_t n, uint8_t* to) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  if constexpr (std::is_same_v<T, BFloat16>) {
    const __m512i zero = _mm512_setzero_si512(), infinity = _mm512_set1_epi16(int16_t(0xff80));  // behind the latter as unsigned: NaN with a sign
    for (; i + 32 <= n; i += 32) {
      const __m512i v = _mm512_loadu_si512(y + i);
      const uint32_t bits = _mm512_cmpgt_epi16_mask(v, zero) | _mm512_cmpgt_epu16_mask(v, infinity);
      __builtin_memcpy(to + i / 8, &bits, sizeof bits);
    }
  }
#endif
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    for (; i + 16 <= n; i += 16) {
      const uint16_t bits = _mm512_cmp_ps_mask(_mm512_loadu_ps(y + i), _mm512_setzero_ps(), _CMP_NLE_UQ);
      __builtin_memcpy(to + i / 8, &bits, sizeof bits);
    }
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float>)
    for (; i + 8 <= n; i += 8) to[i / 8] = uint8_t(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(y + i), _mm256_setzero_ps(), _CMP_NLE_UQ)));
#endif
  for (; i < n; i += 8) {
    uint8_t byte = 0;
    for (int64_t k = 0; k < 8 && i + k < n; k++) byte |= uint8_t(lets_through(y[i + k]) << k);
    to[i / 8] = byte;
  }
}

inline bool bit_at(const uint8_t* bits, int64_t i) { return bits[i / 8] >> i % 8 & 1; }
/// v where the bits from number i on are set, 0 elsewhere.
template <class A> Vec<A> where_set(const uint8_t* bits, int64_t i, Vec<A> v) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<A, float>)
    if (i % 8 == 0) {
      uint16_t mask;
      __builtin_memcpy(&mask, bits + i / 8, sizeof mask);
      return Vec<A>((typename Vec<A>::V)_mm512_maskz_mov_ps(mask, (__m512)v.v));
    }
#endif
  A lanes[Vec<A>::size];
  v.store(lanes);
  for (int k = 0; k < Vec<A>::size; k++) lanes[k] = bit_at(bits, i + k) ? lanes[k] : A(0);
  return Vec<A>::load(lanes);
}

}  // namespace WEIR_ISA
}  // namespace weir
