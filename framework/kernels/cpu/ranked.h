// Numbers beside their places, in order: by comparing where they are few, by counting digits else.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

// A number and where it stood, as unsigned integers in the order of the numbers: NaN is the largest, -0 equals 0. The two are one integer
// of twice the width, whose upper half is the number.
template <class T> struct Ranked {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Both = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>;
  static_assert(std::endian::native == std::endian::little);
  U index, key;

  Ranked() = default;
  Ranked(T x, size_t i, bool descending) : index(U(i)) {
    constexpr U sign = U(1) << (8 * sizeof(U) - 1);
    if constexpr (std::is_integral_v<T>) {
      key = U(x) ^ sign;
    } else {
      U bits = std::bit_cast<U>(x + T(0));  // -0 + 0 is 0
      key = x != x ? ~U(0) : bits & sign ? ~bits : bits | sign;
    }
    if (descending) key = ~key;
  }
  bool operator<(const Ranked& o) const { return std::bit_cast<Both>(*this) < std::bit_cast<Both>(o); }
};

constexpr size_t kShortLine = 256;  // below, comparing is faster than counting
constexpr size_t kInsertion = 8;
template <class T> void insertion_sort(Scratch<Ranked<T>>& line) {
  for (size_t i = 1; i < line.size(); i++) {
    const Ranked<T> r = line[i];
    size_t at = i;
    for (; at > 0 && r < line[at - 1]; at--) line[at] = line[at - 1];
    line[at] = r;
  }
}
constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

// Sorts by counting digits, the least first; `other` is room for as many. Equal keys keep their order.
template <class T> void radix_sort(Scratch<Ranked<T>>& line, Scratch<Ranked<T>>& other) {
  if (line.size() <= kInsertion) return insertion_sort(line);
  if (std::is_sorted(line.begin(), line.end())) return;  // as times and places often are; others show it at once
  if (line.size() < kShortLine) return std::sort(line.begin(), line.end());
  for (int shift = 0; shift < int(8 * sizeof(T)); shift += kDigitBits) {
    uint32_t place[kDigits] = {}, sum = 0;
    for (const auto& r : line) place[r.key >> shift & (kDigits - 1)]++;
    if (place[line[0].key >> shift & (kDigits - 1)] == line.size()) continue;  // which all have: most of whole numbers
    for (uint32_t& p : place) sum += std::exchange(p, sum);
    for (const auto& r : line) other[place[r.key >> shift & (kDigits - 1)]++] = r;
    std::swap(line, other);
  }
}

}  // namespace WEIR_ISA
}  // namespace weir
