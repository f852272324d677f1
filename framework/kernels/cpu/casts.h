// Numbers of one dtype as numbers of another; `convert` of loops.h looks for the function each time.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>

#include "framework/core/dtype.h"

namespace weir {
namespace WEIR_ISA {

/// Reads n numbers from the first pointer, its stride in elements behind it, and writes them at the second.
using Converter = void (*)(const void*, int64_t, void*, int64_t, int64_t);
/// For loops over short runs, which would otherwise look for the types in each.
Converter converter(DType from, DType to);

/// Calls `f` with a type of so many bytes: what is only moved needs no other.
template <class F> void by_item_size(size_t bytes, F&& f) {
  if (bytes == 1) f(TypeTag<uint8_t>{});
  else if (bytes == 2) f(TypeTag<uint16_t>{});
  else if (bytes == 4) f(TypeTag<uint32_t>{});
  else if (bytes == 8) f(TypeTag<uint64_t>{});
  else f(TypeTag<std::complex<double>>{});
}

/// Each of `count` numbers of `item` bytes, `times` times.
inline void spread(const std::byte* from, size_t item, int64_t count, int64_t times, std::byte* to) {
  by_item_size(item, [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < count; i++) std::fill_n(reinterpret_cast<T*>(to) + i * times, times, reinterpret_cast<const T*>(from)[i]);
  });
}

}  // namespace WEIR_ISA
}  // namespace weir
