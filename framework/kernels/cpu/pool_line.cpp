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
// Windows of few places, one beside the other, in one pass.
template <int K, class T> void max_of_few(const MaxOfWindows& op, const T* x, int64_t n, T* y) {
  const int64_t apart = op.dilation, first = std::min(op.padding, op.windows), end = std::clamp(n - (K - 1) * apart + op.padding, first, op.windows);
  auto beside = [&](int64_t from, int64_t to) {  // those that reach beside the line
    for (int64_t w = from; w < to; w++) {
      y[w] = -std::numeric_limits<T>::infinity();
      for (int k = 0; k < K; k++)
        if (const int64_t at = w - op.padding + k * apart; at >= 0 && at < n) keep_larger(x + at, std::integral_constant<int64_t, 1>{}, y + w, 1);
    }
  };
  beside(0, first), beside(end, op.windows);
  const T* __restrict from = x - op.padding;
  T* __restrict to = y;
  for (int64_t i = first; i < end; i++) {
    T most = from[i];
    for (int k = 1; k < K; k++) {
      const T v = from[i + k * apart];
      most = (v > most) | (v != v) ? v : most;
    }
    to[i] = most;
  }
}
template <class T> void max_of_line(const MaxOfWindows& op, const T* x, int64_t n, T* y) {
  if (op.stride == 1 && op.kernel_size == 2) return max_of_few<2>(op, x, n, y);
  if (op.stride == 1 && op.kernel_size == 3) return max_of_few<3>(op, x, n, y);
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
// Of few windows of many places, window by window.
template <class T> void max_of_long_windows(const MaxOfWindows& op, const T* x, int64_t n, T* y) {
  constexpr int64_t kSome = 64;
  for (int64_t w = 0; w < op.windows; w++) {
    const int64_t begin = std::max<int64_t>(w * op.stride - op.padding, 0), end = std::min(w * op.stride - op.padding + op.kernel_size, n);
    T some[kSome];
    std::fill_n(some, kSome, -std::numeric_limits<T>::infinity());
    for (int64_t i = begin; i < end; i += kSome) keep_larger(x + i, std::integral_constant<int64_t, 1>{}, some, std::min(kSome, end - i));
    for (int64_t half = kSome / 2; half; half /= 2) keep_larger(some + half, std::integral_constant<int64_t, 1>{}, some, half);
    y[w] = some[0];
  }
}

void max_of_windows(const MaxOfWindows& op, Inputs in, Outputs out) {
  const DType type = in[0].dtype() == DType::float64 ? DType::float64 : DType::float32;  // of which halves are some
  const Tensor x = in[0].dtype() == type ? row_major(in[0]) : copied(in[0], Meta(in[0].sizes(), type));
  const Tensor y = out[0].dtype() == type ? out[0] : empty(out[0].sizes(), type);
  const int64_t n = x.size(-1);
  const bool few = op.dilation == 1 && op.windows * 4 <= op.kernel_size;
  // Windows that fill the lines, and reach into no other, make one line of all.
  const bool seamless = op.padding == 0 && n == op.windows * op.stride && (op.kernel_size - 1) * op.dilation < op.stride && !few;
  auto run = [&]<class T>(TypeTag<T>) {
    if (seamless) {
      constexpr int64_t kSome = 512;
      return parallel_for(y.numel(), kGrain / op.kernel_size, [&](int64_t b, int64_t e) {
        MaxOfWindows some = op;
        for (int64_t i = b; i < e; i += kSome) {
          some.windows = std::min(kSome, e - i);
          max_of_line(some, x.data<T>() + i * op.stride, some.windows * op.stride, y.data<T>() + i);
        }
      });
    }
    parallel_for(x.numel() / n, kGrain / (op.windows * op.kernel_size), [&](int64_t b, int64_t e) {
      for (int64_t l = b; l < e; l++) (few ? max_of_long_windows<T> : max_of_line<T>)(op, x.data<T>() + l * n, n, y.data<T>() + l * op.windows);
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
