// The walk over strided operands: axes in the order of the output's memory, merged where they can be, in runs of the innermost axis or in
// blocks of the innermost few.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

struct Operand {
  std::byte* data = nullptr;
  DType dtype;
  int64_t strides[kMaxDims];  // in elements, outermost first
};

/// The iteration space after axes were ordered by the output's strides and merged where possible.
struct Space {
  Operand ops[kMaxOperands];  // the output first
  int64_t sizes[kMaxDims];
  int n = 0, count = 0;
};

inline int64_t broadcast_stride(const Tensor& t, const Dims& sizes, int d) {
  int k = d - (sizes.n - t.ndim());
  return k < 0 || (t.sizes()[k] == 1 && sizes[d] != 1) ? 0 : t.strides()[k];
}

inline Space make_space(std::span<const Tensor> in, const Tensor& out) {
  Space s;
  const Dims& sizes = out.sizes();
  int order[kMaxDims], n = 0;
  for (int d = 0; d < sizes.n; d++)
    if (sizes[d] != 1) order[n++] = d;
  std::stable_sort(order, order + n, [&](int a, int b) { return std::abs(out.strides()[a]) > std::abs(out.strides()[b]); });
  auto add = [&](const Tensor& t) {
    Operand& o = s.ops[s.count++];
    if (!t) return;
    o.data = t.raw();
    o.dtype = t.dtype();
    for (int i = 0; i < n; i++) o.strides[i] = broadcast_stride(t, sizes, order[i]);
  };
  add(out);
  for (const Tensor& x : in) add(x);
  for (int i = 0; i < n; i++) {
    bool merge = s.n > 0;
    for (int k = 0; merge && k < s.count; k++)
      merge = !s.ops[k].data || s.ops[k].strides[s.n - 1] == s.ops[k].strides[i] * sizes[order[i]];
    if (!merge) s.n++;
    s.sizes[s.n - 1] = merge ? s.sizes[s.n - 1] * sizes[order[i]] : sizes[order[i]];
    for (int k = 0; k < s.count; k++) s.ops[k].strides[s.n - 1] = s.ops[k].strides[i];
  }
  if (s.n == 0) {
    s.sizes[0] = 1;
    for (int k = 0; k < s.count; k++) s.ops[k].strides[0] = 0;
    s.n = 1;
  }
  return s;
}

/// Offsets of position `row` of all axes but the `whole` innermost.
inline void offsets_of_row(const Space& s, int64_t row, int64_t* offset, int whole = 1) {
  for (int k = 0; k < s.count; k++) offset[k] = 0;
  for (int d = s.n - whole; d-- > 0; row /= s.sizes[d])
    for (int k = 0; k < s.count; k++) offset[k] += row % s.sizes[d] * s.ops[k].strides[d];
}

/// Walks runs of the innermost axis: `visit(offsets per operand, length)`.
template <class Visit>
void for_runs(const Space& s, int64_t begin, int64_t end, Visit&& visit) {
  const int last = s.n - 1;
  const int64_t inner = s.sizes[last], across = last ? s.sizes[last - 1] : 1;
  int64_t row = begin / inner, start = begin % inner, offset[kMaxOperands];
  while (begin < end) {
    offsets_of_row(s, row, offset);
    for (int k = 0; start && k < s.count; k++) offset[k] += start * s.ops[k].strides[last];
    for (int64_t left = across - row % across; left > 0 && begin < end; left--, row++) {
      const int64_t length = std::min(inner - start, end - begin);
      visit(offset, length);
      begin += length;
      for (int k = 0; last && k < s.count; k++) offset[k] += s.ops[k].strides[last - 1] - start * s.ops[k].strides[last];
      start = 0;
    }
  }
}

/// Walks lines of the innermost axis, of two or more, from number `begin` to `end`: `visit(offsets per operand, lines)` for those that follow each other along
/// the axis before it.
template <class Visit> void for_lines(const Space& s, int64_t begin, int64_t end, Visit&& visit) {
  const int across = s.n - 2;
  int64_t place[kMaxDims], offset[kMaxOperands] = {}, rest = begin;
  auto move = [&](int d, int64_t by) {
    place[d] += by;
    for (int k = 0; k < s.count; k++) offset[k] += by * s.ops[k].strides[d];
  };
  for (int d = across; d >= 0; rest /= s.sizes[d--]) place[d] = 0, move(d, rest % s.sizes[d]);
  while (begin < end) {
    const int64_t lines = std::min(s.sizes[across] - place[across], end - begin);
    visit(static_cast<const int64_t*>(offset), lines);
    begin += lines;
    move(across, lines);
    for (int d = across; d > 0 && place[d] == s.sizes[d]; d--) move(d, -place[d]), move(d - 1, 1);
  }
}

constexpr int64_t kShortRun = 32;  // shorter innermost axes are walked several runs at a time

inline int64_t volume_of(const Space& s, int axes) {
  int64_t volume = 1;
  for (int d = s.n - axes; d < s.n; d++) volume *= s.sizes[d];
  return volume;
}

/// How many of the innermost axes are short enough that blocks of them, and rows of a longer axis before, are walked at once, since a call per run
/// would cost more than its elements; 0: none.
inline int short_axes(const Space& s) {
  if (s.sizes[s.n - 1] >= kShortRun) return 0;
  for (int whole = 1; whole < s.n; whole++) {
    const int64_t volume = volume_of(s, whole);
    if (volume > kTile / 4) return 0;
    if (s.sizes[s.n - 1 - whole] >= std::max<int64_t>(8, 128 / volume)) return whole;
  }
  return 0;
}

/// Blocks of the `whole` innermost axes, and of rows of the axis before, between operands and row-major tiles.
class Blocks {
 public:
  Blocks(const Space& s, int whole) : s_(s), first_(s.n - 1 - whole) {
    int64_t step = 1;
    for (int d = s.n - 1; d >= first_; step *= s.sizes[d--]) step_[d] = step;
  }

  /// Whether a block of operand k lies as its tile would.
  bool is_dense(int k) const {
    for (int d = first_; d < s_.n; d++)
      if (s_.ops[k].strides[d] != step_[d]) return false;
    return true;
  }
  bool repeats_rows(int k) const { return s_.ops[k].strides[first_] == 0; }

  /// Lines between an operand and its tile, `move(offset, step, place in the tile, step there, count)`: of short runs along the longest axis.
  /// Axes along which an input repeats itself, but the innermost, are left to repeat().
  template <class Move> void each_line(int k, int64_t offset, int64_t rows, Move&& move) const {
    const int last = s_.n - 1;
    int along = last;
    for (int d = first_; s_.sizes[last] < kShortRun && d < last; d++)
      if (walks(k, d) && size(d, rows) > size(along, rows)) along = d;
    each_place(k, offset, rows, last, along,
               [&](int64_t from, int64_t to) { move(from, s_.ops[k].strides[along], to, step_[along], size(along, rows)); });
  }

  /// Fills the rest of a tile of `item` bytes a number.
  void repeat(int k, int64_t rows, std::byte* tile, size_t item) const {
    for (int d = s_.n - 2; d >= first_; d--) {
      if (walks(k, d)) continue;
      const size_t bytes = step_[d] * item, count = size(d, rows);
      each_place(k, 0, rows, d - 1, d, [&](int64_t, int64_t to) {
        std::byte* p = tile + to * item;
        for (size_t done = 1; done < count; done *= 2) std::memcpy(p + done * bytes, p, std::min(done, count - done) * bytes);
      });
    }
  }

 private:
  int64_t size(int d, int64_t rows) const { return d == first_ ? rows : s_.sizes[d]; }
  bool walks(int k, int d) const { return k == 0 || d == s_.n - 1 || s_.ops[k].strides[d] != 0; }

  // Positions along axes first_ to `last`, but `along`, that operand k walks: `visit(offset, place in the tile)`.
  template <class Visit> void each_place(int k, int64_t offset, int64_t rows, int last, int along, Visit&& visit) const {
    int64_t place[kMaxDims] = {}, to = 0;
    for (;;) {
      visit(offset, to);
      int d = last;
      for (; d >= first_; d--) {
        if (d == along || !walks(k, d)) continue;
        const int64_t stride = s_.ops[k].strides[d];
        offset += stride, to += step_[d];
        if (++place[d] < size(d, rows)) break;
        offset -= place[d] * stride, to -= place[d] * step_[d], place[d] = 0;
      }
      if (d < first_) return;
    }
  }

  const Space& s_;
  int first_;
  int64_t step_[kMaxDims];
};

/// Walks positions `begin` to `end` of all axes but the `whole` innermost: `visit(offsets per operand, rows)`, rows being positions along the
/// axis before those, as many as fill a tile at most.
template <class Visit> void for_blocks(const Space& s, int whole, int64_t begin, int64_t end, Visit&& visit) {
  const int64_t across = s.sizes[s.n - whole - 1], most = kTile / volume_of(s, whole);
  while (begin < end) {
    int64_t offset[kMaxOperands];
    offsets_of_row(s, begin, offset, whole);
    const int64_t rows = std::min({most, across - begin % across, end - begin});
    visit(offset, rows);
    begin += rows;
  }
}

}  // namespace WEIR_ISA
}  // namespace weir
