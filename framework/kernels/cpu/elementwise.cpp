#include "framework/ops/elementwise.h"

#include <algorithm>
#include <cmath>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Both results have input's strides, or all three are row-major: either way element i lies at place i of all.
void frexp(const Frexp&, Inputs in, Outputs out) {
  const Tensor x = in[0].strides() == out[0].strides() ? in[0] : row_major(in[0]);
  const int64_t item = size_of(x.dtype());
  parallel_for((x.numel() + kTile - 1) / kTile, kGrain / kTile / 4, [&](int64_t b, int64_t e) {
    double buffer[kTile];
    for (int64_t at = b * kTile; at < std::min(e * kTile, x.numel()); at += kTile) {
      const int64_t n = std::min(kTile, x.numel() - at);
      convert(x.dtype(), x.raw() + at * item, 1, DType::float64, buffer, 1, n);
      int32_t* exponent = out[1].data<int32_t>() + at;
      for (int64_t i = 0; i < n; i++) {
        int k = 0;
        buffer[i] = std::frexp(buffer[i], &k);
        exponent[i] = std::isfinite(buffer[i]) ? k : 0;
      }
      convert(DType::float64, buffer, 1, x.dtype(), out[0].raw() + at * item, 1, n);
    }
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Frexp, frexp>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
