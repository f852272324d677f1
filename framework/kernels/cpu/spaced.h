// Equally spaced numbers, for `linspace` and the edges of histograms.
#pragma once
#include <cmath>
#include <cstdint>

namespace weir {
namespace WEIR_ISA {

// n numbers, more than one, in the dtype itself, and from both ends, so that the last is exact. Source of the roundings: PyTorch's loop where the CPU
// multiplies and adds at once, which kernels for CPUs without must say themselves.
template <class T> void spaced(T* p, T start, T end, int64_t n) {
  const T step = (end - start) / T(n - 1);
  for (int64_t i = 0; i < n; i++) p[i] = i < n / 2 ? std::fma(step, T(i), start) : std::fma(-step, T(n - 1 - i), end);
}

}  // namespace WEIR_ISA
}  // namespace weir
