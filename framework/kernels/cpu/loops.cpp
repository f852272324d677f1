#include "framework/kernels/cpu/loops.h"

#include <algorithm>

#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/transpose.h"

namespace weir {
namespace WEIR_ISA {
namespace {

struct Operand {
  std::byte* data = nullptr;
  DType dtype;
  int64_t strides[kMaxDims];  // in elements, outermost first
};

// The iteration space after axes were ordered by the output's strides and merged where possible.
struct Space {
  Operand ops[kMaxOperands];  // the output first
  int64_t sizes[kMaxDims];
  int n = 0, count = 0;
};

int64_t broadcast_stride(const Tensor& t, const Dims& sizes, int d) {
  int k = d - (sizes.n - t.ndim());
  return k < 0 || (t.sizes()[k] == 1 && sizes[d] != 1) ? 0 : t.strides()[k];
}

Space make_space(std::span<const Tensor> in, const Tensor& out) {
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

// Walks runs of the innermost axis: `visit(offsets per operand, length)`.
template <class Visit>
void for_runs(const Space& s, int64_t begin, int64_t end, Visit&& visit) {
  const int last = s.n - 1;
  int64_t inner = s.sizes[last], index[kMaxDims], rest = begin;
  for (int d = s.n; d-- > 0;) {
    index[d] = rest % s.sizes[d];
    rest /= s.sizes[d];
  }
  int64_t offset[kMaxOperands], start = index[last];
  for (int k = 0; k < s.count; k++) {
    offset[k] = 0;
    for (int d = 0; d < s.n; d++) offset[k] += index[d] * s.ops[k].strides[d];
  }
  while (true) {
    int64_t length = std::min(inner - start, end - begin);
    visit(offset, length);
    begin += length;
    if (begin >= end) return;
    for (int k = 0; k < s.count; k++) offset[k] -= start * s.ops[k].strides[last];
    start = 0;
    for (int d = last; d-- > 0;) {
      bool wraps = ++index[d] == s.sizes[d];
      int64_t steps = wraps ? 1 - s.sizes[d] : 1;
      for (int k = 0; k < s.count; k++) offset[k] += steps * s.ops[k].strides[d];
      if (!wraps) break;
      index[d] = 0;
    }
  }
}

constexpr int64_t kShortRun = 32;  // shorter innermost axes are walked several runs at a time

// Whether the innermost axis is short and the one before it is not: then blocks of both are walked column by column, since a call
// per run would cost more than its elements.
bool in_blocks(const Space& s) { return s.n > 1 && s.sizes[s.n - 1] < kShortRun && s.sizes[s.n - 2] >= std::max<int64_t>(8, 128 / s.sizes[s.n - 1]); }

// Of all positions of the other axes, walks those from `begin` to `end`: `visit(offsets per operand, rows)`, rows being positions along the
// axis before the innermost one that fill a tile at most.
template <class Visit> void for_blocks(const Space& s, int64_t begin, int64_t end, Visit&& visit) {
  const int64_t across = s.sizes[s.n - 2], most = kTile / s.sizes[s.n - 1];
  while (begin < end) {
    int64_t offset[kMaxOperands] = {}, rest = begin;
    for (int d = s.n - 1; d-- > 0;) {
      for (int k = 0; k < s.count; k++) offset[k] += rest % s.sizes[d] * s.ops[k].strides[d];
      rest /= s.sizes[d];
    }
    const int64_t rows = std::min({most, across - begin % across, end - begin});
    visit(offset, rows);
    begin += rows;
  }
}

class Tiles {
 public:
  Tiles(const Space& s, DType compute, Loop loop, const void* op)
      : s_(s), compute_(compute), item_(size_of(compute)), loop_(loop), op_(op) {
    int64_t inner = s.sizes[s.n - 1];
    for (int k = 0; k < s.count; k++) {
      if (!s.ops[k].data) continue;
      int64_t st = s.ops[k].strides[s.n - 1];
      bool constant = true;
      for (int d = 0; d < s.n; d++) constant &= s.ops[k].strides[d] == 0;
      bool same = s.ops[k].dtype == compute || (k > 0 && s.ops[k].dtype == DType::boolean && compute == DType::uint8);
      direct_[k] = same && st == 1;
      if (k > 0 && constant) constant_ |= 1u << k;
      if (k > 0 && st == 0) fixed_run_ |= 1u << k;
    }
    by_run_ = inner >= kShortRun || s.n == 1;
    if (!by_run_) prepare_blocks();
  }

  void run(int64_t begin, int64_t end) {
    load_constants();
    if (by_run_) return for_runs(s_, begin, end, [&](const int64_t* offset, int64_t n) { run_of(offset, n); });
    for (int64_t b = begin; b < end; b += kTile) gathered(b, std::min(b + kTile, end));
  }
  /// The same for positions of all axes but the innermost, where in_blocks() holds.
  void run_blocks(int64_t begin, int64_t end) {
    load_constants();
    for_blocks(s_, begin, end, [&](const int64_t* offset, int64_t rows) { block_of(offset, rows); });
  }

 private:
  void prepare_blocks() {
    const int64_t inner = s_.sizes[s_.n - 1];
    for (int k = 0; k < s_.count; k++) {
      const Operand& o = s_.ops[k];
      if (!o.data) continue;
      convert_[k] = k ? converter(o.dtype, compute_) : converter(compute_, o.dtype);
      direct_block_[k] = direct_[k] && o.strides[s_.n - 2] == inner;
    }
  }

  // Some rows of short runs: each operand's columns, one after the other, into its tile.
  void block_of(const int64_t* offset, int64_t rows) {
    const int last = s_.n - 1;
    const int64_t inner = s_.sizes[last];
    const void* in[kMaxOperands] = {};
    for (int k = 1; k < s_.count; k++) {
      const Operand& o = s_.ops[k];
      if (!o.data) continue;
      in[k - 1] = direct_block_[k] ? at(k, offset[k]) : tile_[k];
      if (direct_block_[k] || constant_ >> k & 1) continue;
      if (o.strides[last - 1] == 0 && offset[k] == filled_at_[k] && rows <= filled_rows_[k]) continue;  // the same row, again
      filled_at_[k] = offset[k], filled_rows_[k] = rows;
      for (int64_t j = 0; j < inner; j++)
        convert_[k](at(k, offset[k] + j * o.strides[last]), o.strides[last - 1], tile_[k] + j * item_, inner, rows);
    }
    const Operand& o = s_.ops[0];
    loop_(op_, direct_block_[0] ? const_cast<std::byte*>(at(0, offset[0])) : tile_[0], in, constant_ >> 1, rows * inner);
    if (direct_block_[0]) return;
    for (int64_t j = 0; j < inner; j++)
      convert_[0](tile_[0] + j * item_, inner, const_cast<std::byte*>(at(0, offset[0] + j * o.strides[last])), o.strides[last - 1], rows);
  }

  void load_constants() {
    for (int k = 1; k < s_.count; k++)
      if (constant_ >> k & 1) convert(s_.ops[k].dtype, s_.ops[k].data, 0, compute_, tile_[k], 1, 1);
  }
  const std::byte* at(int k, int64_t offset) const {
    return s_.ops[k].data + offset * int64_t(size_of(s_.ops[k].dtype));
  }

  // One run of the innermost axis, cut into tiles only where an operand needs one.
  void run_of(const int64_t* offset, int64_t n) {
    bool all_direct = direct_[0];
    for (int k = 1; k < s_.count; k++) {
      if (!s_.ops[k].data || constant_ >> k & 1) continue;
      if (fixed_run_ >> k & 1) convert(s_.ops[k].dtype, at(k, offset[k]), 0, compute_, tile_[k], 1, 1);
      else all_direct &= direct_[k];
    }
    int64_t step = all_direct ? n : kTile;
    for (int64_t i = 0; i < n; i += step) {
      int64_t m = std::min(step, n - i);
      const void* in[kMaxOperands] = {};
      for (int k = 1; k < s_.count; k++) {
        if (!s_.ops[k].data) continue;
        int64_t st = s_.ops[k].strides[s_.n - 1];
        if ((constant_ | fixed_run_) >> k & 1) in[k - 1] = tile_[k];
        else if (direct_[k]) in[k - 1] = at(k, offset[k] + i);
        else convert(s_.ops[k].dtype, at(k, offset[k] + i * st), st, compute_, tile_[k], 1, m), in[k - 1] = tile_[k];
      }
      int64_t so = s_.ops[0].strides[s_.n - 1];
      std::byte* out = const_cast<std::byte*>(at(0, offset[0] + i * so));
      loop_(op_, direct_[0] ? out : tile_[0], in, (constant_ | fixed_run_) >> 1, m);
      if (!direct_[0]) convert(compute_, tile_[0], 1, s_.ops[0].dtype, out, so, m);
    }
  }

  // Several short runs gathered into one tile.
  void gathered(int64_t begin, int64_t end) {
    int64_t filled = 0;
    for_runs(s_, begin, end, [&](const int64_t* offset, int64_t n) {
      for (int k = 1; k < s_.count; k++)
        if (s_.ops[k].data && !(constant_ >> k & 1))
          convert_[k](at(k, offset[k]), s_.ops[k].strides[s_.n - 1], tile_[k] + filled * item_, 1, n);
      filled += n;
    });
    const void* in[kMaxOperands] = {};
    for (int k = 1; k < s_.count; k++)
      if (s_.ops[k].data) in[k - 1] = tile_[k];
    loop_(op_, tile_[0], in, constant_ >> 1, filled);
    filled = 0;
    for_runs(s_, begin, end, [&](const int64_t* offset, int64_t n) {
      std::byte* out = const_cast<std::byte*>(at(0, offset[0]));
      convert_[0](tile_[0] + filled * item_, 1, out, s_.ops[0].strides[s_.n - 1], n);
      filled += n;
    });
  }

  const Space& s_;
  DType compute_;
  size_t item_;
  Loop loop_;
  const void* op_;
  bool direct_[kMaxOperands] = {}, direct_block_[kMaxOperands] = {};
  int64_t filled_at_[kMaxOperands] = {}, filled_rows_[kMaxOperands] = {};  // what the tiles hold of operands that repeat a row
  Converter convert_[kMaxOperands] = {};  // of each operand, where runs are short
  bool by_run_;
  uint32_t constant_ = 0, fixed_run_ = 0;  // a bit per operand: one number for all, or for a run
  alignas(64) std::byte tile_[kMaxOperands][kTile * kMaxItem];
};

// Whether every number of t is an int32: by its type, or a single number by its value (Python's integers are int64).
bool fits_int32(const Tensor& t) {
  if (!t || t.dtype() <= DType::int32) return true;
  if (t.dtype() != DType::int64 || t.numel() != 1) return false;
  int64_t v = *t.data<int64_t>();
  return v == int32_t(v);
}

// The narrowest integers that all inputs fit in: those of a tensor among them, which numbers beside it wrap around to as PyTorch's
// do, or int32.
Loop pick_integers(const Loops& loops, DType compute, std::span<const Tensor> in, DType* tile) {
  if (loops.i32 && compute <= DType::int32) {
    const std::pair<DType, Loop> small[] = {{DType::uint8, loops.u8}, {DType::int8, loops.i8}, {DType::int16, loops.i16}, {DType::int32, loops.i32}};
    auto is = [&](DType t, const Tensor& x) { return x && x.dtype() == t; };
    auto number = [](const Tensor& x) { return x && x.dtype() == DType::int64 && x.ndim() == 0; };
    for (auto [type, loop] : small) {
      if (compute != type && (compute != DType::boolean || type != DType::uint8)) continue;
      bool decided = std::any_of(in.begin(), in.end(), [&](const Tensor& x) { return is(compute, x); });
      if (decided && std::all_of(in.begin(), in.end(), [&](const Tensor& x) { return !x || is(compute, x) || is(DType::boolean, x) || number(x); }))
        return *tile = type, loop;
    }
    if (std::all_of(in.begin(), in.end(), fits_int32)) return *tile = DType::int32, loops.i32;
  }
  return *tile = DType::int64, loops.i64;
}

// `text`: the op's signature, which begins with its name.
Loop pick(const char* text, const Loops& loops, DType compute, std::span<const Tensor> in, DType* tile) {
  const NameIn name{text};
  Loop loop;
  if (is_complex(compute)) {
    bool narrow = compute == DType::complex64 && loops.c64;
    loop = narrow ? loops.c64 : loops.c128;
    *tile = narrow ? DType::complex64 : DType::complex128;
  } else if (is_floating(compute)) {
    loop = compute == DType::float64 ? loops.f64 : loops.f32;
    *tile = compute == DType::float64 ? DType::float64 : DType::float32;
  } else {
    loop = pick_integers(loops, compute, in, tile);
  }
  check<NotImplemented>(loop, '"', name, "\" not implemented for '", name_of(compute), "'");
  return loop;
}

// The innermost axis is dense in dst but not in src, axis `d` is dense in src: swap them square by square. A strip is kSquare of the
// innermost axis, read along `d`.
void copy_transposed(const Space& s, int d, int64_t strip_begin, int64_t strip_end) {
  const Operand &to = s.ops[0], &from = s.ops[1];
  const int in = s.n - 1;
  const int64_t rows = s.sizes[d], cols = s.sizes[in], strips = (cols + kSquare - 1) / kSquare, ti = size_of(to.dtype), fi = size_of(from.dtype);
  alignas(64) std::byte square[kSquare * kSquare * kMaxItem];
  const Converter run = converter(from.dtype, to.dtype);
  for (int64_t strip = strip_begin; strip < strip_end; strip++) {
    int64_t rest = strip / strips, c = strip % strips * kSquare, t0 = c * to.strides[in], f0 = c * from.strides[in];
    for (int k = s.n - 1; k-- > 0;) {
      if (k == d) continue;
      t0 += rest % s.sizes[k] * to.strides[k];
      f0 += rest % s.sizes[k] * from.strides[k];
      rest /= s.sizes[k];
    }
    const int64_t nc = std::min(kSquare, cols - c);
    for (int64_t r = 0; r < rows; r += kSquare) {
      const int64_t nr = std::min(kSquare, rows - r);
      const std::byte* begin = from.data + (f0 + r) * fi;
      if (from.dtype == to.dtype && ti == 4) transpose_square<uint32_t>(begin, from.strides[in], square, nr, nc);
      else if (from.dtype == to.dtype && ti == 8) transpose_square<uint64_t>(begin, from.strides[in], square, nr, nc);
      else if (from.dtype == to.dtype && ti == 2) transpose_square<uint16_t>(begin, from.strides[in], square, nr, nc);
      else for (int64_t j = 0; j < nc; j++) run(begin + j * from.strides[in] * fi, 1, square + j * ti, kSquare, nr);
      for (int64_t i = 0; i < nr; i++) std::memcpy(to.data + (t0 + (r + i) * to.strides[d]) * ti, square + i * kSquare * ti, nc * ti);
    }
  }
}

}  // namespace

std::unordered_map<const void*, PointwiseOp>& pointwise_ops() {
  static std::unordered_map<const void*, PointwiseOp> all;
  return all;
}

struct InOrder::Impl { Space space; };
InOrder::InOrder(const Tensor& t, const Tensor& like) : impl_(new Impl{make_space(std::span(&t, 1), like)}) {}
InOrder::~InOrder() = default;
void InOrder::run(int64_t begin, int64_t end, void* to) const {
  const Space& s = impl_->space;
  const Operand& from = s.ops[1];
  int64_t item = int64_t(size_of(from.dtype));
  for_runs(s, begin, end, [&](const int64_t* offset, int64_t n) {
    convert(from.dtype, from.data + offset[1] * item, from.strides[s.n - 1], from.dtype, to, 1, n);
    to = static_cast<std::byte*>(to) + n * item;
  });
}

void run_copy(const Tensor& src, const Tensor& dst) {
  if (dst.numel() == 0) return;
  Space s = make_space(std::span(&src, 1), dst);
  const Operand &to = s.ops[0], &from = s.ops[1];
  int in = s.n - 1;
  if (to.strides[in] == 1 && from.strides[in] > 1 && s.sizes[in] >= 4 && !in_blocks(s))
    for (int d = 0; d < in; d++)
      if (from.strides[d] == 1 && s.sizes[d] >= 4) {
        const int64_t strips = dst.numel() / s.sizes[d] / s.sizes[in] * ((s.sizes[in] + kSquare - 1) / kSquare);
        const int64_t grain = std::max<int64_t>(1, kGrain / (s.sizes[d] * std::min(s.sizes[in], kSquare)));
        return parallel_for(strips, grain, [&](int64_t b, int64_t e) { copy_transposed(s, d, b, e); });
      }
  const Converter run = converter(from.dtype, to.dtype);
  const int64_t from_item = int64_t(size_of(from.dtype)), to_item = int64_t(size_of(to.dtype));
  if (in_blocks(s))
    return parallel_for(dst.numel() / s.sizes[in], kGrain / s.sizes[in], [&](int64_t b, int64_t e) {
      for_blocks(s, b, e, [&](const int64_t* offset, int64_t rows) {
        if (from.dtype == to.dtype)
          return by_item_size(size_t(from_item), [&]<class T>(TypeTag<T>) {
            const T* x = reinterpret_cast<const T*>(from.data) + offset[1];
            T* y = reinterpret_cast<T*>(to.data) + offset[0];
            for (int64_t i = 0; i < rows; i++, x += from.strides[in - 1], y += to.strides[in - 1])
              for (int64_t j = 0; j < s.sizes[in]; j++) y[j * to.strides[in]] = x[j * from.strides[in]];
          });
        for (int64_t j = 0; j < s.sizes[in]; j++)
          run(from.data + (offset[1] + j * from.strides[in]) * from_item, from.strides[in - 1], to.data + (offset[0] + j * to.strides[in]) * to_item,
              to.strides[in - 1], rows);
      });
    });
  parallel_for(dst.numel(), kGrain, [&](int64_t b, int64_t e) {
    for_runs(s, b, e, [&](const int64_t* offset, int64_t n) {
      run(from.data + offset[1] * from_item, from.strides[in], to.data + offset[0] * to_item, to.strides[in], n);
    });
  });
}

Tensor copied(const Tensor& t, const Meta& layout) {
  Tensor c = empty(layout);
  run_copy(t, c);
  return c;
}
Tensor row_major(const Tensor& t) { return t.is_contiguous() ? t : copied(t, Meta(t.sizes(), t.dtype())); }

void run_pointwise(const char* name, const Loops& loops, DType compute, const void* op, std::span<const Tensor> in,
                   const Tensor& out) {
  DType tile;
  Loop loop = pick(name, loops, compute, in, &tile);
  if (out.numel() == 0) return;
  // Most calls: everything contiguous, of one shape and type, or a single number.
  const void* data[kMaxOperands] = {};
  alignas(kMaxItem) std::byte number[kMaxOperands][kMaxItem];
  uint32_t fixed = 0;
  const bool halves = loops.bf16 && tile == DType::float32 && out.dtype() == DType::bfloat16;
  const DType stored = halves ? DType::bfloat16 : tile;
  bool simple = out.dtype() == stored && out.is_contiguous();
  for (size_t k = 0; simple && k < in.size(); k++) {
    if (!in[k]) continue;
    if (in[k].numel() == 1) {
      convert(in[k].dtype(), in[k].raw(), 0, tile, number[k], 1, 1);
      data[k] = number[k];
      fixed |= 1u << k;
    } else {
      simple = in[k].dtype() == stored && in[k].is_contiguous() && in[k].sizes() == out.sizes();
      data[k] = in[k].raw();
    }
  }
  if (simple) {
    size_t item = size_of(stored);
    if (halves) loop = loops.bf16;
    return parallel_for(out.numel(), kGrain, [&](int64_t b, int64_t e) {
      const void* at[kMaxOperands] = {};
      for (size_t k = 0; k < in.size(); k++)
        at[k] = data[k] && !(fixed >> k & 1) ? static_cast<const std::byte*>(data[k]) + b * item : data[k];
      loop(op, out.raw() + b * item, at, fixed, e - b);
    });
  }
  Space space = make_space(in, out);
  if (in_blocks(space)) {
    const int64_t inner = space.sizes[space.n - 1];
    return parallel_for(out.numel() / inner, kGrain / inner, [&](int64_t b, int64_t e) { Tiles(space, tile, loop, op).run_blocks(b, e); });
  }
  parallel_for(out.numel(), kGrain, [&](int64_t b, int64_t e) { Tiles(space, tile, loop, op).run(b, e); });
}

}  // namespace WEIR_ISA
}  // namespace weir
