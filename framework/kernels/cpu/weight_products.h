// Gradients of weights of 1 x 1 places in bfloat16 by AMX's tiles (tiles.h): products of two matrices that lie line by line along what is summed.
//
// Tiles of the left factor have to be turned, those of the right one only take their lines by pairs, so the side with fewer channels is the left one. A few
// hundred windows of both are packed at a time, all channels of some windows before the next, as they lie in memory, and multiplied from the second-level cache.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "framework/core/parallel.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/line_products.h"
#include "framework/kernels/cpu/tiles.h"
#include "framework/kernels/cpu/transpose.h"

namespace weir {
namespace WEIR_ISA {

/// Whether tiles sum this gradient: planes with channels innermost, kTileLines of input's to a panel.
inline bool suits_tiles(const Tensor& x, const Tensor& dy, const Tensor& dw) {
  constexpr int64_t kEnough = 1 << 22, kFewChannels = 16;
  return dw.dtype() == DType::bfloat16 && x.ndim() == 4 && x.sizes()[1] % kTileLines == 0 && dw.sizes()[0] >= kFewChannels &&
         is_channels_last(x.sizes(), x.strides()) && is_channels_last(dy.sizes(), dy.strides()) && products(dy, dw) >= kEnough && has_tiles();
}

class WeightProducts {
 public:
  template <class Op> WeightProducts(const Op& op, const Tensor& x, const Tensor& dy, const Tensor& dw)
      : dw_(dw), places_{op.stride[0], op.stride[1], x.sizes()[2], x.sizes()[3], dy.sizes()[2], dy.sizes()[3]},
        windows_(dy.sizes()[0] * places_.down * places_.across), turned_(dw.sizes()[0] % kTileLines == 0 && dw.sizes()[0] > x.sizes()[1]),
        zeros_(std::max(x.sizes()[1], dw.sizes()[0]), BFloat16(0.0f)) {
    const Side in{x.data<BFloat16>(), x.sizes()[1], true}, out{dy.data<BFloat16>(), dw.sizes()[0], false};
    left_ = turned_ ? in : out, right_ = turned_ ? out : in;
    chunks_ = (windows_ + kWindows - 1) / kWindows;
    parts_ = std::clamp<int64_t>(kSums / sums_size(), 1, std::min(kParts, chunks_));
  }

  /// Whether each window is read once, between so many channels: see `run`.
  static bool in_one_pass(int64_t in, int64_t out) {
    const int64_t threads = omp_get_max_threads();
    return threads <= kParts && tile_panels(in) * tile_panels(out) * kTileStep * std::max<int64_t>(2, threads) <= kSums;
  }

  /// With `input`, that gradient's windows are multiplied as soon as they are in the second-level cache, and written to dx. With `make` dy is not read: before
  /// them make(first, count, to) makes it for some windows.
  template <class Make = std::nullptr_t> void run(const LineProducts* input = nullptr, const Tensor& dx = {}, const Make& make = nullptr) const {
    constexpr bool kMakes = !std::is_same_v<Make, std::nullptr_t>;
    // Groups of right panels: as many as give every thread a share, and sums that stay in a second-level cache. They do not change any sum. Each reads all
    // windows of its part.
    const int64_t rights = right_.panels(), threads = omp_get_max_threads(), channels = dw_.sizes()[0];
    const int64_t groups = std::min(rights, std::max((threads + parts_ - 1) / parts_, (sums_size() + kSums / 2 - 1) / (kSums / 2)));
    Scratch<float> sums(parts_ * sums_size());
    parallel_for(parts_ * groups, 1, [&](int64_t b, int64_t e) {
      Tiles tiles;
      Scratch<BFloat16> left(left_.panels() * kSteps * kTileStep), right((rights + groups - 1) / groups * kSteps * kTileStep), made(kMakes ? kWindows * channels : 0);
      for (int64_t i = b; i < e; i++) {
        const int64_t part = i / groups, group = i % groups;
        auto before = [&](int64_t chunk) {
          if constexpr (kMakes) make(chunk * kWindows, std::min(kWindows, windows_ - chunk * kWindows), made.data());
        };
        auto also = [&](int64_t chunk) {
          if (!input) return;
          const int64_t first = chunk * kWindows, from = input->panels() * group / groups, to = input->panels() * (group + 1) / groups;
          BFloat16* result = dx.data<BFloat16>() + first * dx.sizes()[1];
          if (kMakes) input->multiply(made.data(), std::min(kWindows, windows_ - first), from, to, result);
          else input->multiply(first, kWindows, from, to, result);
        };
        add(chunks_ * part / parts_, chunks_ * (part + 1) / parts_, rights * group / groups, rights * (group + 1) / groups, left.data(), right.data(),
            &sums[part * sums_size()], kMakes ? made.data() : nullptr, before, also);
      }
    });
    write(sums.data());
  }

 private:
  // Steps of a panel, so that one of each side stays in the first-level cache. Fewer spend more time on bringing sums to tiles and back.
  static constexpr int64_t kSteps = 8, kWindows = kSteps * kTileDepth;
  static constexpr int64_t kParts = 8, kSums = 512 << 10;  // of windows, each with its own sums; numbers of all of them

  struct Side {
    const BFloat16* data;
    int64_t channels;
    bool is_input;  // of which windows see only some places, if they have a stride
    int64_t panels() const { return tile_panels(channels); }
  };
  struct Places { int64_t stride_down, stride_across, height, width, down, across; };
  using Lines = std::array<const BFloat16*, kWindows>;

  int64_t sums_size() const { return left_.panels() * right_.panels() * kTileStep; }

  // Where the channels of the windows from `first` on lie, or of dy, if it is made, at `made`; zeros where there are no more.
  void find(const Side& side, int64_t first, const BFloat16* made, Lines& lines) const {
    const Places& p = places_;
    if (made && !side.is_input) {
      for (int64_t i = 0; i < kWindows; i++) lines[i] = first + i < windows_ ? made + i * side.channels : zeros_.data();
      return;
    }
    if (!side.is_input || (p.stride_down == 1 && p.stride_across == 1)) {
      for (int64_t i = 0; i < kWindows; i++) lines[i] = first + i < windows_ ? side.data + (first + i) * side.channels : zeros_.data();
      return;
    }
    const int64_t plane = p.down * p.across;
    int64_t image = first / plane, row = first % plane / p.across, column = first % p.across;
    for (int64_t i = 0; i < kWindows; i++) {
      lines[i] = first + i < windows_ ? side.data + ((image * p.height + row * p.stride_down) * p.width + column * p.stride_across) * side.channels : zeros_.data();
      if (++column < p.across) continue;
      column = 0;
      if (++row == p.down) row = 0, image++;
    }
  }

  // Sums of all left panels and the right ones from `from` to before `to`, over these chunks of windows; before(chunk), and also(chunk) while each is in a cache.
  template <class Before, class Also>
  void add(int64_t first, int64_t last, int64_t from, int64_t to, BFloat16* left, BFloat16* right, float* sums, const BFloat16* made, Before&& before, Also&& also) const {
    const int64_t lefts = left_.panels();
    Lines mine, other;
    for (int64_t chunk = first; chunk < last; chunk++) {
      const int64_t steps = std::min(kSteps, (windows_ - chunk * kWindows + kTileDepth - 1) / kTileDepth);
      before(chunk);
      find(left_, chunk * kWindows, made, mine), find(right_, chunk * kWindows, made, other);
      for (int64_t s = 0; s < steps; s++) {
        for (int64_t l = 0; l < lefts; l++)
          pack_left_step(&mine[s * kTileDepth], l * kTileLines, left_.channels - l * kTileLines, kTileDepth * left_.channels, left + (l * kSteps + s) * kTileStep);
        for (int64_t r = from; r < to; r++)
          pack_pairs(&other[s * kTileDepth], kTileDepth / 2, 2, r * kTileLines, kTileDepth * right_.channels, right + ((r - from) * kSteps + s) * kTileStep);
      }
      also(chunk);
      for (int64_t r = from; r < to; r++)
        for (int64_t l = 0; l < lefts; l++) {
          float* c = sums + (l * right_.panels() + r) * kTileStep;
          begin_sums(c, kTileLines, chunk > first);
          add_pairs(left + l * kSteps * kTileStep, right + (r - from) * kSteps * kTileStep, kPairNumbers, steps);
          end_sums(c, kTileLines);
        }
    }
  }

  void write(const float* sums) const {
    const Dims& stride = dw_.strides();
    const int64_t rights = right_.panels(), out_stride = stride[0], in_stride = stride[1];
    parallel_for(left_.panels() * rights, 1, [&](int64_t b, int64_t e) {
      alignas(64) float joined[kTileStep], turned[kTileStep];
      for (int64_t i = b; i < e; i++) {
        const float* from = sums + i * kTileStep;
        if (parts_ > 1) {
          std::copy_n(from, kTileStep, joined);
          for (int64_t part = 1; part < parts_; part++)
            for (int64_t k = 0; k < kTileStep; k++) joined[k] += from[part * sums_size() + k];
          from = joined;
        }
        if (turned_) turn_by<16>(from, kTileLines, turned, kTileLines, kTileLines, kTileLines), from = turned;
        const int64_t o = (turned_ ? i % rights : i / rights) * kTileLines, k = (turned_ ? i / rights : i % rights) * kTileLines;
        BFloat16* to = dw_.data<BFloat16>() + o * out_stride + k * in_stride;
        for (int64_t r = 0; r < std::min(kTileLines, dw_.sizes()[0] - o); r++) {
          if (in_stride == 1) round_to_bfloat16(from + r * kTileLines, kTileLines, to + r * out_stride);
          else
            for (int64_t c = 0; c < kTileLines; c++) to[r * out_stride + c * in_stride] = BFloat16(from[r * kTileLines + c]);
        }
      }
    });
  }

  Tensor dw_;
  Places places_;
  int64_t windows_;
  bool turned_;  // the left side is the input's
  Scratch<BFloat16> zeros_;
  Side left_, right_;
  int64_t chunks_, parts_;
};

/// Writes dw if this is the way, and false if it is not.
inline bool sum_by_products(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) {
  if (!(is_pointwise(op, dw) || is_pointwise_but_strided(op, dw)) || !suits_tiles(x, dy, dw)) return false;
  WeightProducts(op, x, dy, dw).run();
  return true;
}

/// Writes both gradients in one pass over dy if this is the way, and neither if it is not.
template <class Op> bool multiply_both(const Op& op, const Tensor& x, const Tensor& dy, const Tensor& w, const Tensor& dx, const Tensor& dw) {
  if (!is_pointwise(op, w) || !suits_tiles(x, dy, dw) || !LineProducts::suit(dy, w, dx)) return false;
  const LineProducts input = LineProducts::of_gradient(dy, w);
  WeightProducts(op, x, dy, dw).run(&input, dx);
  return true;
}

}  // namespace WEIR_ISA
}  // namespace weir
