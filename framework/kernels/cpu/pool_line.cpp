#include "framework/ops/pool_line.h"

#include <algorithm>
#include <limits>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Place by place of the windows, each over as many of them as have it inside the line.
template <class T, class Step> void keep_larger(const T* __restrict x, Step step, T* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const T v = x[i * step];
    y[i] = (v > y[i]) | (v != v) ? v : y[i];
  }
}
template <class T> void max_of_line(const MaxOfWindows& op, const T* x, int64_t n, T* y) {
  std::fill_n(y, op.windows, -std::numeric_limits<T>::infinity());
  for (int64_t k = 0; k < op.kernel_size; k++) {
    const int64_t at = k * op.dilation - op.padding, first = at < 0 ? (-at + op.stride - 1) / op.stride : 0;
    const int64_t count = at < n ? std::min(op.windows, (n - 1 - at) / op.stride + 1) - first : 0;
    const T* from = x + first * op.stride + at;
    if (op.stride == 1) keep_larger(from, std::integral_constant<int64_t, 1>{}, y + first, count);
    else if (op.stride == 2) keep_larger(from, std::integral_constant<int64_t, 2>{}, y + first, count);
    else keep_larger(from, op.stride, y + first, count);
  }
}

void max_of_windows(const MaxOfWindows& op, Inputs in, Outputs out) {
  const DType type = in[0].dtype() == DType::float64 ? DType::float64 : DType::float32;  // of which halves are some
  const Tensor x = in[0].dtype() == type ? row_major(in[0]) : copied(in[0], Meta(in[0].sizes(), type));
  const Tensor y = out[0].dtype() == type ? out[0] : empty(out[0].sizes(), type);
  const int64_t n = x.size(-1);
  auto run = [&]<class T>(TypeTag<T>) {
    parallel_for(x.numel() / n, kGrain / (op.windows * op.kernel_size), [&](int64_t b, int64_t e) {
      for (int64_t l = b; l < e; l++) max_of_line(op, x.data<T>() + l * n, n, y.data<T>() + l * op.windows);
    });
  };
  if (type == DType::float64) run(TypeTag<double>{});
  else run(TypeTag<float>{});
  if (!(y == out[0])) run_copy(y, out[0]);
}

const bool bound = (set_kernel<MaxOfWindows, max_of_windows>(DeviceType::cpu), true);

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
