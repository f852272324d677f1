// Single numbers in the type that computes with them.
#pragma once
#ifdef __F16C__
#include <immintrin.h>
#endif

#include <bit>

#include "framework/core/dtype.h"

namespace weir {
namespace WEIR_ISA {

/// Halves as floats. By the instruction: of two that are converted by a cast and then compared the compiler makes a comparison of halves, a call.
template <class T> auto single(T x) {
#ifdef __F16C__
  if constexpr (std::is_same_v<T, Half>) return _cvtsh_ss(std::bit_cast<uint16_t>(x));
#endif
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return float(x);
  else return x;
}

}  // namespace WEIR_ISA
}  // namespace weir
