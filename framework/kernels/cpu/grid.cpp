#include "framework/ops/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/singles.h"

namespace weir {
namespace WEIR_ISA {
namespace {

enum Modes { kBilinear, kNearest, kBicubic };
enum Paddings { kZeros, kBorder, kReflection };  // any other is as zeros
constexpr int kMostTaps = 16;
constexpr int64_t kBlock = 64;  // points whose taps are found together and serve all channels

// A place along an axis, and what it changes by when its coordinate in the grid does.
template <class T> struct Place { T at, slope; };

// Axis extents and how the grid's numbers lie in them. PyTorch finds places in the grid's own dtype, and in halves (Number) rounds after each step, which
// far from the border decides where a mirror sends them.
template <class Number> struct Geometry {
  static constexpr bool kHalves = sizeof(Number) == 2;
  int rank;
  int64_t size[3], points, channels;
  int64_t strides[3], channel, picture;  // how far apart elements, channels and pictures are read
  int64_t mode, padding;
  bool align, backward;
  template <class Op> Geometry(const Op& op, const Tensor& x, const Tensor& grid, bool backward = false) : rank(x.ndim() - 2), channels(x.sizes()[1]),
      mode(op.interpolation_mode), padding(op.padding_mode), align(op.align_corners), backward(backward) {
    for (int d = 0; d < rank; d++) size[d] = x.sizes()[d + 2];
    read_as(contiguous_strides(x.sizes()));
    points = grid.sizes()[0] ? grid.numel() / (grid.sizes()[0] * rank) : 0;
  }

  void read_as(const Dims& s) {
    picture = s[0], channel = s[1];
    for (int d = 0; d < rank; d++) strides[d] = s[d + 2];
  }
  int64_t last() const {  // offset in a channel
    int64_t at = 0;
    for (int d = 0; d < rank; d++) at += (size[d] - 1) * strides[d];
    return at;
  }

  template <class T> Place<T> unnormalised(T x, int d) const {
    T n = T(size[d]);
    if (kHalves && rank == 2) {
      const T slope = rounded((align ? n - 1 : n) / 2), at = rounded(rounded(x + 1) * slope);
      return {align ? at : rounded(at - T(0.5)), slope};
    }
    if (kHalves) {
      const T from = rounded(x + 1);
      return align ? Place<T>{rounded(rounded(from / 2) * (n - 1)), (n - 1) / 2} : Place<T>{rounded(rounded(rounded(from * n) - 1) / 2), n / 2};
    }
    return align ? Place<T>{(x + 1) / 2 * (n - 1), (n - 1) / 2} : Place<T>{((x + 1) * n - 1) / 2, n / 2};
  }
  // Where x reads from: itself, the border, or its mirror image. There is no gradient on the border.
  template <class T> Place<T> padded(Place<T> p, int d) const {
    if (padding != kBorder && padding != kReflection) return p;
    if (padding == kReflection) p = reflected(p, d);
    T last = T(size[d] - 1);
    if (p.at > 0 && p.at < last) return p;
    if (backward && rank == 3 && p.at != p.at) return {p.at, T(0)};
    // PyTorch's loop over planes takes NaN to the first element, that over volumes to the last, and its gradient nowhere.
    return {p.at != p.at ? (rank == 2 ? T(0) : last) : p.at > 0 ? last : T(0), T(0)};
  }

 private:
  template <class T> T rounded(T x) const {
    if constexpr (kHalves) return T(float(Number(float(x))));
    else return x;
  }
  template <class T> Place<T> reflected(Place<T> p, int d) const {
    T low = align ? T(0) : T(-0.5), span = align ? T(size[d] - 1) : T(size[d]);
    if (span == 0) return {T(0), T(0)};
    T x = rounded(p.at - low);
    if (x < 0) x = -x, p.slope = -p.slope;
    if (kHalves && rank == 2) {
      T rest = rounded(x - rounded(std::trunc(rounded(x / (2 * span))) * (2 * span))), back = rounded(2 * span - rest);
      return {rounded(std::min(rest, back) + low), rest > back ? -p.slope : p.slope};
    }
    T rest = std::fmod(x, span), turns = std::floor(rounded(x / span));
    bool even = std::fmod(turns, T(2)) == 0;
    return {rounded((even ? rest : rounded(span - rest)) + low), even ? p.slope : -p.slope};
  }
};

// The elements that a place takes its value from: position in the plane (-1: outside), weight, and the weight's derivatives.
template <class T> struct Taps {
  int n = 0;
  int64_t at[kMostTaps];
  T weight[kMostTaps], slope[kMostTaps][3];
};

// Keys's cubic weights of the elements at -1, 0, 1, 2 of a place t between 0 and 1, and their derivatives; PyTorch's parameter.
template <class T> void cubic(T t, T* w, T* dw) {
  constexpr T A = T(-0.75);
  auto near = [](T x) { return ((A + 2) * x - (A + 3)) * x * x + 1; };
  auto far = [](T x) { return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A; };
  auto near_slope = [](T x) { return (3 * (A + 2) * x - 2 * (A + 3)) * x; };
  auto far_slope = [](T x) { return (3 * A * x - 10 * A) * x + 8 * A; };
  w[0] = far(t + 1), w[1] = near(t), w[2] = near(1 - t), w[3] = far(2 - t);
  dw[0] = far_slope(t + 1), dw[1] = near_slope(t), dw[2] = -near_slope(1 - t), dw[3] = -far_slope(2 - t);
}

// A whole number as a position along axis d, or -1; NaN is nowhere. A float may round the last position up.
template <class T, class Number> int64_t within(const Geometry<Number>& g, T x, int d) {
  return x >= 0 && x <= T(g.size[d] - 1) && int64_t(x) < g.size[d] ? int64_t(x) : -1;
}

template <class T, class Number> Taps<T> taps_at(const Geometry<Number>& g, const T* coordinates) {
  Taps<T> t;
  Place<T> p[3];
  for (int d = 0; d < g.rank; d++) p[d] = g.unnormalised(coordinates[g.rank - 1 - d], d);
  if (g.mode == kBicubic) {
    T w[2][4], dw[2][4], below[2];
    int64_t at[2][4];
    for (int d = 0; d < 2; d++) {
      below[d] = std::floor(p[d].at);
      cubic(p[d].at - below[d], w[d], dw[d]);
      for (int k = 0; k < 4; k++) at[d][k] = within(g, std::nearbyint(g.padded(Place<T>{below[d] + T(k - 1), T(0)}, d).at), d);
    }
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++, t.n++) {
        t.at[t.n] = at[0][i] < 0 || at[1][j] < 0 ? -1 : at[0][i] * g.strides[0] + at[1][j] * g.strides[1];
        t.weight[t.n] = w[0][i] * w[1][j];
        t.slope[t.n][0] = dw[0][i] * w[1][j] * p[0].slope;
        t.slope[t.n][1] = w[0][i] * dw[1][j] * p[1].slope;
      }
    return t;
  }
  for (int d = 0; d < g.rank; d++) {
    p[d] = g.padded(p[d], d);
    if (g.rank == 3 && p[d].at != p[d].at) p[d] = {T(-2), T(0)};  // in volumes NaN is outside
  }
  const int corners = g.mode == kNearest ? 1 : 1 << g.rank;
  for (int corner = 0; corner < corners; corner++, t.n++) {
    t.at[t.n] = 0, t.weight[t.n] = 1;
    T side[3] = {1, 1, 1}, sign[3] = {};
    for (int d = 0; d < g.rank; d++) {
      bool up = corner >> (g.rank - 1 - d) & 1;
      T below = g.mode == kNearest ? std::nearbyint(p[d].at) : std::floor(p[d].at);
      int64_t i = within(g, up ? below + 1 : below, d);
      t.at[t.n] = t.at[t.n] < 0 || i < 0 ? -1 : t.at[t.n] + i * g.strides[d];
      if (g.mode == kNearest) continue;
      side[d] = up ? p[d].at - below : below + 1 - p[d].at;
      sign[d] = up ? p[d].slope : -p[d].slope;
    }
    for (int d = g.rank; d-- > 0;) t.weight[t.n] *= side[d];  // the last axis first, as PyTorch multiplies
    for (int d = 0; d < g.rank; d++) {
      T others = sign[d];
      for (int e = 0; e < g.rank; e++)
        if (e != d) others *= side[e];
      t.slope[t.n][d] = g.mode == kNearest ? T(0) : others;
    }
  }
  return t;
}

template <class T> Tensor wide(const Tensor& t) {
  return t.dtype() == dtype_of<T>() ? row_major(t) : copied(t, Meta(t.sizes(), dtype_of<T>()));
}

// A vector of plane's elements, 0 where they are not inside. The compiler makes none of these loads by itself.
template <class T> Vec<T> gathered(const T* plane, const int32_t* at, Mask<T> inside) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const __mmask16 in = _mm512_movepi32_mask((__m512i)inside.v);
    return typename Vec<T>::V(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), in, _mm512_loadu_si512(at), plane, sizeof(T)));
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return typename Vec<T>::V(_mm256_mask_i32gather_ps(_mm256_setzero_ps(), plane, lanes, (__m256)inside.v, sizeof(T)));
  }
#endif
  Vec<T> values;
  for (int i = 0; i < Vec<T>::size; i++) values.v[i] = inside.v[i] ? plane[at[i]] : T(0);
  return values;
}
// Elements and their right neighbours, by half as many loads as two calls of `gathered` make.
template <class T> std::array<Vec<T>, 2> gathered_pairs(const T* plane, const int32_t* at) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    auto some = [&](int first) { return (__m512)_mm512_i32gather_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + first)), plane, sizeof(T)); };
    const __m512 low = some(0), high = some(8);
    const __m512i left = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), right = _mm512_add_epi32(left, _mm512_set1_epi32(1));
    return {typename Vec<T>::V(_mm512_permutex2var_ps(low, left, high)), typename Vec<T>::V(_mm512_permutex2var_ps(low, right, high))};
  }
#elif defined(__AVX2__)
  // One load for each pair, since this machine's gathers take longer than that. Pairs stand in the order in which shuffles part them.
  if constexpr (sizeof(T) == 4) {
    auto pair = [&](int i) { return reinterpret_cast<const __m64*>(plane + at[i]); };
    auto two = [&](int i) { return _mm_loadh_pi(_mm_loadl_pi(_mm_setzero_ps(), pair(i)), pair(i + 1)); };
    const __m256 first = _mm256_insertf128_ps(_mm256_castps128_ps256(two(0)), two(4), 1), second = _mm256_insertf128_ps(_mm256_castps128_ps256(two(2)), two(6), 1);
    return {typename Vec<T>::V(_mm256_shuffle_ps(first, second, 0x88)), typename Vec<T>::V(_mm256_shuffle_ps(first, second, 0xdd))};
  }
  if constexpr (sizeof(T) == 8) {
    auto pair = [&](int i) { return _mm_loadu_pd(plane + at[i]); };
    const __m256d even = _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(0)), pair(2), 1), odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(1)), pair(3), 1);
    return {typename Vec<T>::V(_mm256_unpacklo_pd(even, odd)), typename Vec<T>::V(_mm256_unpackhi_pd(even, odd))};
  }
#endif
  std::array<Vec<T>, 2> values;
  for (int i = 0; i < Vec<T>::size; i++) values[0].v[i] = plane[at[i]], values[1].v[i] = plane[at[i] + 1];
  return values;
}

// The taps of up to kBlock points, tap by tap, so that a channel's values are gathered by vectors. What is outside has position 0, and so
// has what is behind the last point. Slopes are found where kSlopes says so.
template <class T, bool kSlopes> struct Block {
  using Flag = typename LaneInt<sizeof(T)>::type;  // -1 or 0, a lane of a Mask<T>
  typedef T Pair __attribute__((vector_size(2 * sizeof(T))));
  int taps = 0;
  bool pairs = false;  // taps 2 j and 2 j + 1 are neighbours in memory, inside or not
  int32_t at[kMostTaps][kBlock];
  Flag inside[kMostTaps][kBlock];
  T weight[kMostTaps][kBlock], slope[kSlopes ? kMostTaps : 1][3][kBlock];

  template <class Number> void find(const Geometry<Number>& g, const T* grid, int64_t count) {
    constexpr int64_t exact = int64_t{1} << 24;  // up to which a float counts elements
    const bool plain = g.rank == 2 && g.mode == kBilinear && g.padding != kReflection && std::min(g.size[0], g.size[1]) >= 2 && std::max(g.size[0], g.size[1]) <= exact;
    pairs = plain && g.strides[1] == 1;
    if (plain) corners(g, grid, count);
    else any(g, grid, count);
    for (int j = 0; j < taps; j++)
      for (int64_t k = count; k < kBlock; k++) {
        at[j][k] = inside[j][k] = 0;
        weight[j][k] = 0;
        for (int d = 0; kSlopes && d < g.rank; d++) slope[j][d][k] = 0;
      }
  }
  Mask<T> is_inside(int j, int64_t k) const {
    Mask<T> mask;
    std::memcpy(&mask.v, &inside[j][k], sizeof mask.v);
    return mask;
  }
  // f(j, the vector of values of points k, k + 1, ... in plane, 0 outside) for each tap j.
  template <class Stored, class F> void each_tap(const Stored* plane, int64_t k, F f) const {
    for (int j = 0; j < taps; j++) {
      Vec<T> values;
      for (int i = 0; i < Vec<T>::size; i++) values.v[i] = inside[j][k + i] ? T(single(plane[at[j][k + i]])) : T(0);
      f(j, values);
    }
  }
  template <class F> void each_tap(const T* plane, int64_t k, F f) const {
    if (!pairs) {
      for (int j = 0; j < taps; j++) f(j, gathered(plane, &at[j][k], is_inside(j, k)));
      return;
    }
    for (int j = 0; j < 4; j += 2) {
      auto values = gathered_pairs(plane, &at[j][k]);
      for (int side = 0; side < 2; side++) f(j + side, where(is_inside(j + side, k), values[side], Vec<T>(T(0))));
    }
  }

  // Adds values, tap by tap, to the elements of a plane that they belong to. Those outside are passed over: each would wait for the one before it.
  class Scatter {
   public:
    explicit Scatter(const Block& b) : b_(b), step_(b.pairs ? 2 : 1) {
      for (int j = 0; j < b.taps; j += step_)
        for (int k = 0; k < kBlock; k++) {
          points_[j][many_[j]] = k;
          many_[j] += (b.inside[j][k] | b.inside[j + step_ - 1][k]) & 1;
        }
    }
    void add(const T (*values)[kBlock], T* plane) const {
      for (int j = 0; j < b_.taps; j += step_)
        for (int m = 0; m < many_[j]; m++) {
          const int k = points_[j][m];
          T* to = plane + b_.at[j][k];
          if (step_ == 1) {
            *to += values[j][k];
          } else {
            Pair sum;
            std::memcpy(&sum, to, sizeof sum);
            sum += Pair{values[j][k], values[j + 1][k]};
            std::memcpy(to, &sum, sizeof sum);
          }
        }
    }

   private:
    const Block& b_;
    int step_, points_[kMostTaps][kBlock], many_[kMostTaps] = {};
  };

 private:
  template <class Number> void any(const Geometry<Number>& g, const T* grid, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
      Taps<T> t = taps_at(g, grid + k * g.rank);
      taps = t.n;
      for (int j = 0; j < taps; j++) {
        inside[j][k] = -Flag(t.at[j] >= 0);
        at[j][k] = int32_t(std::max<int64_t>(t.at[j], 0));
        weight[j][k] = t.weight[j];
        for (int d = 0; kSlopes && d < g.rank; d++) slope[j][d][k] = t.slope[j][d];
      }
    }
  }
  // taps_at of the plainest and most frequent kind, without branches. A pair of rows or columns lies inside always: where the point's own does
  // not, the one that does is that of its other side, and the sides are exchanged.
  template <class Number> void corners(const Geometry<Number>& g, const T* grid, int64_t count) {
    using V = Vec<T>;
    typedef int32_t Positions __attribute__((vector_size(V::size * sizeof(int32_t))));
    struct Side { T weight[2][kBlock], slope[kBlock]; int32_t at[2][kBlock]; Flag inside[2][kBlock]; } sides[2];
    const V zero(T(0)), one(T(1));
    for (int d = 0; d < 2; d++) {
      Side& s = sides[d];
      T places[kBlock] = {};
      for (int64_t k = 0; k < count; k++) places[k] = g.unnormalised(grid[k * 2 + 1 - d], d).at;
      const V last(T(g.size[d] - 1)), slope(g.unnormalised(T(0), d).slope);
      for (int64_t k = 0; k < count; k += V::size) {
        const V place = V::load(places + k), kept = where(place > zero, where(place < last, place, last), zero);
        const V at = g.padding == kBorder ? kept : place, below = floor(at), above = below + one;
        const V low_at = where(below > zero, where(below < last - one, below, last - one), zero), high_at = low_at + one;
        const Mask<T> same = low_at == below;
        const V low = where(same, below, above), high = where(same, above, below);
        const V low_weight = where(same, above - at, at - below), high_weight = where(same, at - below, above - at);
        const V rise = g.padding == kBorder ? where((place > zero) & (place < last), slope, zero) : slope;
        const Mask<T> low_in = (low >= zero) & (low <= last), high_in = (high >= zero) & (high <= last);
        std::memcpy(&s.inside[0][k], &low_in.v, sizeof low_in.v), std::memcpy(&s.inside[1][k], &high_in.v, sizeof high_in.v);
        const Positions low_position = __builtin_convertvector(low_at.v, Positions), high_position = __builtin_convertvector(high_at.v, Positions);
        std::memcpy(&s.at[0][k], &low_position, sizeof low_position), std::memcpy(&s.at[1][k], &high_position, sizeof high_position);
        low_weight.store(&s.weight[0][k]), high_weight.store(&s.weight[1][k]), where(same, rise, -rise).store(&s.slope[k]);
      }
    }
    taps = 4;
    const int32_t down = int32_t(g.strides[0]), right = int32_t(g.strides[1]);
    for (int j = 0; j < 4; j++) {
      const int v = j >> 1, h = j & 1;
      for (int64_t k = 0; k < count; k++) {
        inside[j][k] = sides[0].inside[v][k] & sides[1].inside[h][k];
        at[j][k] = sides[0].at[v][k] * down + sides[1].at[h][k] * right;
        weight[j][k] = sides[1].weight[h][k] * sides[0].weight[v][k];
      }
      for (int64_t k = 0; kSlopes && k < count; k++) {
        slope[j][0][k] = (v ? sides[0].slope[k] : -sides[0].slope[k]) * sides[1].weight[h][k];
        slope[j][1][k] = (h ? sides[1].slope[k] : -sides[1].slope[k]) * sides[0].weight[v][k];
      }
    }
  }
};

// Calls f(tag of what is computed in, tag of what places are rounded to). Cubic weights are too steep for places of few digits: of PyTorch's, whose
// steps are rounded as well, little is right, and rounded places alone come no nearer to them.
template <class Op, class F> void with_numbers(const Op& op, DType dtype, F f) {
  if (dtype == DType::float64) f(TypeTag<double>{}, TypeTag<double>{});
  else if (op.interpolation_mode == kBicubic) f(TypeTag<float>{}, TypeTag<float>{});
  else if (dtype == DType::bfloat16) f(TypeTag<float>{}, TypeTag<BFloat16>{});
  else if (dtype == DType::float16) f(TypeTag<float>{}, TypeTag<Half>{});
  else f(TypeTag<float>{}, TypeTag<float>{});
}

template <class T, class Number, class Stored> void sample(const Geometry<Number>& g, const Stored* x, const T* grid, T* out, int64_t batch) {
  int64_t blocks = (g.points + kBlock - 1) / kBlock;
  parallel_for(batch * blocks, kGrain / 8 / (kBlock * std::max<int64_t>(g.channels, 1)), [&](int64_t b, int64_t e) {
    Block<T, false> block;
    for (int64_t i = b; i < e; i++) {
      int64_t n = i / blocks, first = i % blocks * kBlock, count = std::min(kBlock, g.points - first);
      block.find(g, grid + (n * g.points + first) * g.rank, count);
      // In volumes PyTorch skips what is outside, in planes it multiplies by zero: NaN shows the difference.
      if (g.mode == kNearest || g.rank == 3)
        for (int j = 0; j < block.taps; j++)
          for (int64_t k = 0; k < count; k++)
            if (g.mode == kNearest || !block.inside[j][k]) block.weight[j][k] = T(block.inside[j][k] & 1);
      for (int64_t c = 0; c < g.channels; c++) {
        const Stored* plane = x + n * g.picture + c * g.channel;
        T sums[kBlock];
        for (int64_t k = 0; k < count; k += Vec<T>::size) {
          Vec<T> sum(T(0));
          block.each_tap(plane, k, [&](int j, Vec<T> value) { sum = sum + value * Vec<T>::load(&block.weight[j][k]); });
          sum.store(sums + k);
        }
        std::copy_n(sums, count, out + (n * g.channels + c) * g.points + first);
      }
    }
  });
}

void forward(const GridSample& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  auto run = [&]<class T, class Number>(TypeTag<T>, TypeTag<Number>) {
    Geometry<Number> g(op, in[0], in[1]);
    // Few points of a tensor that is not dense, or of halves, are read where they lie.
    Tensor x = in[0], grid = wide<T>(in[1]);
    const bool as_stored = (x.dtype() == dtype_of<T>() || x.dtype() == dtype_of<Number>()) && g.points * kMostTaps <= g.last();
    if (as_stored) g.read_as(x.strides());
    else x = wide<T>(x);
    check(g.last() <= INT32_MAX, "grid_sampler: planes of more than 2^31 elements are not supported");
    Tensor y = out[0].dtype() == dtype_of<T>() ? out[0] : empty(out[0].sizes(), dtype_of<T>());
    if (x.dtype() == dtype_of<T>()) sample(g, x.data<T>(), grid.data<T>(), y.data<T>(), x.sizes()[0]);
    else if constexpr (!std::is_same_v<T, Number>) sample(g, x.data<Number>(), grid.data<T>(), y.data<T>(), x.sizes()[0]);
    if (out[0].dtype() != dtype_of<T>()) run_copy(y, out[0]);
  };
  with_numbers(op, in[0].dtype(), run);
}

template <class T, class Number> void spread(const Geometry<Number>& g, const T* dy, const T* x, const T* grid, T* dx, T* dgrid, int64_t batch) {
  // Where there are fewer pictures than threads, they share the channels of each; what they find for the grid is summed behind.
  const int64_t picture = g.points * g.rank, work = batch * g.channels * g.points;
  const int64_t parts = work < kGrain / 8 ? 1 : std::clamp<int64_t>(num_threads() / batch, 1, g.channels);
  Scratch<T> others((parts - 1) * batch * picture);
  parallel_for(batch * parts, work < kGrain / 8 ? batch : 1, [&](int64_t b, int64_t e) {
    Block<T, true> block;
    for (int64_t i = b; i < e; i++) {
      const int64_t n = i / parts, part = i % parts, from_channel = g.channels * part / parts, to_channel = g.channels * (part + 1) / parts;
      T* slopes = (part ? others.data() + (part - 1) * batch * picture : dgrid) + n * picture;
      for (int64_t first = 0; first < g.points; first += kBlock) {
        const int64_t count = std::min(kBlock, g.points - first);
        block.find(g, grid + n * picture + first * g.rank, count);
        const typename Block<T, true>::Scatter scatter(block);
        T sums[3][kBlock] = {}, d[kBlock] = {}, parts[kMostTaps][kBlock];
        for (int64_t c = from_channel; c < to_channel; c++) {
          std::copy_n(dy + (n * g.channels + c) * g.points + first, count, d);
          for (int64_t k = 0; k < count; k += Vec<T>::size) {
            const Vec<T> zero(T(0)), dk = Vec<T>::load(d + k);
            for (int j = 0; j < block.taps; j++) where(block.is_inside(j, k), Vec<T>::load(&block.weight[j][k]) * dk, zero).store(parts[j] + k);
            if (g.mode == kNearest) continue;  // no slopes: x is not asked
            block.each_tap(x + n * g.picture + c * g.channel, k, [&](int j, Vec<T> value) {
              const Mask<T> inside = block.is_inside(j, k);
              const Vec<T> part = where(inside, value * dk, zero);
              // As in sampling: outside a plane, a slope that is NaN counts, outside a volume it does not.
              for (int a = 0; a < g.rank; a++) {
                const Vec<T> term = part * Vec<T>::load(&block.slope[j][a][k]);
                (Vec<T>::load(sums[a] + k) + (g.rank == 2 ? term : where(inside, term, zero))).store(sums[a] + k);
              }
            });
          }
          scatter.add(parts, dx + n * g.picture + c * g.channel);
        }
        for (int64_t k = 0; k < count; k++)
          for (int a = 0; a < g.rank; a++) slopes[(first + k) * g.rank + g.rank - 1 - a] = sums[a][k];
      }
    }
  });
  for (int64_t part = 1; part < parts; part++)
    for (int64_t i = 0; i < batch * picture; i++) dgrid[i] += others[(part - 1) * batch * picture + i];
}

void backward(const GridSampleBackward& op, Inputs in, Outputs out) {
  auto run = [&]<class T, class Number>(TypeTag<T>, TypeTag<Number>) {
    Geometry<Number> g(op, in[1], in[2], true);
    Tensor dy = wide<T>(in[0]), x = wide<T>(in[1]), grid = wide<T>(in[2]);
    const bool direct = out[0].dtype() == dtype_of<T>() && out[1].dtype() == dtype_of<T>() && out[0].is_contiguous() && out[1].is_contiguous();
    Tensor dx = direct ? out[0] : empty(x.sizes(), dtype_of<T>()), dgrid = direct ? out[1] : empty(grid.sizes(), dtype_of<T>());
    std::fill_n(dx.data<T>(), dx.numel(), T(0));
    std::fill_n(dgrid.data<T>(), dgrid.numel(), T(0));
    if (dy.numel()) spread(g, dy.data<T>(), x.data<T>(), grid.data<T>(), dx.data<T>(), dgrid.data<T>(), x.sizes()[0]);
    if (direct) return;
    run_copy(dx, out[0]);
    run_copy(dgrid, out[1]);
  };
  with_numbers(op, in[1].dtype(), run);
}

const bool bound = [] {
  set_kernel<GridSample, forward>(DeviceType::cpu);
  set_kernel<GridSampleBackward, backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
