// Sums and maps per channel of pictures, in the order of their memory.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/registers.h"
#include "framework/kernels/cpu/widths.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kLine = 256;  // numbers of channels_last memory that are converted and computed at once

/// Pictures as (outer, channels, inner): inner is 1 in channels_last memory, and all positions in row-major memory.
struct ChannelPlanes {
  int64_t outer, channels, inner;
  explicit ChannelPlanes(const Tensor& x) : outer(x.sizes()[0]), channels(x.sizes()[1]), inner(1) {
    int64_t positions = 1;
    for (int i = 2; i < x.ndim(); i++) positions *= x.sizes()[i];
    if (x.is_contiguous() && positions != 1) inner = positions;
    else outer *= positions;
  }
  /// How many numbers one step of channels_last memory takes: those of several positions, where they have few channels.
  int64_t line() const { return channels * std::max<int64_t>(1, std::min(outer, kLine / channels)); }
  /// A number per channel for each number of a line; for each channel in row-major memory.
  template <class A> Scratch<A> along(const Scratch<A>& per_channel) const {
    Scratch<A> all(inner > 1 ? channels : line());
    for (auto to = all.begin(); to != all.end();) to = std::copy(per_channel.begin(), per_channel.end(), to);
    return all;
  }
};

/// Sums of several threads, added in the order of their shares, so that it does not show who was first.
class Shares {
 public:
  void add(int64_t begin, Scratch<double> sums) {
#pragma omp critical
    all_.emplace_back(begin, std::move(sums));
  }
  /// Adds all to the n numbers of `total`.
  void join(double* total, int64_t n) {
    std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [begin, sums] : all_)
      for (int64_t i = 0; i < n; i++) total[i] += sums[i];
  }

 private:
  std::vector<std::pair<int64_t, Scratch<double>>> all_;
};

constexpr int64_t kRows = 64;  // rows summed in the compute type before they join the double totals

/// Adds what f(center, x, g, s, t) adds to s and t over n numbers. Two pairs of sums, since one waits for its own result.
template <class A, class F> void line_sums(A center, const A* x, const A* g, int64_t n, double& first, double& second, F&& f) {
  using V = Vec<A>;
  V k(center), s[2] = {V(0), V(0)}, t[2] = {V(0), V(0)};
  A s_rest = 0, t_rest = 0;
  int64_t i = 0;
  for (; i + 2 * V::size <= n; i += 2 * V::size)
    for (int j = 0; j < 2; j++) f(k, V::load(x + i + j * V::size), V::load(g + i + j * V::size), s[j], t[j]);
  for (; i < n; i++) f(center, x[i], g[i], s_rest, t_rest);
  first += sum_lanes(s[0] + s[1]) + s_rest, second += sum_lanes(t[0] + t[1]) + t_rest;
}

/// What is summed beside x: n numbers from `at` on, of channel c; a register of them, which stand in lane j of a line and behind it; and one.
/// Each may depend on the numbers of x in the same places. Before, `make` hears which come next, and `fetch` asks for those at `at`, or behind
/// the end, to come nearer. Here they are those of x; as they lie in memory; and see batch_norm.h.
struct Itself {
  void make(int64_t at, int64_t count) const {}
  void fetch(int64_t at) const {}
  template <class A> const A* tile(int64_t at, int64_t c, const A* x, int64_t n, A* buffer) const { return x; }
  template <class V> V lanes(int64_t at, int64_t j, V x) const { return x; }
  template <class A> A single(int64_t at, int64_t j, A x) const { return x; }
};
template <class T> struct InMemory {
  const T* p;
  void make(int64_t at, int64_t count) const {}
  void fetch(int64_t at) const { __builtin_prefetch(p + at, 0, 2); }
  template <class A> const A* tile(int64_t at, int64_t c, const A* x, int64_t n, A* buffer) const { return widen<T, A>(p + at, buffer, n); }
  template <class A> Vec<A> lanes(int64_t at, int64_t j, Vec<A> x) const { return vector_of<A>(p + at); }
  template <class A> A single(int64_t at, int64_t j, A x) const { return A(p[at]); }
};

/// Lines of L numbers side by side, the first of which begins at `begin`. Every lane has its own center and sums: the sums of the lanes from j
/// on, as many at a time as `kVectors` registers hold, in which they stay for all rows. Returns the first lane that is left. Down the rows of a
/// block no machine guesses what is read next, so the same places of the next block are fetched.
template <int kVectors, class T, class A, class G, class F>
int64_t lane_sums(const A* center, const T* x, const G& g, int64_t begin, int64_t L, int64_t j, int64_t rows, A* first, A* second, F&& f) {
  using V = Vec<A>;
  constexpr int w = V::size;
  for (; j + kVectors * w <= L; j += kVectors * w) {
    V k[kVectors], s[kVectors], t[kVectors];
    for (int v = 0; v < kVectors; v++) k[v] = V::load(center + j + v * w), s[v] = V(0), t[v] = V(0);
    for (int64_t i = 0; i < rows; i++)
      for (int v = 0; v < kVectors; v++) {
        const int64_t lane = j + v * w, at = begin + i * L + lane;
        __builtin_prefetch(x + at + kRows * L, 0, 2), g.fetch(at + kRows * L);
        const V value = vector_of<A>(x + at);
        f(k[v], value, g.lanes(at, lane, value), s[v], t[v]);
      }
    for (int v = 0; v < kVectors; v++) s[v].store(first + j + v * w), t[v].store(second + j + v * w);
  }
  return j;
}

/// Per channel: the two sums that f(center of the channel, x, g, s, t) adds to, over all positions, in double.
template <class T, class A, class G, class F>
void channel_sums(const ChannelPlanes& p, const Scratch<A>& center, const T* x, const G& g, Scratch<double>& first,
                  Scratch<double>& second, F&& f) {
  const int64_t C = p.channels;
  first.assign(C, 0), second.assign(C, 0);
  if (p.inner > 1) {
    parallel_for(C, 1, [&](int64_t b, int64_t e) {
      for (int64_t c = b; c < e; c++)
        for (int64_t o = 0; o < p.outer; o++) {
          for (int64_t i = 0; i < p.inner; i += kTile) {
            int64_t n = std::min(kTile, p.inner - i), at = (o * C + c) * p.inner + i;
            g.make(at, n);
            A bx[kTile], bg[kTile];
            const A *px = widen<T, A>(x + at, bx, n), *pg = g.tile(at, c, px, n, bg);
            line_sums(center[c], px, pg, n, first[c], second[c], f);
          }
        }
    });
    return;
  }
  const int64_t L = p.line();
  const Scratch<A> centers = p.along(center);
  Shares shares;
  parallel_for((p.outer * C + L - 1) / L, kGrain / L, [&](int64_t b, int64_t e) {
    Scratch<double> total(size_t(2 * C), 0.0);
    Scratch<A> block(2 * L);
    A *s = block.data(), *t = s + L;
    const A* k = centers.data();
    for (int64_t r = b; r < e; r += kRows) {
      const int64_t end = std::min(r + kRows, e), rows = std::min(end, p.outer * C / L) - r;  // but for the last line, which may be shorter
      const int64_t begin = r * L, stop = begin + rows * L, last = std::min(p.outer * C, end * L);
      g.make(begin, last - begin);
      int64_t j = lane_sums<4>(k, x, g, begin, L, 0, rows, s, t, f);
      j = lane_sums<1>(k, x, g, begin, L, j, rows, s, t, f);
      auto single = [&](int64_t lane, int64_t at) { f(k[lane], A(x[at]), g.single(at, lane, A(x[at])), s[lane], t[lane]); };
      for (; j < L; j++) {
        s[j] = t[j] = 0;
        for (int64_t i = 0; i < rows; i++) single(j, begin + i * L + j);
      }
      for (int64_t at = stop; at < last; at++) single(at - stop, at);
      for (j = 0; j < L; j += C)
        for (int64_t c = 0; c < C; c++) total[c] += s[j + c], total[C + c] += t[j + c];
    }
    shares.add(b, std::move(total));
  });
  Scratch<double> both(2 * C, 0);
  shares.join(both.data(), 2 * C);
  for (int64_t c = 0; c < C; c++) first[c] += both[c], second[c] += both[C + c];
}

/// out[k] = f(k, x[k], g[k]) of n numbers; without g, x stands for it.
template <class T, class A, class F> void map_line(const T* x, const T* g, T* out, int64_t n, F&& f) {
  if constexpr (std::is_same_v<T, A>) {
    const T* other = g ? g : x;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) out[k] = f(k, x[k], other[k]);
  } else {
    constexpr int64_t some = std::is_same_v<A, float> && kVecBytes >= 32 ? 2 * Vec<A>::size : 64;  // as few as stay in registers, where converting is no call
    A bx[some], bg[some], bo[some];
    auto part = [&](int64_t i, auto count) {
      widen<T, A>(x + i, bx, count);
      if (g) widen<T, A>(g + i, bg, count);
      const A* other = g ? bg : bx;
#pragma omp simd
      for (int64_t k = 0; k < count; k++) bo[k] = f(i + k, bx[k], other[k]);
      narrow<T, A>(out + i, bo, count);
    };
    int64_t i = 0;
    for (; i + some <= n; i += some) part(i, std::integral_constant<int64_t, some>{});
    if (i < n) part(i, n - i);
  }
}

/// out = f(c, x, g) at every position, where c is one in `along` the planes.
template <class T, class A, class F> void channel_map(const ChannelPlanes& p, const T* x, const T* g, T* out, F&& f) {
  const int64_t C = p.channels;
  if (p.inner > 1) {
    return parallel_for(p.outer * C, kGrain / p.inner, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        const int64_t at = i * p.inner, c = i % C;
        map_line<T, A>(x + at, g ? g + at : nullptr, out + at, p.inner, [&](int64_t, A v, A h) { return f(c, v, h); });
      }
    });
  }
  const int64_t L = p.line();
  parallel_for((p.outer * C + L - 1) / L, kGrain / L, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) map_line<T, A>(x + i * L, g ? g + i * L : nullptr, out + i * L, std::min(L, p.outer * C - i * L), f);
  });
}

}  // namespace WEIR_ISA
}  // namespace weir
