// Single numbers in the type that computes with them.
#pragma once
#ifdef __F16C__
#include <immintrin.h>
#endif

#include <bit>

#include "framework/kernels/cpu/widths.h"

namespace weir {
namespace WEIR_ISA {

/// Halves as floats. By the instruction: of two that are converted by a cast and then compared the compiler makes a comparison of halves, a call.
template <class T> auto single(T x) {
#ifdef __F16C__
  if constexpr (std::is_same_v<T, Half>) return _cvtsh_ss(std::bit_cast<uint16_t>(x));
#endif
  if constexpr (kWidened<T>) return float(x);
  else return x;
}

/// Numbers to be told from zero, halves as their bits for the same reason.
struct HalfBits { uint16_t bits; };
template <class T> using Countable = std::conditional_t<kWidened<T>, HalfBits, T>;
template <class T> bool counts(T x) { return x != T(0); }
inline bool counts(HalfBits x) { return uint16_t(x.bits + x.bits) != 0; }  // whatever its sign

}  // namespace WEIR_ISA
}  // namespace weir
