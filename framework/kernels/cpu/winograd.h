// Convolutions of 3 x 3 places by minimal filtering. In float32, 2 x 2 results come from 16 products for each pair of channels, where the sum needs 36; in
// bfloat16, which the rounding of four results at a time does not reach, 4 x 4 results from 36 products in float32, where the sum needs 144.
//
// Images with channels innermost are cut into tiles that overlap by two places. Tiles and weights are transformed into as many points each (winograd_transforms.h),
// of which like ones are multiplied, as products of matrices (tiles x channels) that stay in the second-level cache, and what they give is transformed
// back. The gradient of the weights is the same with 3 x 3 results from the places of the output's gradient. Sums are as exact as oneDNN's, but what
// is not finite spreads over its tile, so that a result which is not finite is left to oneDNN.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include "framework/core/parallel.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/halves.h"
#include "framework/kernels/cpu/layouts.h"
#include "framework/kernels/cpu/tiles.h"
#include "framework/kernels/cpu/transpose.h"
#include "framework/kernels/cpu/winograd_transforms.h"

namespace weir {
namespace WEIR_ISA {

#if defined(__AVX2__)
namespace winograd {

// A block of sums is kRows x kWide: 28 registers of 32, or 12 of 16.
constexpr int kLanes = Vec<float>::size, kRows = kLanes == 16 ? 14 : 6, kWide = 2 * kLanes;
constexpr int64_t kLineGap = kLanes;                        // behind each line, so that lines do not meet in the same sets of a cache

/// A tile of images of T.
template <class T> struct Tile {
  static constexpr int results = std::is_same_v<T, float> ? 2 : 4, side = results + 2, points = side * side;
  using Transform = Transforms<results>;
};

inline V load(const float* p) { return Vec<float>::load(p).v; }
inline V load(const BFloat16* p) { return widened(p).v; }
inline void store(V v, float* p) { Vec<float>(v).store(p); }
inline void store(V v, BFloat16* p) { narrow(v, p); }
/// Numbers `step` apart.
inline V spaced(const float* p, int64_t step) {
#if defined(__AVX512F__)
  const __m512i lanes = _mm512_mullo_epi32(_mm512_set1_epi32(int(step)), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  return (V)_mm512_i32gather_ps(lanes, p, sizeof(float));
#else
  V v;
  for (int i = 0; i < kLanes; i++) v[i] = p[i * step];
  return v;
#endif
}

/// Images with channels innermost.
template <class T> struct Images {
  T* data;
  int64_t count, height, width, channels;
  explicit Images(const Tensor& t) : data(t.data<T>()), count(t.sizes()[0]), height(t.sizes()[2]), width(t.sizes()[3]), channels(t.sizes()[1]) {}
  T* at(int64_t image, int64_t y, int64_t x) const { return data + ((image * height + y) * width + x) * channels; }
  bool covers(int64_t y, int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }
};

/// Where the tiles of so many images of results stand.
template <class T> struct Grid {
  static constexpr int64_t kSide = Tile<T>::results;
  int64_t down, across, count;
  Grid(int64_t images, int64_t height, int64_t width) : down((height + kSide - 1) / kSide), across((width + kSide - 1) / kSide), count(images * down * across) {}
  int64_t image(int64_t t) const { return t / (down * across); }
  int64_t y(int64_t t) const { return t / across % down * kSide; }
  int64_t x(int64_t t) const { return t % across * kSide; }
};

/// The places of an N x N square from (y, x) on; `outside` for those beside the image.
template <int N, class T> std::array<T*, N * N> places(const Images<T>& images, int64_t image, int64_t y, int64_t x, T* outside) {
  std::array<T*, N * N> p;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) p[i * N + j] = images.covers(y + i, x + j) ? images.at(image, y + i, x + j) : outside;
  return p;
}

/// Writes the points of a tile with these places, each a line of all channels, `apart` from each other.
template <int N, class F, class T> void spread(const std::array<T*, N * N>& from, int64_t channels, float* to, int64_t apart, F&& f) {
  for (int64_t c = 0; c < channels; c += kLanes)
    both_ways<N, Tile<T>::side>([&](int i) { return load(from[i] + c); }, [&](int i, V point) { store(point, to + i * apart + c); }, f);
}

/// The numbers that the panels of such weights take.
template <class T> int64_t panels_size(const Dims& w) { return Tile<T>::points * w[0] * w[1]; }
/// The weights' points as panels: for each of them, and each kWide results' channels, a row for every input's channel.
/// `results` and `inputs` are the axes of w, of elements E, that these are; `flipped`: the places run backwards.
template <class T, class E = T> Tensor panels_of(const Tensor& w, int results, int inputs, bool flipped) {
  constexpr int kPoints = Tile<T>::points;
  if constexpr (!std::is_same_v<E, float>)
    if (std::min(w.strides()[inputs], w.strides()[results]) != 1) return panels_of<T, float>(copied(w, Meta(w.sizes(), w.strides(), DType::float32, w.device())), results, inputs, flipped);
  const Tensor panels = empty(Dims{panels_size<T>(w.sizes())}, DType::float32);
  float* all = panels.data<float>();
  const int64_t out = w.sizes()[results], in = w.sizes()[inputs];
  const bool turned = w.strides()[inputs] < w.strides()[results];  // vectors run over what lies closest, and are turned where that are the inputs
  const int64_t step = w.strides()[turned ? inputs : results], other_step = w.strides()[turned ? results : inputs];
  parallel_for(out / kLanes * (in / kLanes), 4, [&](int64_t b, int64_t e) {
    alignas(64) float square[kPoints][kLanes][kLanes];
    for (int64_t j = b; j < e; j++) {
      const int64_t k = j / (in / kLanes) * kLanes, c = j % (in / kLanes) * kLanes, panel = k / kWide * kWide, width = std::min<int64_t>(kWide, out - panel);
      const E* corner = w.data<E>() + k * w.strides()[results] + c * w.strides()[inputs];
      for (int row = 0; row < kLanes; row++) {
        auto weights = [&](int tap) -> V {
          const int at = flipped ? 8 - tap : tap;
          const E* from = corner + row * other_step + at / 3 * w.strides()[2] + at % 3 * w.strides()[3];
          if constexpr (std::is_same_v<E, float>)
            if (step != 1) return spaced(from, step);
          return load(from);
        };
        both_ways<3, Tile<T>::side>(weights, [&](int p, V point) { store(point, square[p][row]); }, typename Tile<T>::Transform::OfWeights());
      }
      for (int p = 0; p < kPoints; p++) {
        float* to = all + (p * out + panel) * in + c * width + (k - panel);
        if (turned) transpose_lanes(reinterpret_cast<const uint32_t*>(square[p]), kLanes, reinterpret_cast<uint32_t*>(to), width, std::make_index_sequence<kLanes>());
        else
          for (int row = 0; row < kLanes; row++) store(load(square[p][row]), to + row * width);
      }
    }
  });
  return panels;
}

/// sums (R x N registers, rows `ld` apart) = the rows of `a`, or what was there and these where `kAdd`, times those of `b`; a's numbers `a_row` and `a_step`
/// apart.
template <int R, int N, bool kAdd> void block(const float* a, int64_t a_row, int64_t a_step, const float* b, int64_t b_step, int64_t depth, float* sums, int64_t ld) {
  V s[R][N];
  const int64_t next = depth * b_step;
#pragma GCC unroll 14
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int n = 0; n < N; n++) {
      s[r][n] = kAdd ? load(sums + r * ld + n * kLanes) : V{};
      if (kAdd) __builtin_prefetch(sums + (R + r) * ld + n * kLanes, 0, 3);
    }
  for (int64_t k = 0; k < depth; k++, a += a_step, b += b_step) {
    V line[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; n++) line[n] = load(b + n * kLanes), __builtin_prefetch(b + next + n * kLanes, 0, 2);
#pragma GCC unroll 14
    for (int r = 0; r < R; r++) {
      const V x = every(a[r * a_row]);
#pragma GCC unroll 2
      for (int n = 0; n < N; n++) s[r][n] = fma(x, line[n], s[r][n]);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < R; r++)
#pragma GCC unroll 2
    for (int n = 0; n < N; n++) store(s[r][n], sums + r * ld + n * kLanes);
}
/// block() of `rows` x `width`, at most kRows x kWide.
template <bool kAdd> void any_block(int64_t rows, int64_t width, const float* a, int64_t a_row, int64_t a_step, const float* b, int64_t b_step, int64_t depth, float* sums, int64_t ld) {
  [&]<int... R>(std::integer_sequence<int, R...>) {
    using F = void (*)(const float*, int64_t, int64_t, const float*, int64_t, int64_t, float*, int64_t);
    static constexpr F of[2][kRows] = {{block<R + 1, 1, kAdd>...}, {block<R + 1, 2, kAdd>...}};
    of[width > kLanes][rows - 1](a, a_row, a_step, b, b_step, depth, sums, ld);
  }(std::make_integer_sequence<int, kRows>());
}
/// f(first, count) over [0, n) in parts of at most kRows, as even as they can be.
template <class F> void for_rows(int64_t n, F&& f) {
  const int64_t parts = (n + kRows - 1) / kRows;
  for (int64_t i = 0; i < parts; i++) f(n * i / parts, n * (i + 1) / parts - n * i / parts);
}

/// What is done to results, in this order: null where nothing is.
template <class T> struct Tail {
  const T* bias = nullptr;                          // by channel
  const float *scale = nullptr, *shift = nullptr;  // likewise
  const T* other = nullptr;                         // added, in the results' layout
  bool relu = false;
};

inline bool are_finite(V v) { return !any(!(abs(Vec<float>(v)) < Vec<float>(HUGE_VALF))); }

/// y = the convolution of x by weights of such panels. False if a result is not finite; y holds no result then.
template <class T> bool convolve(const Images<T>& x, const float* panels, int64_t pad_y, int64_t pad_x, const Images<T>& y, const Tail<T>& tail = {}) {
  constexpr int64_t kTogether = 56;  // tiles
  constexpr int kPoints = Tile<T>::points, kSide = Tile<T>::side, kResults = Tile<T>::results;
  using Transform = typename Tile<T>::Transform;
  const Grid<T> tiles(y.count, y.height, y.width);
  const int64_t in = x.channels, out = y.channels, in_line = in + kLineGap, out_line = out + kLineGap;
  int64_t blocks = (tiles.count + kTogether - 1) / kTogether;
  const int64_t threads = num_threads();
  if (blocks > 1) blocks = (blocks + threads - 1) / threads * threads;
  const int64_t most = (tiles.count + blocks - 1) / blocks;
  std::atomic<bool> finite = true;
  parallel_for(blocks, 1, [&](int64_t b, int64_t e) {
    Scratch<float> from(kPoints * most * in_line), to(kPoints * most * out_line);
    Scratch<T> zeros(in, T(0.0f)), nowhere(out);
    for (int64_t j = b; j < e && finite; j++) {
      const int64_t first = tiles.count * j / blocks, count = tiles.count * (j + 1) / blocks - first;
      for (int64_t t = 0; t < count; t++)
        spread<kSide>(places<kSide>(x, tiles.image(first + t), tiles.y(first + t) - pad_y, tiles.x(first + t) - pad_x, zeros.data()), in, &from[t * in_line], most * in_line,
                      typename Transform::OfInput());
      for (int64_t p = 0; p < kPoints; p++)
        for (int64_t k = 0; k < out; k += kWide) {
          const int64_t width = std::min<int64_t>(kWide, out - k);
          for_rows(count, [&](int64_t row, int64_t rows) {
            any_block<false>(rows, width, &from[(p * most + row) * in_line], in_line, 1, panels + (p * out + k) * in, width, in, &to[(p * most + row) * out_line + k], out_line);
          });
        }
      bool good = true;
      for (int64_t t = 0; t < count; t++) {
        const auto at = places<kResults>(y, tiles.image(first + t), tiles.y(first + t), tiles.x(first + t), nowhere.data());
        for (int64_t k = 0; k < out; k += kLanes)
          both_ways<kSide, kResults>(
              [&](int p) { return load(&to[(p * most + t) * out_line + k]); },
              [&](int i, V r) {
                if (tail.bias) r += load(tail.bias + k);
                good &= are_finite(r);
                if (tail.scale) r = r * load(tail.scale + k) + load(tail.shift + k);
                if (tail.other && at[i] != nowhere.data()) r += load(tail.other + (at[i] - y.data) + k);
                if (tail.relu) r = r > V{} ? r : V{};
                store(r, at[i] + k);
              },
              typename Transform::ToResult());
      }
      if (!good) finite = false;
    }
  });
  return finite;
}

/// dw = the gradient of a convolution's weights. False as convolve().
template <class T> class Weights {
 public:
  Weights(const Tensor& x, const Tensor& dy, int64_t pad_y, int64_t pad_x) : x_(x), dy_(dy), pad_y_(pad_y), pad_x_(pad_x), tiles_(dy_.count, dy_.height, dy_.width), in_line_(x_.channels + kLineGap), out_line_(dy_.channels + kLineGap) {}

  // Small sums are kept by every part of the tiles for itself, large ones once, of which threads then share blocks. Their order is the same for any
  // number of threads.
  bool run(const Tensor& dw) {
    const int64_t in = x_.channels, out = dy_.channels, size = kPoints * in * out;
    const int64_t chunks = (tiles_.count + together_ - 1) / together_, parts = size <= kMostSums ? std::min<int64_t>(kParts, chunks) : 1;
    Scratch<float> sums(parts * size, 0.0f);
    parallel_for(parts, 1, [&](int64_t b, int64_t e) {
      Scratch<float> from(kPoints * together_ * in_line_), by(kPoints * together_ * out_line_);
      Scratch<T> zeros(std::max(in, out), T(0.0f));
      for (int64_t part = b; part < e; part++)
        for (int64_t c = chunks * part / parts; c < chunks * (part + 1) / parts; c++) add(tiles_.count * c / chunks, tiles_.count * (c + 1) / chunks, from.data(), by.data(), zeros.data(), &sums[part * size]);
    });
    return write(sums.data(), parts, dw);
  }

 private:
  static constexpr int64_t kFewTogether = 112, kManyTogether = 256, kParts = 8, kMostSums = 1 << 18;
  static constexpr int kPoints = Tile<T>::points, kSide = Tile<T>::side, kResults = Tile<T>::results;
  using Transform = typename Tile<T>::Transform;

  void add(int64_t first, int64_t end, float* from, float* by, T* zeros, float* sums) const {
    const int64_t in = x_.channels, out = dy_.channels, count = end - first;
    parallel_for(count, 1, [&](int64_t b, int64_t e) {
      for (int64_t t = b; t < e; t++) {
        const int64_t image = tiles_.image(first + t), y = tiles_.y(first + t), x = tiles_.x(first + t);
        spread<kSide>(places<kSide>(x_, image, y - pad_y_, x - pad_x_, zeros), in, from + t * in_line_, together_ * in_line_, typename Transform::OfInput());
        spread<kResults>(places<kResults>(dy_, image, y, x, zeros), out, by + t * out_line_, together_ * out_line_, typename Transform::OfGradient());
      }
    });
    const int64_t across = (in + kWide - 1) / kWide;
    parallel_for(kPoints * across, 1, [&](int64_t b, int64_t e) {
      for (int64_t j = b; j < e; j++) {
        const int64_t p = j / across, c = j % across * kWide;
        for_rows(out, [&](int64_t k, int64_t rows) {
          any_block<true>(rows, std::min<int64_t>(kWide, in - c), by + p * together_ * out_line_ + k, 1, out_line_, from + p * together_ * in_line_ + c, in_line_, count, sums + (p * out + k) * in + c, in);
        });
      }
    });
  }

  bool write(const float* sums, int64_t parts, const Tensor& dw) const {
    const int64_t in = x_.channels, out = dy_.channels, size = kPoints * in * out;
    const Dims& stride = dw.strides();
    std::atomic<bool> finite = true;
    parallel_for(out, 1, [&](int64_t b, int64_t e) {
      bool good = true;
      for (int64_t k = b; k < e; k++)
        for (int64_t c = 0; c < in; c += kLanes) {
          auto total = [&](int p) {
            V v = load(sums + (p * out + k) * in + c);
            for (int64_t part = 1; part < parts; part++) v += load(sums + part * size + (p * out + k) * in + c);
            return v;
          };
          auto write = [&](int tap, V r) {
            good &= are_finite(r);
            T* to = dw.data<T>() + k * stride[0] + c * stride[1] + tap / 3 * stride[2] + tap % 3 * stride[3];
            if (stride[1] == 1) store(r, to);
            else
              for (int i = 0; i < kLanes; i++) to[i * stride[1]] = T(r[i]);
          };
          both_ways<kSide, 3>(total, write, typename Transform::ToWeights());
        }
      if (!good) finite = false;
    });
    return finite;
  }

  Images<T> x_, dy_;
  int64_t pad_y_, pad_x_;
  Grid<T> tiles_;
  int64_t in_line_, out_line_;
  int64_t together_ = kPoints * x_.channels * dy_.channels <= 4 * kMostSums ? kFewTogether : kManyTogether;  // large sums are passed over seldom
};

/// Whether a convolution of such weights (results x inputs x 3 x 3) with results like `y` is this file's case.
template <class Op> bool takes(const Op& op, const Dims& w, const Tensor& y) {
  // What few tiles gain, it costs to bring weights into panels.
  constexpr int64_t kFewChannels = 32, kFew = 4 * (std::is_same_v<Op, ConvolutionWeight> ? 16 : 64), kFewOfHalves = 16 * 192;
  auto all = [](const Dims& d, int64_t v) { return std::all_of(d.begin(), d.end(), [v](int64_t n) { return n == v; }); };
  if (!minimal_filtering() || w.n != 4 || w[2] != 3 || w[3] != 3 || op.groups != 1 || !all(op.stride, 1) || !all(op.dilation, 1) || w[0] % kLanes || w[1] % kLanes ||
      std::min(w[0], w[1]) < kFewChannels || std::max(op.padding[0], op.padding[1]) > 2)
    return false;
  const int64_t results = y.numel() / y.sizes()[1];
  if (y.dtype() == DType::float32) return results >= kFew;
  if (y.dtype() != DType::bfloat16 || has_tiles()) return false;  // a matrix unit sums them all in less time
  const int64_t computed = Grid<BFloat16>(y.sizes()[0], y.sizes()[2], y.sizes()[3]).count * 16;  // those beside the image too
  return results >= kFewOfHalves && 3 * results >= 2 * computed;
}
/// f<T>() of the dtype of such results.
template <class F> auto of_type(const Tensor& y, F&& f) { return y.dtype() == DType::float32 ? f.template operator()<float>() : f.template operator()<BFloat16>(); }

/// y = what write() gives of images like it, in y's layout. Its answer.
template <class T, class F> bool into(const Tensor& y, F&& write) {
  if (is_channels_last(y.sizes(), y.strides())) return write(Images<T>(y));
  const Tensor t = empty(channels_last_meta(y));
  if (!write(Images<T>(t))) return false;
  run_copy(t, y);
  return true;
}

}  // namespace winograd

/// How many numbers filter_by_tiles() reads of a weight of such sizes: 0 where it does not go that way.
inline int64_t tile_panels_size(const Convolution& op, const Dims& w, const Tensor& y) {
  if (!winograd::takes(op, w, y)) return 0;
  return winograd::of_type(y, [&]<class T>() { return winograd::panels_size<T>(w); });
}
/// What it reads.
inline Tensor tile_panels_of(const Convolution& op, const Tensor& w, const Tensor& y) {
  if (!winograd::takes(op, w.sizes(), y)) return Tensor();
  return winograd::of_type(y, [&]<class T>() { return winograd::panels_of<T>(w, 0, 1, false); });
}
/// y = relu((x * w + bias) * scale + shift + other), of which all but x and w may be missing; false if a result is not finite, where y may have been
/// written to. `panels` are tile_panels_of() the weight.
inline bool filter_by_tiles(const Dims& padding, const Tensor& x, const Tensor& panels, const Tensor& y, const Tensor& bias, const Tensor& scale = {}, const Tensor& shift = {},
                            const Tensor& other = {}, bool relu = false) {
  const Tensor from = in_layout(x, true), added = other ? in_layout(other, true) : other;
  return winograd::of_type(y, [&]<class T>() {
    auto numbers = []<class N>(const Tensor& t, N*) { return t ? t.data<N>() : nullptr; };
    T* halves = nullptr;
    float* floats = nullptr;
    const winograd::Tail<T> tail{numbers(bias, halves), numbers(scale, floats), numbers(shift, floats), numbers(added, halves), relu};
    return winograd::into<T>(y, [&](const winograd::Images<T>& to) { return winograd::convolve(winograd::Images<T>(from), panels.data<float>(), padding[0], padding[1], to, tail); });
  });
}
/// y = x * w + b, if this is the way: false if it is not, where y may have been written to.
inline bool filter_by_tiles(const Convolution& op, const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& y) {
  const Tensor panels = tile_panels_of(op, w, y);
  return panels && filter_by_tiles(op.padding, x, panels, y, b);
}
/// The gradient dx, likewise.
inline bool filter_by_tiles(const ConvolutionInput& op, const Tensor& dy, const Tensor& w, const Tensor& dx) {
  if (!winograd::takes(op, w.sizes(), dy)) return false;
  const Tensor panels = winograd::of_type(dx, [&]<class T>() { return winograd::panels_of<T>(w, 1, 0, true); });
  return filter_by_tiles(Dims{2 - op.padding[0], 2 - op.padding[1]}, dy, panels, dx, Tensor());
}
/// The gradient dw, likewise.
inline bool filter_by_tiles(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) {
  if (!winograd::takes(op, dw.sizes(), dy)) return false;
  return winograd::of_type(dw, [&]<class T>() { return winograd::Weights<T>(in_layout(x, true), in_layout(dy, true), op.padding[0], op.padding[1]).run(dw); });
}
#else
template <class... T> int64_t tile_panels_size(const T&...) { return 0; }
template <class... T> Tensor tile_panels_of(const T&...) { return Tensor(); }
template <class... T> bool filter_by_tiles(const T&...) { return false; }
#endif

}  // namespace WEIR_ISA
}  // namespace weir
