// Pictures in bfloat16 whose channels 1 x 1 convolutions mix, by AMX's tiles (tiles.h): lines of channels, as they lie in memory, by a matrix. They are made
// a few at a time, where they are next read: gradients of inputs beside those of weights (weight_products.h), both beside batch norm's sums
// (batch_norm_convolution.cpp). Alone oneDNN's are a little faster. Both add products in their order, 32 at a time, so that the bits are the same.
#pragma once
#include <algorithm>

#include "framework/core/parallel.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/tiles.h"

namespace weir {
namespace WEIR_ISA {

class LineProducts {
 public:
  struct Nothing {
    void operator()(int64_t, int64_t) const {}
  };

  /// What a convolution by w (out x in x 1 x 1) makes of x, and the gradient of its input that it makes of dy.
  static LineProducts of_input(const Tensor& x, const Tensor& w) {
    return {x, Factor{w.data<BFloat16>(), w.sizes()[0], w.sizes()[1], w.strides()[0], w.strides()[1]}};
  }
  static LineProducts of_gradient(const Tensor& dy, const Tensor& w) {
    return {dy, Factor{w.data<BFloat16>(), w.sizes()[1], w.sizes()[0], w.strides()[1], w.strides()[0]}};
  }
  /// Whether this is the way from pictures of `from` to those of `to`. Lines at the same place of their pages would drive each other out of the
  /// first-level cache.
  static bool suit(const Tensor& from, const Tensor& w, const Tensor& to) {
    constexpr int64_t kEnough = 1 << 22, kPage = 4096 / sizeof(BFloat16);
    if (to.dtype() != DType::bfloat16 || from.dtype() != DType::bfloat16 || w.dtype() != DType::bfloat16 || to.ndim() != 4 || from.ndim() != 4) return false;
    const int64_t depth = from.sizes()[1], width = to.sizes()[1];
    return depth % kTileDepth == 0 && depth % kPage != 0 && width % kTileLines == 0 && (w.strides()[0] == 1 || w.strides()[1] == 1) &&
           is_channels_last(to.sizes(), to.strides()) && is_channels_last(from.sizes(), from.strides()) && to.numel() * depth >= kEnough && has_tiles();
  }

  int64_t panels() const { return tile_panels(width_); }
  /// The products of `count` lines from `first` on, or of those there are, by panels `from` to before `to`. `result`: where that of the line `first` begins;
  /// they lie side by side. also(i, n) does, between products, the i-th of n parts of something else. Needs Tiles.
  template <class Also = Nothing> void multiply(int64_t first, int64_t count, int64_t from, int64_t to, BFloat16* result, Also&& also = {}) const {
    count = std::min(count, lines_ - first);
    const BFloat16* lines = data_ + first * depth_;
    const int64_t whole = count / kTileLines * kTileLines, rest = count - whole;
    if (rest == 0 || first + whole + kTileLines <= lines_) return multiply(lines, count, from, to, result, also);
    multiply(lines, whole, from, to, result, also);
    Scratch<BFloat16> last(size_t(kTileLines * depth_), BFloat16(0.0f));  // tiles would read behind the end
    std::copy_n(lines + whole * depth_, rest * depth_, last.data());
    multiply(last.data(), rest, from, to, result + whole * width_);
  }
  /// The same of lines that lie elsewhere. kTileLines at a time can be read.
  template <class Also = Nothing> void multiply(const BFloat16* lines, int64_t count, int64_t from, int64_t to, BFloat16* result, Also&& also = {}) const {
    const int64_t parts = (to - from) * tile_panels(count);
    for (int64_t p = from, part = 0; p < to; p++)
      for (int64_t r = 0; r < count; r += kTileLines) {
        also(part++, parts);
        multiply_lines(lines + r * depth_, depth_, matrix_.at(p), matrix_.steps, std::min(kTileLines, count - r), result + r * width_ + p * kTileLines, width_);
      }
  }
  const BFloat16* line(int64_t i) const { return data_ + std::min(i, lines_) * depth_; }

 private:
  static constexpr int64_t kPackNumbers = 1 << 15;

  LineProducts(const Tensor& pictures, const Factor& matrix)
      : data_(pictures.data<BFloat16>()), depth_(matrix.depth), width_(matrix.lines), lines_(pictures.numel() / depth_), matrix_(tile_panels(width_), tile_steps(depth_)) {
    parallel_for(panels(), std::max<int64_t>(1, kPackNumbers / (depth_ * kTileLines)), [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; p++) pack_right(matrix, p, 0, matrix_.steps, matrix_.at(p));
    });
  }

  const BFloat16* data_;
  int64_t depth_, width_, lines_;
  Panels matrix_;
};

}  // namespace WEIR_ISA
}  // namespace weir
