// Gradients of convolutions' weights in bfloat16, on CPUs that multiply numbers of bfloat16 in pairs (AVX512_BF16).
//
// Each number of the gradient sums over all windows, so what a pair joins are two windows side by side. oneDNN brings both sides into that order for
// every block of channels anew, and its kernels reach 500 to 780 GFLOP/s on two cores where its forward pass reaches 1,000. Here a few images are brought
// into it once, and stay in the second-level cache for all blocks of channels and all places in the window.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <algorithm>

#include "framework/core/parallel.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/conv_product.h"

namespace weir {
namespace WEIR_ISA {

#if defined(__AVX512F__)
#define WEIR_PAIRS __attribute__((target("avx512bf16,avx512bw,avx512vl,avx512dq")))

class WeightPairs {
 public:
  /// Whether this is its case: planes with channels innermost, 32 of input's to a block.
  static bool takes(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) {
    static const bool able = __builtin_cpu_supports("avx512bf16");
    constexpr int64_t kEnough = 1 << 24, kIntense = 190;  // products in all, and for each number that is brought into order
    return able && dw.dtype() == DType::bfloat16 && x.ndim() == 4 && op.groups == 1 && x.sizes()[1] % kLanes == 0 && dw.sizes()[0] >= 2 * kRows &&
           is_channels_last(x.sizes(), x.strides()) && is_channels_last(dy.sizes(), dy.strides()) && products(dy, dw) >= kEnough &&
           dw.numel() / (x.sizes()[1] + dw.sizes()[0]) >= kIntense;
  }

  WeightPairs(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) : x_(x.data<BFloat16>()), dy_(dy.data<BFloat16>()), dw_(dw),
      images_(x.sizes()[0]), in_(x.sizes()[1]), out_(dw.sizes()[0]), down_(axes_of(op, dw.sizes(), dy.sizes(), x.sizes()).y),
      across_(axes_of(op, dw.sizes(), dy.sizes(), x.sizes()).x) {
    if (is_pointwise(op, dw)) flatten();
    steps_ = (across_.windows + 1) / 2;
    places_ = across_.taps == 1 ? steps_ : (steps_ - 1) * 2 * across_.stride + (across_.taps - 1) * across_.dilation + 1;
    left_tiles_ = (out_ + kRows - 1) / kRows, right_tiles_ = in_ / kLanes, taps_ = down_.taps * across_.taps;
    const int64_t left = left_tiles_ * kLeft * down_.windows * steps_, right = right_tiles_ * kLanes * down_.places * places_;
    together_ = std::clamp<int64_t>(kCached / int64_t(sizeof(uint32_t)) / (left + right), 1, images_);
  }

  // Small sums are kept by every part of the images for itself, large ones once, of which threads then share blocks. Their order is the same for any
  // number of threads.
  void run() {
    const int64_t size = right_tiles_ * taps_ * left_tiles_ * kRows * kLanes, chunks = (images_ + together_ - 1) / together_;
    const int64_t parts = size * kParts <= kMostSums ? std::min(kParts, chunks) : 1;
    Scratch<float> sums(parts * size, 0.0f);
    parallel_for(parts, 1, [&](int64_t b, int64_t e) {
      Room room{Scratch<uint32_t>(left_tiles_ * together_ * down_.windows * steps_ * kLeft), Scratch<uint32_t>(right_tiles_ * together_ * down_.places * places_ * kLanes)};
      for (int64_t part = b; part < e; part++)
        for (int64_t c = chunks * part / parts; c < chunks * (part + 1) / parts; c++)
          add_images(c * together_, std::min(together_, images_ - c * together_), room, &sums[part * size]);
    });
    for (int64_t part = 1; part < parts; part++)
      for (int64_t i = 0; i < size; i++) sums[i] += sums[part * size + i];
    write(sums.data());
  }

 private:
  // A tile of sums is kRows of output's channels and kLanes of input's: 26 registers, of 32. 13 divides the usual numbers of channels with little left over.
  static constexpr int kRows = 13, kLanes = 32, kLeft = 16;
  static constexpr int64_t kLongest = 224;            // places of rows that are joined
  static constexpr int64_t kCached = 1280 << 10;      // bytes of the images that are added together
  static constexpr int64_t kParts = 8, kMostSums = 1 << 21;
  struct Room { Scratch<uint32_t> left, right; };

  void add_images(int64_t first, int64_t count, Room& room, float* sums) const {
    parallel_for(count * down_.windows, 1, [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; r++) pack_left(first + r / down_.windows, r % down_.windows, r, room.left.data());
    });
    parallel_for(count * down_.places, 1, [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; r++) pack_right(first + r / down_.places, r % down_.places, r, room.right.data());
    });
    const int64_t groups = std::min<int64_t>(left_tiles_, 4);
    parallel_for(right_tiles_ * taps_ * groups, 1, [&](int64_t b, int64_t e) {
      for (int64_t j = b; j < e; j++) {
        const int64_t group = j % groups, tap = j / groups % taps_, right = j / groups / taps_;
        for (int64_t left = left_tiles_ * group / groups; left < left_tiles_ * (group + 1) / groups; left++)
          add(room, left, right, tap / across_.taps, tap % across_.taps, count, sums + ((right * taps_ + tap) * left_tiles_ + left) * kRows * kLanes);
      }
    });
  }

  // Windows of one place: rows that follow each other become one, as long as it is short.
  void flatten() {
    const int64_t rows = down_.places;
    for (int64_t h = rows; h >= 1; h--) {
      if (rows % h || (h > 1 && h * across_.places > kLongest)) continue;
      images_ *= rows / h;
      across_.windows = across_.places = h * across_.places;
      down_.windows = down_.places = 1;
      return;
    }
  }

  // dy[2 m], dy[2 m + 1] of a row, by tiles of kRows channels.
  WEIR_PAIRS void pack_left(int64_t image, int64_t row, int64_t to_row, uint32_t* to) const {
    const int64_t rows = together_ * down_.windows;
    const BFloat16* from = dy_ + (image * down_.windows + row) * across_.windows * out_;
    for (int64_t m = 0; m < steps_; m++, from += 2 * out_)
      for (int64_t t = 0; t < left_tiles_; t++) {
        const __mmask16 some = __mmask16((1u << std::min<int64_t>(kRows, out_ - t * kRows)) - 1);
        const __m512i a = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, from + t * kRows));
        const bool both = 2 * m + 1 < across_.windows;
        const __m512i b = both ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, from + out_ + t * kRows)) : _mm512_setzero_si512();
        _mm512_storeu_si512(to + ((t * rows + to_row) * steps_ + m) * kLeft, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
      }
  }

  // x[q], x[q + stride] of a row, for every place q that a window may begin a pair at; zeros beside the row.
  WEIR_PAIRS void pack_right(int64_t image, int64_t row, int64_t to_row, uint32_t* out) const {
    const int64_t rows = together_ * down_.places, step = across_.taps == 1 ? 2 * across_.stride : 1;
    const BFloat16* from = x_ + (image * down_.places + row) * across_.places * in_;
    for (int64_t q = 0; q < places_; q++) {
      const int64_t first = q * step - across_.padding, second = first + across_.stride;
      const bool one = across_.covers(first), other = across_.covers(second);
      for (int64_t t = 0; t < right_tiles_; t++) {
        uint32_t* to = out + ((t * rows + to_row) * places_ + q) * kLanes;
        for (int half = 0; half < 2; half++) {
          const int64_t at = t * kLanes + half * 16;
          const __m512i a = one ? _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + first * in_ + at))) : _mm512_setzero_si512();
          const __m512i b = other ? _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + second * in_ + at))) : _mm512_setzero_si512();
          _mm512_storeu_si512(to + half * 16, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
        }
      }
    }
  }

  // s[r] += the products of pair r of `a` with two registers of pairs.
  WEIR_PAIRS [[gnu::always_inline]] static void multiply(__m512 (&s)[kRows][2], const uint32_t* a, __m512i x0, __m512i x1) {
#pragma GCC unroll 13
    for (int r = 0; r < kRows; r++) {
      const __m512bh g = __m512bh(_mm512_set1_epi32(int(a[r])));
      s[r][0] = _mm512_dpbf16_ps(s[r][0], __m512bh(x0), g), s[r][1] = _mm512_dpbf16_ps(s[r][1], __m512bh(x1), g);
    }
  }

  // sums[r][c] += the products of all windows of `count` images.
  WEIR_PAIRS void add(const Room& room, int64_t left, int64_t right, int64_t tap_y, int64_t tap_x, int64_t count, float* sums) const {
    __m512 s[kRows][2];
#pragma GCC unroll 13
    for (int r = 0; r < kRows; r++) s[r][0] = _mm512_loadu_ps(sums + r * kLanes), s[r][1] = _mm512_loadu_ps(sums + r * kLanes + 16);
    const int64_t step = (across_.taps == 1 ? 1 : 2 * across_.stride) * kLanes, whole = across_.windows / 2;
    for (int64_t i = 0; i < count; i++)
      for (int64_t row = 0; row < down_.windows; row++) {
        const int64_t line = down_.place(row, tap_y);
        if (!down_.covers(line)) continue;
        const uint32_t* a = &room.left[((left * together_ + i) * down_.windows + row) * steps_ * kLeft];
        const uint32_t* b = &room.right[(((right * together_ + i) * down_.places + line) * places_ + tap_x * across_.dilation) * kLanes];
        for (int64_t m = 0; m < whole; m++, a += kLeft, b += step) multiply(s, a, _mm512_loadu_si512(b), _mm512_loadu_si512(b + 16));
        if (whole == steps_) continue;
        // The last window has no partner; what stands beside it is not multiplied by zero, since it may be infinite.
        const __m512i one = _mm512_set1_epi32(0xffff);
        multiply(s, a, _mm512_and_si512(_mm512_loadu_si512(b), one), _mm512_and_si512(_mm512_loadu_si512(b + 16), one));
      }
#pragma GCC unroll 13
    for (int r = 0; r < kRows; r++) _mm512_storeu_ps(sums + r * kLanes, s[r][0]), _mm512_storeu_ps(sums + r * kLanes + 16, s[r][1]);
  }

  void write(const float* sums) const {
    const Dims& stride = dw_.strides();
    BFloat16* to = dw_.data<BFloat16>();
    parallel_for(out_, 1, [&](int64_t b, int64_t e) {
      for (int64_t o = b; o < e; o++)
        for (int64_t tap = 0; tap < taps_; tap++)
          for (int64_t right = 0; right < right_tiles_; right++) {
            const float* from = sums + (((right * taps_ + tap) * left_tiles_ + o / kRows) * kRows + o % kRows) * kLanes;
            BFloat16* at = to + o * stride[0] + right * kLanes * stride[1] + tap / across_.taps * stride[2] + tap % across_.taps * stride[3];
            for (int c = 0; c < kLanes; c++) at[c * stride[1]] = BFloat16(from[c]);
          }
    });
  }

  const BFloat16 *x_, *dy_;
  Tensor dw_;
  int64_t images_, in_, out_;
  WindowAxis down_, across_;
  int64_t steps_, places_, together_, left_tiles_, right_tiles_, taps_;
};
#undef WEIR_PAIRS

/// Writes dw if this is the way, and false if it is not.
inline bool sum_by_pairs(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) {
  if (!WeightPairs::takes(op, x, dy, dw)) return false;
  WeightPairs(op, x, dy, dw).run();
  return true;
}
#else
inline bool sum_by_pairs(const ConvolutionWeight&, const Tensor&, const Tensor&, const Tensor&) { return false; }
#endif

}  // namespace WEIR_ISA
}  // namespace weir
