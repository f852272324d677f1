// Convolutions of little work as products of matrices: oneDNN takes longer to find its layouts than to multiply.
#pragma once
#include <algorithm>

#include "framework/kernels/cpu/matmul.h"
#include "framework/ops/conv.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kFewProducts = 2048;      // are done in the time it takes to describe them to oneDNN
constexpr int64_t kLittleMixing = 1 << 19;  // products of an image
constexpr int64_t kFewColumns = 1 << 14;

/// Products in all: every weight meets every position of the output `y`.
inline int64_t products(const Tensor& y, const Tensor& w) { return w.numel() / w.sizes()[0] * y.numel(); }
inline bool is_plain(const Tensor& x, const Tensor& w, const Tensor& y) {
  return y.dtype() == DType::float32 && x.is_contiguous() && w.is_contiguous() && y.is_contiguous();
}
template <class Op> bool is_pointwise(const Op& op, const Tensor& w) {
  auto all = [](const Dims& d, int64_t v, int from = 0) { return std::all_of(d.begin() + from, d.end(), [v](int64_t x) { return x == v; }); };
  return op.groups == 1 && all(w.sizes(), 1, 2) && all(op.stride, 1) && all(op.padding, 0);
}
template <class Op> bool mixes_few(const Op& op, const Tensor& x, const Tensor& w, const Tensor& y) {
  return x.numel() && y.numel() && is_plain(x, w, y) && is_pointwise(op, w) && products(y, w) / y.sizes()[0] <= kLittleMixing;
}
/// Images as matrices of channels and places.
inline Tensor as_matrices(const Tensor& t) {
  const int64_t n = t.sizes()[0], c = t.sizes()[1], p = t.numel() / (n * c);
  return alias(t, Dims{n, c, p}, Dims{c * p, p, 1}, t->offset);
}
/// Windows of one position: every image's channels are mixed.
inline void mix_channels(const Tensor& x, const Tensor& w, const Tensor& y) {
  const int64_t out = w.sizes()[0], in = w.sizes()[1];
  gemm(alias(w, Dims{x.sizes()[0], out, in}, Dims{0, in, 1}, w->offset), as_matrices(x), Tensor(), as_matrices(y));
}

/// One axis of windows: how many positions a window has, how many windows there are, and how many places they cover.
struct WindowAxis {
  int64_t taps = 1, windows = 1, places = 1, stride = 1, padding = 0, dilation = 1;
  int64_t place(int64_t window, int64_t tap) const { return window * stride + tap * dilation - padding; }
  bool covers(int64_t place) const { return place >= 0 && place < places; }
};

/// Adds one image's `columns`, of channels, positions in the window, and windows, where they belong.
template <class Op> void add_windows(const Op& op, const Dims& weight, const Dims& from, const Dims& to, const float* columns, float* image) {
  WindowAxis axis[3];
  for (int i = 0, n = op.stride.n; i < n; i++)
    axis[3 - n + i] = {weight[i + 2], from[i + 2], to[i + 2], op.stride[i], op.padding[i], op.dilation[i]};
  const auto& [z, y, x] = axis;
  for (int64_t c = 0; c < to[1]; c++, image += z.places * y.places * x.places)
    for (int64_t tap_z = 0; tap_z < z.taps; tap_z++)
      for (int64_t tap_y = 0; tap_y < y.taps; tap_y++)
        for (int64_t tap_x = 0; tap_x < x.taps; tap_x++) {
          const int64_t start = x.place(0, tap_x), first = start < 0 ? (-start + x.stride - 1) / x.stride : 0;
          const int64_t end = std::min(x.windows, (x.places - start + x.stride - 1) / x.stride);
          for (int64_t i = 0; i < z.windows; i++)
            for (int64_t j = 0; j < y.windows; j++, columns += x.windows) {
              const int64_t plane = z.place(i, tap_z), line = y.place(j, tap_y);
              if (!z.covers(plane) || !y.covers(line)) continue;
              float* row = image + (plane * y.places + line) * x.places + start;
              for (int64_t k = first; k < end; k++) row[k * x.stride] += columns[k];
            }
        }
}
inline bool has_few_columns(const ConvolutionInput& op, const Tensor& dy, const Tensor& w) {
  return op.groups == 1 && w.numel() / w.sizes()[0] * (dy.numel() / dy.sizes()[1]) <= kFewColumns;
}
inline void spread_windows(const ConvolutionInput& op, const Tensor& dy, const Tensor& w, const Tensor& dx) {
  const int64_t from = w.sizes()[0], rows = w.numel() / from, places = as_matrices(dy).sizes()[2];
  const Tensor columns = empty(Dims{dy.sizes()[0], rows, places}, DType::float32);
  gemm(alias(w, Dims{dy.sizes()[0], rows, from}, Dims{0, 1, rows}, w->offset), as_matrices(dy), Tensor(), columns);
  std::fill_n(dx.data<float>(), dx.numel(), 0.0f);
  for (int64_t i = 0; i < dy.sizes()[0]; i++)
    add_windows(op, w.sizes(), dy.sizes(), dx.sizes(), columns.data<float>() + i * rows * places, dx.data<float>() + i * dx.numel() / dx.sizes()[0]);
}

}  // namespace WEIR_ISA
}  // namespace weir
