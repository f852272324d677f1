// Bytes from one place to another that does not overlap it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir {
namespace WEIR_ISA {

/// Whether a copy from front to back would load, page for page, what it stored a moment ago: the machine compares the lower 12 bits of addresses, and
/// such loads wait. Large tensors begin at the same place of a page, so a row that moves by a few columns is one. memcpy's instruction for long rows
/// then takes eight times as long on Zen 3.
inline bool trails_its_stores(const void* from, const void* to) {
  const size_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % 4096;
  return ahead > 0 && ahead < 2048;
}
/// So many bytes in moves of one size, of which the last overlaps the one before it: for short rows a call of memcpy would cost more.
template <size_t kMove> void copy_by(const std::byte* from, std::byte* to, size_t bytes) {
  if (bytes >= 512 && trails_its_stores(from, to)) {
    for (size_t i = bytes; i >= kMove; i -= kMove) __builtin_memcpy(to + i - kMove, from + i - kMove, kMove);
    __builtin_memcpy(to, from, kMove);
    return;
  }
  if (bytes >= 1024) return void(std::memcpy(to, from, bytes));
  for (size_t i = 0; i + kMove <= bytes; i += kMove) __builtin_memcpy(to + i, from + i, kMove);
  __builtin_memcpy(to + bytes - kMove, from + bytes - kMove, kMove);
}
/// Any number of bytes, most often many.
inline void copy_bytes(const void* from, void* to, size_t bytes) {
  if (bytes < 64) return void(std::memcpy(to, from, bytes));
  copy_by<64>(static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes);
}

}  // namespace WEIR_ISA
}  // namespace weir
