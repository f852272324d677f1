// Results that no cache would keep until they are read: a plain store reads their lines first, a third of all traffic of a copy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE__
#include <immintrin.h>
#endif

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kStreamed = 16 << 20;  // bytes from which on a result goes past the caches

inline void stream(Vec<float> x, float* to) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, (__m512)x.v);
#elif defined(__AVX2__)
  _mm256_stream_ps(to, (__m256)x.v);
#elif defined(__SSE__)
  _mm_stream_ps(to, (__m128)x.v);
#else
  x.store(to);
#endif
}

/// Copies past the caches where `to` is aligned for it. Others see it after streamed().
inline void stream(const void* from, void* to, size_t bytes) {
  const std::byte* source = static_cast<const std::byte*>(from);
  std::byte* target = static_cast<std::byte*>(to);
  size_t i = 0;
#ifdef __SSE__
  if (reinterpret_cast<uintptr_t>(to) % kVecBytes == 0)
    for (; i + kVecBytes <= bytes; i += kVecBytes)
      stream(Vec<float>::load(reinterpret_cast<const float*>(source + i)), reinterpret_cast<float*>(target + i));
#endif
  std::memcpy(target + i, source + i, bytes - i);
}
inline void streamed() {
#ifdef __SSE__
  _mm_sfence();
#endif
}

}  // namespace WEIR_ISA
}  // namespace weir
