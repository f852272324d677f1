// Sums and maps per channel of pictures, in the order of their memory.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/past_caches.h"
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

/// Calls f(image, row, column) for `count` places of images of height x width, from place `first` on.
template <class F> void for_places(int64_t first, int64_t count, int64_t height, int64_t width, F&& f) {
  int64_t x = first % width, y = first / width % height, image = first / width / height;
  for (; count > 0; count--) {
    f(image, y, x);
    if (++x < width) continue;
    x = 0;
    if (++y == height) y = 0, image++;
  }
}

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
/// Each may depend on the numbers of x in the same places. Before, `make` hears which come next, and `end` that no more do, and `fetch` asks for
/// those at `at`, or behind the end, to come nearer; of channels_last memory `block` hears of some lines at once, and says where those of x lie. Every thread
/// has its own copy. Here they are those of x; as they lie in memory; and see batch_norm.h.
struct Itself {
  template <class T> const T* block(const T* x, int64_t at, int64_t count) { return x + at; }
  void make(int64_t at, int64_t count) {}
  void end() const {}
  void fetch(int64_t at) const {}
  template <class A> const A* tile(int64_t at, int64_t c, const A* x, int64_t n, A* buffer) const { return x; }
  template <class V> V lanes(int64_t at, int64_t j, V x) const { return x; }
  template <class A> A single(int64_t at, int64_t j, A x) const { return x; }
};
template <class T> struct InMemory {
  const T* p;
  const T* block(const T* x, int64_t at, int64_t count) { return x + at; }
  void make(int64_t at, int64_t count) {}
  void end() const {}
  void fetch(int64_t at) const { __builtin_prefetch(p + at); }
  template <class A> const A* tile(int64_t at, int64_t c, const A* x, int64_t n, A* buffer) const { return widen<T, A>(p + at, buffer, n); }
  template <class A> Vec<A> lanes(int64_t at, int64_t j, Vec<A> x) const { return vector_of<A>(p + at); }
  template <class A> A single(int64_t at, int64_t j, A x) const { return A(p[at]); }
};

/// kTogether lines of L numbers side by side, x the first, which begins at `begin` of all, joined with the sums of the lanes, each of which has its own center.
template <int kTogether, class T, class A, class G, class F>
void lane_sums(const A* center, const T* x, G& g, int64_t begin, int64_t L, A* first, A* second, F&& f) {
  using V = Vec<A>;
  g.make(begin, kTogether * L);
  int64_t j = 0;
  for (; j + V::size <= L; j += V::size) {
    const V k = V::load(center + j);
    V s = V::load(first + j), t = V::load(second + j);
    for (int i = 0; i < kTogether; i++) {
      const int64_t at = begin + i * L + j;
      const T* of = x + i * L + j;
      __builtin_prefetch(of + kTogether * L), g.fetch(at + kTogether * L);
      const V value = vector_of<A>(of);
      f(k, value, g.lanes(at, j, value), s, t);
    }
    s.store(first + j), t.store(second + j);
  }
  for (; j < L; j++)
    for (int i = 0; i < kTogether; i++) {
      const int64_t at = begin + i * L + j;
      const A value = A(x[i * L + j]);
      f(center[j], value, g.single(at, j, value), first[j], second[j]);
    }
}

/// Per channel: the two sums that f(center of the channel, x, g, s, t) adds to, over all positions, in double.
template <class T, class A, class G, class F>
void channel_sums(const ChannelPlanes& p, const Scratch<A>& center, const T* x, const G& beside, Scratch<double>& first,
                  Scratch<double>& second, F&& f) {
  const int64_t C = p.channels;
  first.assign(C, 0), second.assign(C, 0);
  if (p.inner > 1) {
    parallel_for(C, 1, [&](int64_t b, int64_t e) {
      G g = beside;
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
      g.end();
    });
    return;
  }
  const int64_t L = p.line();
  const Scratch<A> centers = p.along(center);
  Shares shares;
  parallel_for((p.outer * C + L - 1) / L, kGrain / L, [&](int64_t b, int64_t e) {
    G g = beside;
    Scratch<double> total(size_t(2 * C), 0.0);
    Scratch<A> block(2 * L);
    A *s = block.data(), *t = s + L;
    const A* k = centers.data();
    for (int64_t r = b; r < e; r += kRows) {
      std::fill(block.begin(), block.end(), A(0));
      const int64_t end = std::min(r + kRows, e), whole = std::min(end, p.outer * C / L);  // the last line may be shorter
      constexpr int kTogether = 4;
      int64_t line = r;
      const T* of = g.block(x, r * L, std::min(end * L, p.outer * C) - r * L);
      for (; line + kTogether <= whole; line += kTogether, of += kTogether * L) lane_sums<kTogether>(k, of, g, line * L, L, s, t, f);
      for (; line < whole; line++, of += L) lane_sums<1>(k, of, g, line * L, L, s, t, f);
      if (line < end) lane_sums<1>(k, of, g, line * L, p.outer * C - line * L, s, t, f);
      for (int64_t j = 0; j < L; j += C)
        for (int64_t c = 0; c < C; c++) total[c] += s[j + c], total[C + c] += t[j + c];
    }
    g.end();
    shares.add(b, std::move(total));
  });
  Scratch<double> both(2 * C, 0);
  shares.join(both.data(), 2 * C);
  for (int64_t c = 0; c < C; c++) first[c] += both[c], second[c] += both[C + c];
}

// Bytes from what is computed to what is asked for. Of two streams that come from memory with long formulas between them a machine guessed none:
// 512 x 28 x 28 bfloat16 of 16 pictures and what is added to them took 4.7 ms in the place of 1.2 (Intel Xeon with AMX, two threads).
constexpr int64_t kAhead = 3072;

/// Reads a table `along` the planes for a register of numbers: side by side from number j of a line on, or all of channel c.
struct BesideEachOther {
  int64_t j;
  int count;
  template <class A> Vec<A> operator()(const A* table) const { return load(table + j, count); }
};
struct OfChannel {
  int64_t c;
  template <class A> Vec<A> operator()(const A* table) const { return Vec<A>(table[c]); }
};

/// out[k] = f(at(k, count), x[k], g[k]) of n numbers, a register at a time; without g, x stands for it.
template <class T, class A, class At, class F> void map_line(const T* x, const T* g, T* out, int64_t n, At&& at, F&& f) {
  using V = Vec<A>;
  constexpr int w = V::size;
  constexpr int64_t ahead = kAhead / sizeof(T), line = 64 / sizeof(T);
  auto run = [&](auto has_g) {
    auto fetch = [&](int64_t i) {
      __builtin_prefetch(x + i + ahead);
      if (has_g) __builtin_prefetch(g + i + ahead);
    };
    auto value = [&](int64_t i) {
      const V v = vector_of<A>(x + i);
      return f(at(i, w), v, has_g ? vector_of<A>(g + i) : v);
    };
    int64_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w) {
      for (int64_t k = 0; k < 2 * w; k += line) fetch(i + k);
      narrow_pair(value(i), value(i + w), out + i);
    }
    for (; i < n; i += w) {
      const int count = int(std::min<int64_t>(w, n - i));
      T vs[w] = {}, gs[w] = {};
      A r[w];
      std::copy_n(x + i, count, vs);
      if (has_g) std::copy_n(g + i, count, gs);
      const V v = vector_of<A>(vs);
      f(at(i, count), v, has_g ? vector_of<A>(gs) : v).store(r);
      for (int k = 0; k < count; k++) out[i + k] = T(r[k]);
    }
  };
  if (g) run(std::true_type());
  else run(std::false_type());
}

struct Nothing {
  template <class T> void operator()(int64_t, int64_t, const T*) const {}
};
/// out = f(at, x, g) at every position, by registers, where `at` reads tables `along` the planes. after(begin, count, numbers) hears of each line.
template <class T, class A, class F, class After = Nothing> void channel_map(const ChannelPlanes& p, const T* x, const T* g, T* out, F&& f, After&& after = {}) {
  const int64_t C = p.channels, n = p.outer * C * p.inner, L = p.inner > 1 ? kTile : p.line();
  const bool streams = n * int64_t(sizeof(T)) >= kStreamed && out != x && out != g;
  // A line of at most L numbers from `begin` on.
  auto line = [&](int64_t begin, int64_t count, Scratch<T>& buffer, auto&& at) {
    T* const to = streams ? buffer.data() : out + begin;
    map_line<T, A>(x + begin, g ? g + begin : nullptr, to, count, at, f);
    after(begin, count, to);
    if (streams) stream(buffer.data(), out + begin, size_t(count) * sizeof(T));
  };
  auto share = [&](auto&& lines) {
    Scratch<T> buffer(streams ? size_t(L) : 0);
    lines(buffer);
    if (streams) streamed();
  };
  if (p.inner > 1) {
    return parallel_for(p.outer * C, kGrain / p.inner, [&](int64_t b, int64_t e) {
      share([&](Scratch<T>& buffer) {
        for (int64_t i = b; i < e; i++)
          for (int64_t k = 0; k < p.inner; k += L) line(i * p.inner + k, std::min(L, p.inner - k), buffer, [&](int64_t, int) { return OfChannel{i % C}; });
      });
    });
  }
  parallel_for((n + L - 1) / L, kGrain / L, [&](int64_t b, int64_t e) {
    share([&](Scratch<T>& buffer) {
      for (int64_t i = b; i < e; i++) line(i * L, std::min(L, n - i * L), buffer, [](int64_t j, int count) { return BesideEachOther{j, count}; });
    });
  });
}

}  // namespace WEIR_ISA
}  // namespace weir
