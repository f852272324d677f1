#include "framework/ops/im2col.h"

#include <algorithm>
#include <cstring>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/indexing.h"
#include "framework/kernels/cpu/window_axes.h"

namespace weir {
namespace WEIR_ISA {
namespace {

WindowAxes axes_of(const Window& w, int64_t height, int64_t width) {
  auto axis = [&](int i, int64_t places) { return WindowAxis{w.kernel[i], w.starts(places, i), places, w.stride[i], w.padding[i], w.dilation[i]}; };
  return {{}, axis(0, height), axis(1, width)};
}

void im2col(const Im2col& op, Inputs in, Outputs out) {
  const Tensor x = row_major(in[0]);
  const Window w = op.window();
  const int64_t height = x.size(-2), width = x.size(-1), length = out[0].size(-1), taps = w.kernel.product();
  const WindowAxes axes = axes_of(w, height, width);
  by_item_size(size_of(x.dtype()), [&]<class T>(TypeTag<T>) {
    // A line of the result: one channel seen through one point of the window.
    parallel_for(length ? out[0].numel() / length : 0, kGrain / std::max<int64_t>(length, 1), [&](int64_t b, int64_t e) {
      for (int64_t line = b; line < e; line++) {
        const T* from = x.data<T>() + line / taps * height * width;
        T* to = out[0].data<T>() + line * length;
        std::memset(static_cast<void*>(to), 0, size_t(length) * sizeof(T));
        axes.for_rows(line % taps, [&](int64_t place, int64_t at, int64_t n) {
          const T* row = from + place;
          if (w.stride[1] == 1) std::memcpy(static_cast<void*>(to + at), row, size_t(n) * sizeof(T));
          else for (int64_t i = 0; i < n; i++) to[at + i] = row[i * w.stride[1]];
        });
      }
    });
  });
}

void col2im(const Col2im& op, Inputs in, Outputs out) {
  const Tensor x = row_major(in[0]);
  const Window w = op.window();
  const int64_t height = out[0].size(-2), width = out[0].size(-1), length = x.size(-1), taps = w.kernel.product();
  const WindowAxes axes = axes_of(w, height, width);
  visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
    // A thread owns whole pictures, so that sums keep their order.
    parallel_for(out[0].numel() / (height * width), kGrain / std::max<int64_t>(taps * length, 1), [&](int64_t b, int64_t e) {
      Scratch<A> sums(height * width);
      for (int64_t p = b; p < e; p++) {
        T* to = out[0].data<T>() + p * height * width;
        std::fill(sums.begin(), sums.end(), A(0));
        for (int64_t k = 0; k < taps; k++) {
          const T* from = x.data<T>() + (p * taps + k) * length;
          axes.for_rows(k, [&](int64_t place, int64_t at, int64_t n) {
            for (int64_t i = 0; i < n; i++) {
              auto&& sum = sums[size_t(place + i * w.stride[1])];
              sum = A(sum + A(from[at + i]));
            }
          });
        }
        for (int64_t i = 0; i < height * width; i++) to[i] = T(sums[size_t(i)]);
      }
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Im2col, im2col>(DeviceType::cpu);
  set_kernel<Col2im, col2im>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
