// Equally spaced numbers, for `linspace` and the edges of histograms.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>

#include "framework/core/tensor.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

// n numbers, more than one, in the dtype itself, and from both ends, so that the last is exact. Source of the roundings: PyTorch's loop where the CPU
// multiplies and adds at once, which kernels for CPUs without must say themselves.
template <class T> void spaced(T* p, T start, T end, int64_t n) {
  const T step = (end - start) / T(n - 1);
  for (int64_t i = 0; i < n; i++) p[i] = i < n / 2 ? std::fma(step, T(i), start) : std::fma(-step, T(n - 1 - i), end);
}

/// All of `t`, in any dtype.
inline void fill_spaced(const Tensor& t, const Scalar& first, const Scalar& last) {
  const int64_t n = t.numel();
  visit_dtype(t.dtype(), [&]<class T>(TypeTag<T>) {
    T* p = t.data<T>();
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      if (n > 1) return spaced(p, first.to<T>(), last.to<T>(), n);
    using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;
    auto held = [](const Scalar& x) {
      if constexpr (std::is_same_v<T, uint8_t>) return Wide(T(x.to_int()));  // below zero they wrap around, and are spaced then, as in PyTorch
      else return x.to<Wide>();
    };
    const Wide start = held(first), end = held(last), step = n > 1 ? (end - start) / double(n - 1) : Wide(0);
    for (int64_t i = 0; i < n; i++) {
      Wide x = i < n / 2 || n == 1 ? start + step * double(i) : end - step * double(n - 1 - i);
      if constexpr (kIsComplex<T>) p[i] = T(x);
      else p[i] = T(float_cast<T>(x));
    }
  });
}

}  // namespace WEIR_ISA
}  // namespace weir
