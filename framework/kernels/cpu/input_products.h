// Gradients of inputs of 1 x 1 convolutions in bfloat16 by AMX's tiles (tiles.h), beside those of weights (weight_products.h): lines of windows, as they lie in
// memory, by the weights. Alone oneDNN's are a little faster. Both add products in their order, 32 at a time, so that the bits are the same.
#pragma once
#include <algorithm>

#include "framework/core/parallel.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/tiles.h"

namespace weir {
namespace WEIR_ISA {

class InputProducts {
 public:
  /// Whether this is the way. Lines at the same place of their pages would drive each other out of the first-level cache.
  static bool suit(const Tensor& dy, const Tensor& w, const Tensor& dx) {
    constexpr int64_t kEnough = 1 << 22, kPage = 4096 / sizeof(BFloat16);
    const int64_t out = w.sizes()[0], in = w.sizes()[1];
    return dx.dtype() == DType::bfloat16 && dx.ndim() == 4 && out % kTileDepth == 0 && out % kPage != 0 && in % kTileLines == 0 && w.strides()[1] == 1 &&
           is_channels_last(dx.sizes(), dx.strides()) && is_channels_last(dy.sizes(), dy.strides()) && products(dy, w) >= kEnough && has_tiles();
  }

  InputProducts(const Tensor& dy, const Tensor& w, const Tensor& dx)
      : dy_(dy.data<BFloat16>()), dx_(dx.data<BFloat16>()), out_(w.sizes()[0]), in_(w.sizes()[1]), windows_(dy.numel() / out_), weights_(tile_panels(in_), tile_steps(out_)) {
    const Factor factor{w.data<BFloat16>(), in_, out_, w.strides()[1], w.strides()[0]};
    parallel_for(panels(), std::max<int64_t>(1, kPackNumbers / (out_ * kTileLines)), [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; p++) pack_right(factor, p, 0, weights_.steps, weights_.at(p));
    });
  }
  int64_t panels() const { return tile_panels(in_); }
  /// The gradients of `count` windows from `first` on, or of those there are, in the channels of panels `from` to before `to`. Needs Tiles.
  void add(int64_t first, int64_t count, int64_t from, int64_t to) const {
    count = std::min(count, windows_ - first);
    const int64_t rest = count % kTileLines;
    Scratch<BFloat16> last(size_t(rest ? kTileLines * out_ : 0), BFloat16(0.0f));  // zeros where there are no more
    if (rest) std::copy_n(dy_ + (first + count - rest) * out_, rest * out_, last.data());
    for (int64_t p = from; p < to; p++)
      for (int64_t r = 0; r < count; r += kTileLines) {
        const int64_t lines = std::min(kTileLines, count - r);
        multiply_lines(lines < kTileLines ? last.data() : dy_ + (first + r) * out_, out_, weights_.at(p), weights_.steps, lines, dx_ + (first + r) * in_ + p * kTileLines, in_);
      }
  }

 private:
  static constexpr int64_t kPackNumbers = 1 << 15;

  const BFloat16* dy_;
  BFloat16* dx_;
  int64_t out_, in_, windows_;
  Panels weights_;
};

}  // namespace WEIR_ISA
}  // namespace weir
