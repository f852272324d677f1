// Results that no cache would keep until they are read: a plain store reads their lines first, a third of all traffic of a copy.
#pragma once
#include <algorithm>
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
/// And from which on that of a single step does: where a smaller one is read next, by a convolution say, a part of it is in a cache still.
constexpr int64_t kStepStreamed = 4 * kStreamed;

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

/// Asks for what lies behind these bytes, which are about to be read.
inline void fetch_behind(const void* from, size_t bytes) {
  constexpr size_t kAway = 4096, kLine = 64;
  for (size_t b = 0; b < bytes; b += kLine) __builtin_prefetch(static_cast<const std::byte*>(from) + kAway + b);
}

/// Copies a large range past the caches.
inline void stream_all(const std::byte* from, std::byte* to, size_t bytes) {
  constexpr size_t kPiece = 512;
  for (size_t i = 0; i < bytes; i += kPiece) {
    const size_t n = std::min(kPiece, bytes - i);
    fetch_behind(from + i, n);
    stream(from + i, to + i, n);
  }
  streamed();
}

/// Elements [0, n) of `item` bytes each, to `to` past the caches: fill(i, count, piece) writes those from i on to `piece`. Pieces are a dozen lines, so
/// that what is asked for and what is written take turns.
template <class F> void stream_pieces(std::byte* to, int64_t n, int64_t item, F&& fill) {
  constexpr int64_t kPiece = 768;
  alignas(kVecBytes) std::byte piece[kPiece];
  for (int64_t i = 0; i < n; i += kPiece / item) {
    const int64_t count = std::min(kPiece / item, n - i);
    fill(i, count, piece);
    stream(piece, to + i * item, size_t(count * item));
  }
  streamed();
}

}  // namespace WEIR_ISA
}  // namespace weir
