#include "framework/kernels/cpu/loops.h"

#include <algorithm>

#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/space.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Whether runs are worth a call each though they are short: all numbers of one lie as the loop takes them, side by side or one for all, so that none is copied.
bool are_plain_runs(const Space& s, DType compute) {
  constexpr int64_t kLeastBytes = 128;
  const int in = s.n - 1;
  if (s.sizes[in] * int64_t(size_of(compute)) < kLeastBytes) return false;
  for (int k = 0; k < s.count; k++) {
    const Operand& o = s.ops[k];
    if (o.data && !(o.dtype == compute && (o.strides[in] == 1 || (k > 0 && o.strides[in] == 0)))) return false;
  }
  return true;
}

// How many of the innermost axes are computed whole, in blocks of them and rows of the axis before: short ones, since a call per run would cost
// more than its elements, and a longer one where it would cost more than copying it, or where an input repeats one row, which is copied once for
// many. 0: none, but runs one by one.
int axes_of_blocks(const Space& s, DType compute) {
  const int in = s.n - 1;
  if (s.n < 2 || s.sizes[in] < kShortRun) return are_plain_runs(s, compute) ? 0 : short_axes(s);
  bool repeats = s.sizes[in] < kTile / 16;
  for (int k = 1; k < s.count; k++) repeats |= s.ops[k].data && s.ops[k].strides[in - 1] == 0 && s.ops[k].strides[in] != 0;
  return repeats && s.sizes[in] <= kTile / 4 && s.sizes[in - 1] >= 8;
}

class Tiles {
 public:
  Tiles(const Space& s, int whole, DType compute, Loop loop, const void* op)
      : s_(s), whole_(whole), blocks_(s, whole), compute_(compute), item_(size_of(compute)), loop_(loop), op_(op) {
    const int64_t inner = s.sizes[s.n - 1];
    for (int k = 0; k < s.count; k++) {
      if (!s.ops[k].data) continue;
      int64_t st = s.ops[k].strides[s.n - 1];
      bool constant = true;
      for (int d = 0; d < s.n; d++) constant &= s.ops[k].strides[d] == 0;
      bool same = s.ops[k].dtype == compute || (k > 0 && s.ops[k].dtype == DType::boolean && compute == DType::uint8);
      direct_[k] = same && st == 1;
      if (k > 0 && constant) constant_ |= 1u << k;
      if (k > 0 && st == 0) fixed_run_ |= 1u << k;
      plain_ &= direct_[k] || (k > 0 && (constant || (same && st == 0)));
    }
    by_run_ = inner >= kShortRun || s.n == 1 || are_plain_runs(s, compute);
    if (!by_run_ || whole) prepare_blocks();
  }

  void run(int64_t begin, int64_t end) {
    load_constants();
    if (by_run_ && plain_) return for_runs(s_, begin, end, [&](const int64_t* offset, int64_t n) { plain_run(offset, n); });
    if (by_run_) return for_runs(s_, begin, end, [&](const int64_t* offset, int64_t n) { run_of(offset, n); });
    for (int64_t b = begin; b < end; b += kTile) gathered(b, std::min(b + kTile, end));
  }
  /// The same for positions of all axes but the `whole` innermost.
  void run_blocks(int64_t begin, int64_t end) {
    load_constants();
    for_blocks(s_, whole_, begin, end, [&](const int64_t* offset, int64_t rows) { block_of(offset, rows); });
  }

 private:
  void prepare_blocks() {
    for (int k = 0; k < s_.count; k++) {
      const Operand& o = s_.ops[k];
      if (!o.data) continue;
      convert_[k] = k ? converter(o.dtype, compute_) : converter(compute_, o.dtype);
      dense_block_[k] = blocks_.is_dense(k);
      direct_block_[k] = direct_[k] && dense_block_[k];
    }
  }

  // Some rows of short runs, each operand in its tile.
  void block_of(const int64_t* offset, int64_t rows) {
    const void* in[kMaxOperands] = {};
    for (int k = 1; k < s_.count; k++) {
      if (!s_.ops[k].data) continue;
      in[k - 1] = direct_block_[k] ? at(k, offset[k]) : tile_[k];
      if (direct_block_[k] || constant_ >> k & 1) continue;
      if (blocks_.repeats_rows(k) && offset[k] == filled_at_[k] && rows <= filled_rows_[k]) continue;  // the same row, again
      filled_at_[k] = offset[k], filled_rows_[k] = rows;
      const int inner = s_.n - 1;
      if (dense_block_[k]) {
        convert_[k](at(k, offset[k]), 1, tile_[k], 1, rows * volume_of(s_, whole_));
        continue;
      }
      if (whole_ == 1 && s_.ops[k].strides[inner] == 0) {  // a number for each row
        alignas(kMaxItem) std::byte column[kTile * kMaxItem];
        convert_[k](at(k, offset[k]), s_.ops[k].strides[inner - 1], column, 1, rows);
        spread(column, item_, rows, s_.sizes[inner], tile_[k]);
        continue;
      }
      blocks_.each_line(k, offset[k], rows, [&](int64_t from, int64_t step, int64_t to, int64_t tile_step, int64_t n) {
        convert_[k](at(k, from), step, tile_[k] + to * item_, tile_step, n);
      });
      blocks_.repeat(k, rows, tile_[k], item_);
    }
    loop_(op_, direct_block_[0] ? const_cast<std::byte*>(at(0, offset[0])) : tile_[0], in, constant_ >> 1, rows * volume_of(s_, whole_));
    if (direct_block_[0]) return;
    if (dense_block_[0]) return convert_[0](tile_[0], 1, const_cast<std::byte*>(at(0, offset[0])), 1, rows * volume_of(s_, whole_));
    blocks_.each_line(0, offset[0], rows, [&](int64_t to, int64_t step, int64_t from, int64_t tile_step, int64_t n) {
      convert_[0](tile_[0] + from * item_, tile_step, const_cast<std::byte*>(at(0, to)), step, n);
    });
  }

  void load_constants() {
    for (int k = 1; k < s_.count; k++)
      if (constant_ >> k & 1) convert(s_.ops[k].dtype, s_.ops[k].data, 0, compute_, tile_[k], 1, 1);
  }
  const std::byte* at(int k, int64_t offset) const {
    return s_.ops[k].data + offset * int64_t(size_of(s_.ops[k].dtype));
  }

  // One run whose operands can all be read and written where they are.
  void plain_run(const int64_t* offset, int64_t n) {
    const void* in[kMaxOperands] = {};
    for (int k = 1; k < s_.count; k++)
      if (s_.ops[k].data) in[k - 1] = constant_ >> k & 1 ? tile_[k] : at(k, offset[k]);
    loop_(op_, const_cast<std::byte*>(at(0, offset[0])), in, (constant_ | fixed_run_) >> 1, n);
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
  int whole_;
  Blocks blocks_;
  DType compute_;
  size_t item_;
  Loop loop_;
  const void* op_;
  bool direct_[kMaxOperands] = {}, dense_block_[kMaxOperands] = {}, direct_block_[kMaxOperands] = {};
  int64_t filled_at_[kMaxOperands] = {}, filled_rows_[kMaxOperands] = {};  // what the tiles hold of operands that repeat a row
  Converter convert_[kMaxOperands] = {};  // of each operand, where runs are short
  bool by_run_, plain_ = true;
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
      if (!loop || (compute != type && (compute != DType::boolean || type != DType::uint8))) continue;
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

// Whether along the result's lines every number of t is on another line of the cache, while another axis of t is dense: then a copy, which turns squares
// and reads whole lines, costs less than to read it so. Bytes are few, a line holds four pairs of doubles, and large copies take memory.
bool lies_across(const Tensor& t, const Tensor& out) {
  constexpr int64_t kApart = 8, kLarge = 64 << 20;
  if (!(t.sizes() == out.sizes())) return false;
  int in = out.ndim() - 1;
  while (in >= 0 && (out.strides()[in] != 1 || out.sizes()[in] == 1)) in--;
  if (in < 0 || out.sizes()[in] < kShortRun || std::abs(t.strides()[in]) < kApart) return false;
  const size_t item = size_of(t.dtype());
  if (item < 2 || item > 8 || t.numel() * int64_t(item) > kLarge) return false;
  for (int d = 0; d < out.ndim(); d++)
    if (d != in && t.strides()[d] == 1 && t.sizes()[d] >= kApart) return in + 1 == out.ndim() || is_non_overlapping_and_dense(out.sizes(), out.strides());
  return false;
}
// A copy that lies as the result does, or row-major where that leaves gaps.
Tensor laid_as(const Tensor& t, const Tensor& out) {
  const bool dense = is_non_overlapping_and_dense(out.sizes(), out.strides());
  return copied(t, dense ? Meta(out.sizes(), out.strides(), t.dtype(), {}) : Meta(out.sizes(), t.dtype()));
}

// Whether t and the result, both dense, share runs that are shorter than a vector, while their other axes are in another order: then a copy of t costs
// less than to go from run to run.
bool lies_in_short_runs(const Tensor& t, const Tensor& out) {
  constexpr int64_t kLarge = 64 << 20;
  const int64_t item = int64_t(size_of(t.dtype()));
  if (!(t.sizes() == out.sizes()) || t.strides() == out.strides() || t.numel() < kTile || t.numel() * item > kLarge) return false;
  int64_t run = 1;
  for (int d = out.ndim(); d-- > 0;)
    if (out.sizes()[d] > 1 && out.strides()[d] == run && t.strides()[d] == run) run *= out.sizes()[d], d = out.ndim();
  return run > 1 && run * item < kVecBytes && is_non_overlapping_and_dense(t.sizes(), t.strides()) && is_non_overlapping_and_dense(out.sizes(), out.strides());
}

// Runs `loop` over lines of `type` that lie side by side, or are one number each; false where they do not, or are so short or so long that it does not pay.
bool run_lines(const Space& s, DType type, LineLoop loop, const void* op) {
  constexpr int64_t kLongLine = 2048;
  const int in = s.n - 1, across = s.n - 2;
  const int64_t item = int64_t(size_of(type)), n = s.sizes[in];
  if (!loop || across < 0 || n * item < kVecBytes || n > kLongLine) return false;
  uint32_t fixed = 0;
  int64_t apart[kMaxOperands] = {};
  for (int k = 0; k < s.count; k++) {
    const Operand& o = s.ops[k];
    if (!o.data) continue;
    if (o.dtype != type || (o.strides[in] != 1 && (k == 0 || o.strides[in] != 0))) return false;
    if (o.strides[in] == 0) fixed |= 1u << k;
    apart[k] = o.strides[across];
  }
  parallel_for(volume_of(s, s.n) / n, kGrain / n, [&](int64_t b, int64_t e) {
    for_lines(s, b, e, [&](const int64_t* offset, int64_t count) {
      const void* data[kMaxOperands] = {};
      for (int k = 1; k < s.count; k++)
        if (s.ops[k].data) data[k - 1] = s.ops[k].data + offset[k] * item;
      loop(op, s.ops[0].data + offset[0] * item, data, fixed >> 1, n, count, apart);
    });
  });
  return true;
}

// Runs `loop`, which takes halves as they are, over lines of them; what is one number for a line becomes a float first, for some lines at once. False where lines do not lie so, or are short.
bool run_lines_of_halves(const Space& s, DType stored, LineLoop loop, const void* op) {
  constexpr int64_t kShort = 16, kTogether = 64;
  const int in = s.n - 1;
  if (!loop || s.n < 2 || s.sizes[in] < kShort) return false;
  uint32_t fixed = 0;
  for (int k = 0; k < s.count; k++) {
    const Operand& o = s.ops[k];
    if (!o.data || (o.dtype == stored && o.strides[in] == 1)) continue;
    if (k == 0 || o.strides[in] != 0) return false;
    fixed |= 1u << k;
  }
  const int64_t n = s.sizes[in];
  parallel_for(volume_of(s, s.n) / n, kGrain / n, [&](int64_t b, int64_t e) {
    for_lines(s, b, e, [&](const int64_t* offset, int64_t count) {
      int64_t apart[kMaxOperands] = {};
      for (int k = 0; k < s.count; k++)
        if (s.ops[k].data) apart[k] = fixed >> k & 1 ? 1 : s.ops[k].strides[s.n - 2];
      float numbers[kMaxOperands][kTogether];
      for (int64_t line = 0; line < count; line += kTogether) {
        const int64_t lines = std::min(kTogether, count - line);
        const std::byte* at[kMaxOperands] = {};
        for (int k = 0; k < s.count; k++) {
          const Operand& o = s.ops[k];
          if (!o.data) continue;
          at[k] = o.data + (offset[k] + line * o.strides[s.n - 2]) * int64_t(size_of(o.dtype));
          if (!(fixed >> k & 1)) continue;
          convert(o.dtype, at[k], o.strides[s.n - 2], DType::float32, numbers[k], 1, lines);
          at[k] = reinterpret_cast<const std::byte*>(numbers[k]);
        }
        loop(op, const_cast<std::byte*>(at[0]), reinterpret_cast<const void* const*>(at + 1), fixed >> 1, n, lines, apart);
      }
    });
  });
  return true;
}

}  // namespace

std::unordered_map<const void*, PointwiseOp>& pointwise_ops() {
  static std::unordered_map<const void*, PointwiseOp> all;
  return all;
}

void run_pointwise(const char* name, const Loops& loops, DType compute, const void* op, std::span<const Tensor> in,
                   const Tensor& out) {
  DType tile;
  Loop loop = pick(name, loops, compute, in, &tile);
  if (out.numel() == 0) return;
  // Whole numbers that are computed in a wider dtype, for want of a loop, wrap around to their own before an out= of another dtype sees them.
  if (tile != compute && out.dtype() != compute && out.dtype() != DType::boolean && is_integral(compute)) [[unlikely]] {
    const Tensor own = empty(Meta(out.sizes(), compute));
    run_pointwise(name, loops, compute, op, in, own);
    return run_copy(own, out);
  }
  // Most calls: everything dense in one order, of one shape and type, or a single number.
  const void* data[kMaxOperands] = {};
  alignas(kMaxItem) std::byte number[kMaxOperands][kMaxItem];
  uint32_t fixed = 0;
  const LineLoop halves = tile != DType::float32 ? nullptr : out.dtype() == DType::bfloat16 ? loops.bf16 : out.dtype() == DType::float16 ? loops.f16 : nullptr;
  const DType stored = halves ? out.dtype() : tile;
  bool simple = out.dtype() == stored && (out.is_contiguous() || is_non_overlapping_and_dense(out.sizes(), out.strides()));
  for (size_t k = 0; simple && k < in.size(); k++) {
    if (!in[k]) continue;
    if (in[k].numel() == 1) {
      convert(in[k].dtype(), in[k].raw(), 0, tile, number[k], 1, 1);
      data[k] = number[k];
      fixed |= 1u << k;
    } else {
      simple = in[k].dtype() == stored && in[k].sizes() == out.sizes() && (in[k].strides() == out.strides() || (in[k].is_contiguous() && out.is_contiguous()));
      data[k] = in[k].raw();
    }
  }
  if (simple) {
    const int64_t item = int64_t(size_of(stored));
    const bool in_place = std::any_of(data, data + in.size(), [&](const void* from) { return from == out.raw(); });
    const bool streams = out.numel() * item >= kStepStreamed && !in_place;
    auto run = [&](int64_t begin, int64_t n, void* to) {
      const void* at[kMaxOperands] = {};
      for (size_t k = 0; k < in.size(); k++) {
        const bool moves = data[k] && !(fixed >> k & 1);
        at[k] = moves ? static_cast<const std::byte*>(data[k]) + begin * item : data[k];
        if (moves && streams) fetch_behind(at[k], size_t(n * item));
      }
      constexpr int64_t kOneLine[kMaxOperands] = {};
      if (halves) halves(op, to, at, fixed, n, 1, kOneLine);
      else loop(op, to, at, fixed, n);
    };
    return parallel_for(out.numel(), kGrain, [&](int64_t b, int64_t e) {
      std::byte* to = out.raw() + b * item;
      if (streams) stream_pieces(to, e - b, item, [&](int64_t i, int64_t n, std::byte* piece) { run(b + i, n, piece); });
      else run(b, e - b, to);
    });
  }
  auto across = [&](const Tensor& t) { return t && (lies_across(t, out) || lies_in_short_runs(t, out)); };
  if (std::any_of(in.begin(), in.end(), across)) {
    Tensor laid[kMaxOperands];
    for (size_t k = 0; k < in.size(); k++) laid[k] = across(in[k]) ? laid_as(in[k], out) : in[k];
    return run_pointwise(name, loops, compute, op, std::span<const Tensor>(laid, in.size()), out);
  }
  Space space = make_space(in, out);
  // A number of another type stands where it was converted to.
  for (size_t k = 0; k < in.size(); k++)
    if (in[k] && in[k].numel() == 1 && in[k].dtype() != tile) {
      convert(in[k].dtype(), in[k].raw(), 0, tile, number[k], 1, 1);
      space.ops[k + 1].data = number[k], space.ops[k + 1].dtype = tile;
    }
  if (run_lines(space, tile, tile == DType::float32 ? loops.f32_lines : tile == DType::float64 ? loops.f64_lines : nullptr, op)) return;
  if (run_lines_of_halves(space, stored, halves, op)) return;
  const int whole = axes_of_blocks(space, tile);
  if (!whole) return parallel_for(out.numel(), kGrain, [&](int64_t b, int64_t e) { Tiles(space, 0, tile, loop, op).run(b, e); });
  const int64_t volume = volume_of(space, whole);
  parallel_for(out.numel() / volume, kGrain / volume, [&](int64_t b, int64_t e) { Tiles(space, whole, tile, loop, op).run_blocks(b, e); });
}

}  // namespace WEIR_ISA
}  // namespace weir
