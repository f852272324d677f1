// Registers of floats from numbers in bfloat16 or float16, and back, rounded to even; NaN becomes the quiet one.
#pragma once
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

typedef uint16_t Half16 __attribute__((vector_size(kVecBytes / 2)));
typedef uint32_t FloatBits __attribute__((vector_size(kVecBytes)));

inline Vec<float> widened(const BFloat16* p) {
#if defined(__AVX512F__)
  const FloatBits bits = (FloatBits)_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__AVX2__)
  const FloatBits bits = (FloatBits)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  Half16 h;
  std::memcpy(&h, p, sizeof h);
  const FloatBits bits = __builtin_convertvector(h, FloatBits);
#endif
  return Vec<float>((Vec<float>::V)(bits << 16));
}
// The upper halves, in the lower ones.
inline FloatBits narrowed(Vec<float> x) {
  const FloatBits u = (FloatBits)x.v, rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16, quiet = FloatBits{} + 0x7fc0;
  return x.v == x.v ? rounded : quiet;
}
#ifdef __AVX512F__
inline const bool kRoundsToBFloat16 = __builtin_cpu_supports("avx512bf16");
/// May the machine's instruction round these? It takes a denormal number for 0, and keeps what a NaN carries.
inline __mmask16 rounds_otherwise(Vec<float> x) {
  constexpr int kQuietNan = 0x01, kDenormal = 0x20, kSignallingNan = 0x80;
  return _mm512_fpclass_ps_mask((__m512)x.v, kQuietNan | kDenormal | kSignallingNan);
}
inline bool rounds(Vec<float> x) { return kRoundsToBFloat16 && rounds_otherwise(x) == 0; }
inline bool rounds(Vec<float> x, Vec<float> y) { return kRoundsToBFloat16 && _kortestz_mask16_u8(rounds_otherwise(x), rounds_otherwise(y)); }
#endif
inline void narrow(Vec<float> x, BFloat16* p) {
#ifdef __AVX512F__  // by its name: this file is compiled for CPUs that lack it too
  if (rounds(x)) [[likely]] {
    __m256i r;
    asm("vcvtneps2bf16 %1, %0" : "=v"(r) : "v"(x.v));
    return _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), r);
  }
#endif
  const Half16 h = __builtin_convertvector(narrowed(x), Half16);
  std::memcpy(p, &h, sizeof h);
}
/// Two registers to numbers side by side.
inline void narrow(Vec<float> low, Vec<float> high, BFloat16* p) {
#if defined(__AVX2__) && !defined(__AVX512F__)  // packing works on halves of a register, which are put in order behind it
  const __m256i packed = _mm256_packus_epi32((__m256i)narrowed(low), (__m256i)narrowed(high));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xd8));
#else
#ifdef __AVX512F__
  if (rounds(low, high)) [[likely]] {
    __m512i r;
    asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(r) : "v"(low.v), "v"(high.v));
    return _mm512_storeu_si512(p, r);
  }
#endif
  narrow(low, p), narrow(high, p + Vec<float>::size);
#endif
}

#ifdef __F16C__
inline Vec<float> widened(const Half* p) {
#ifdef __AVX512F__
  return Vec<float>((Vec<float>::V)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#else
  return Vec<float>((Vec<float>::V)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#endif
}
inline void narrow(Vec<float> x, Half* p) {
#ifdef __AVX512F__
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph((__m512)x.v, _MM_FROUND_TO_NEAREST_INT));
#else
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)x.v, _MM_FROUND_TO_NEAREST_INT));
#endif
}
#else
inline Vec<float> widened(const Half* p) {
  Vec<float> x;
  for (int i = 0; i < Vec<float>::size; i++) x.v[i] = float(p[i]);
  return x;
}
inline void narrow(Vec<float> x, Half* p) {
  for (int i = 0; i < Vec<float>::size; i++) p[i] = Half(x.v[i]);
}
#endif
inline void narrow(Vec<float> low, Vec<float> high, Half* p) { narrow(low, p), narrow(high, p + Vec<float>::size); }

#ifdef __AVX512F__
// As narrowed(), in five instructions.
inline Vec<float> rounded_to_bfloat16(Vec<float> x) {
  const __m512i u = (__m512i)x.v, upper = _mm512_set1_epi32(int(0xffff0000)), quiet = _mm512_set1_epi32(0x7fc00000);
  const __mmask16 odd = _mm512_test_epi32_mask(u, _mm512_set1_epi32(0x10000)), number = _mm512_cmp_ps_mask((__m512)x.v, (__m512)x.v, _CMP_ORD_Q);
  const __m512i even = _mm512_mask_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd, u, _mm512_set1_epi32(0x8000));
  return Vec<float>((Vec<float>::V)_mm512_mask_and_epi32(quiet, number, even, upper));
}
#else
inline Vec<float> rounded_to_bfloat16(Vec<float> x) { return Vec<float>((Vec<float>::V)(narrowed(x) << 16)); }
#endif
/// The nearest numbers that T has, as floats.
template <class T> Vec<float> rounded_to(Vec<float> x) {
  if constexpr (std::is_same_v<T, BFloat16>) return rounded_to_bfloat16(x);
#if defined(__AVX512F__)
  else return Vec<float>((Vec<float>::V)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)x.v, _MM_FROUND_TO_NEAREST_INT)));
#elif defined(__F16C__)
  else return Vec<float>((Vec<float>::V)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x.v, _MM_FROUND_TO_NEAREST_INT)));
#else
  else return per_lane(x, [](float v) { return float(T(v)); });
#endif
}

}  // namespace WEIR_ISA
}  // namespace weir
