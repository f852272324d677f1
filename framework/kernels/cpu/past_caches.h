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

/// Copies past the caches where `to` is aligned for it. Others see it after streamed().
inline void stream(const void* from, void* to, size_t bytes) {
  const std::byte* source = static_cast<const std::byte*>(from);
  std::byte* target = static_cast<std::byte*>(to);
  size_t i = 0;
#ifdef __SSE__
  if (reinterpret_cast<uintptr_t>(to) % kVecBytes == 0)
    for (; i + kVecBytes <= bytes; i += kVecBytes) {
      const float* values = reinterpret_cast<const float*>(source + i);
      float* there = reinterpret_cast<float*>(target + i);
#if defined(__AVX512F__)
      _mm512_stream_ps(there, _mm512_loadu_ps(values));
#elif defined(__AVX2__)
      _mm256_stream_ps(there, _mm256_loadu_ps(values));
#else
      _mm_stream_ps(there, _mm_loadu_ps(values));
#endif
    }
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
