#include "framework/ops/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/widths.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// By the bits: std::frexp takes numbers one by one.
template <class T> void split(const T* x, T* mantissa, int32_t* exponent, int64_t n) {
  using Bits = typename LaneInt<sizeof(T)>::type;
  constexpr int places = std::numeric_limits<T>::digits - 1, raised = places + 2;  // what makes the least number a normal one
  constexpr Bits field = (Bits(1) << (8 * sizeof(T) - 1 - places)) - 1, half = (field >> 1) - 1;
  for (int64_t i = 0; i < n; i++) {
    const bool tiny = std::abs(x[i]) < std::numeric_limits<T>::min();
    const Bits bits = std::bit_cast<Bits>(tiny ? x[i] * T(Bits(1) << raised) : x[i]), e = bits >> places & field;
    const bool plain = e != 0 && e != field;  // neither zero nor infinite nor NaN
    mantissa[i] = plain ? std::bit_cast<T>((bits & ~(field << places)) | half << places) : x[i];
    exponent[i] = plain ? int32_t(e - half - (tiny ? raised : 0)) : 0;
  }
}

// Both results have input's strides, or all three are row-major: either way element i lies at place i of all.
void frexp(const Frexp&, Inputs in, Outputs out) {
  const Tensor x = in[0].strides() == out[0].strides() ? in[0] : row_major(in[0]);
  visit_real_dtype("frexp", x.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<Wide<T>>)
      parallel_for((x.numel() + kTile - 1) / kTile, kGrain / kTile / 4, [&](int64_t b, int64_t e) {
        Wide<T> read[kTile], mantissa[kTile];
        for (int64_t at = b * kTile; at < std::min(e * kTile, x.numel()); at += kTile) {
          const int64_t n = std::min(kTile, x.numel() - at);
          T* to = out[0].data<T>() + at;
          Wide<T>* wide = target(to, mantissa);
          split(widen(x.data<T>() + at, read, n), wide, out[1].data<int32_t>() + at, n);
          narrow(to, wide, n);
        }
      });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Frexp, frexp>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
