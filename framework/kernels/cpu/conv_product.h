// Convolutions of little work as products of matrices: oneDNN takes longer to find its layouts than to multiply.
#pragma once
#include <algorithm>

#include "framework/kernels/cpu/matmul.h"
#include "framework/kernels/cpu/window_axes.h"
#include "framework/ops/conv.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kFewProducts = 2048;      // are done in the time it takes to describe them to oneDNN
constexpr int64_t kLittleMixing = 1 << 19;  // products of an image
constexpr int64_t kFewColumns = 1 << 14;     // numbers of a product that is added where its windows lie

/// Products in all: every weight meets every position of the output `y`.
inline int64_t products(const Tensor& y, const Tensor& w) { return w.numel() / w.sizes()[0] * y.numel(); }
inline bool is_plain(const Tensor& x, const Tensor& w, const Tensor& y) {
  return y.dtype() == DType::float32 && x.is_contiguous() && w.is_contiguous() && y.is_contiguous();
}
template <class Op> bool is_pointwise(const Op& op, const Tensor& w) {
  auto all = [](const Dims& d, int64_t v, int from = 0) { return std::all_of(d.begin() + from, d.end(), [v](int64_t x) { return x == v; }); };
  return op.groups == 1 && all(w.sizes(), 1, 2) && all(op.stride, 1) && all(op.padding, 0);
}
template <class Op> Op with_stride_1(Op op) {
  std::fill(op.stride.begin(), op.stride.end(), 1);
  return op;
}
template <class Op> bool is_pointwise_but_strided(const Op& op, const Tensor& w) { return !is_pointwise(op, w) && is_pointwise(with_stride_1(op), w); }
/// The places of `x` that such windows see, one for each of `y`.
template <class Op> Tensor seen_places(const Op& op, const Tensor& y, const Tensor& x) {
  Dims sizes = x.sizes(), strides = x.strides();
  for (int i = 0; i < op.stride.n; i++) sizes[i + 2] = y.sizes()[i + 2], strides[i + 2] *= op.stride[i];
  return alias(x, sizes, strides, x->offset);
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

/// The windows of a convolution from images of `places` to `windows`.
template <class Op> WindowAxes axes_of(const Op& op, const Dims& weight, const Dims& windows, const Dims& places) {
  WindowAxes all;
  WindowAxis* axis[] = {&all.z, &all.y, &all.x};
  for (int i = 0, n = op.stride.n; i < n; i++)
    *axis[3 - n + i] = {weight[i + 2], windows[i + 2], places[i + 2], op.stride[i], op.padding[i], op.dilation[i]};
  return all;
}

inline bool has_few_columns(const ConvolutionInput& op, const Tensor& dy, const Tensor& w) {
  return op.groups == 1 && w.numel() / w.sizes()[0] * (dy.numel() / dy.sizes()[1]) <= kFewColumns;
}
inline void spread_windows(const ConvolutionInput& op, const Tensor& dy, const Tensor& w, const Tensor& dx) {
  const int64_t from = w.sizes()[0], rows = w.numel() / from, places = as_matrices(dy).sizes()[2];
  const Tensor columns = empty(Dims{dy.sizes()[0], rows, places}, DType::float32);
  gemm(alias(w, Dims{dy.sizes()[0], rows, from}, Dims{0, 1, rows}, w->offset), as_matrices(dy), Tensor(), columns);
  std::fill_n(dx.data<float>(), dx.numel(), 0.0f);
  const WindowAxes axes = axes_of(op, w.sizes(), dy.sizes(), dx.sizes());
  const float* from_line = columns.data<float>();
  float* image = dx.data<float>();  // of one channel
  for (int64_t i = 0; i < dx.sizes()[0] * dx.sizes()[1]; i++, image += axes.places())
    for (int64_t tap = 0; tap < axes.taps(); tap++, from_line += places)
      axes.for_rows(tap, [&](int64_t place, int64_t at, int64_t n) {
        for (int64_t k = 0; k < n; k++) image[place + k * axes.x.stride] += from_line[at + k];
      });
}

}  // namespace WEIR_ISA
}  // namespace weir
