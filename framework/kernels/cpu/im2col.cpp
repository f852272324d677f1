#include "framework/ops/im2col.h"

#include <algorithm>
#include <cstring>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/indexing.h"

namespace weir {
namespace WEIR_ISA {
namespace {

/// f(picture row, first picture column, first window, windows) of the parts of one line of columns that lie in the picture: for each
/// row of windows one.
template <class F> void for_rows(const Window& w, int64_t ky, int64_t kx, int64_t height, int64_t width, F&& f) {
  const int64_t rows = w.starts(height, 0), columns = w.starts(width, 1);
  const int64_t shift = kx * w.dilation[1] - w.padding[1], step = w.stride[1];
  const int64_t first = shift < 0 ? (-shift + step - 1) / step : 0, end = std::min(columns, shift >= width ? 0 : (width - 1 - shift) / step + 1);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t y = r * w.stride[0] + ky * w.dilation[0] - w.padding[0];
    if (y >= 0 && y < height && first < end) f(y, first * step + shift, r * columns + first, end - first);
  }
}

void im2col(const Im2col& op, Inputs in, Outputs out) {
  const Tensor x = row_major(in[0]);
  const Window w = op.window();
  const int64_t height = x.size(-2), width = x.size(-1), length = out[0].size(-1), taps = w.kernel.product();
  by_item_size(size_of(x.dtype()), [&]<class T>(TypeTag<T>) {
    // A line of the result: one channel seen through one point of the window.
    parallel_for(length ? out[0].numel() / length : 0, std::max<int64_t>(1, kGrain / std::max<int64_t>(length, 1)), [&](int64_t b, int64_t e) {
      for (int64_t line = b; line < e; line++) {
        const T* from = x.data<T>() + line / taps * height * width;
        T* to = out[0].data<T>() + line * length;
        std::memset(static_cast<void*>(to), 0, size_t(length) * sizeof(T));
        for_rows(w, line % taps / w.kernel[1], line % w.kernel[1], height, width, [&](int64_t y, int64_t c, int64_t at, int64_t n) {
          const T* row = from + y * width + c;
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
  visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
    // A thread owns whole pictures, so that sums keep their order.
    parallel_for(out[0].numel() / (height * width), std::max<int64_t>(1, kGrain / std::max<int64_t>(taps * length, 1)), [&](int64_t b, int64_t e) {
      Scratch<A> sums(height * width);
      for (int64_t p = b; p < e; p++) {
        T* to = out[0].data<T>() + p * height * width;
        std::fill(sums.begin(), sums.end(), A(0));
        for (int64_t k = 0; k < taps; k++) {
          const T* from = x.data<T>() + (p * taps + k) * length;
          for_rows(w, k / w.kernel[1], k % w.kernel[1], height, width, [&](int64_t y, int64_t c, int64_t at, int64_t n) {
            for (int64_t i = 0; i < n; i++) {
              auto&& sum = sums[size_t(y * width + c + i * w.stride[1])];
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
