#include "framework/op/fused.h"

#include <algorithm>
#include <memory>

#include "framework/kernels/cpu/arithmetic.h"
#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/past_caches.h"
#include "framework/ops/arithmetic.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Inputs so large are fetched a tile ahead, so that memory works while the formulas do.
constexpr int64_t kFetched = 1 << 20;
constexpr size_t kLine = 64;

// Rows shorter than this are not worth a tile of their own: a tile has several, and what is broadcast is laid out for all of them. Rows of
// fewer elements than the second number are not told apart.
constexpr int64_t kLongRow = 256, kLeastRow = 8;

// How an input comes to the loops.
struct Source {
  enum Kind { dense, number, per_row, in_each_row, other } kind = dense;  // per_row: one number for each; in_each_row: the same row for all
  const std::byte* data = nullptr;
  std::unique_ptr<InOrder> gather;
};

struct Sources {
  std::vector<Source> inputs;
  int64_t row = 0;  // elements of a row, where there are rows
  bool shares_tiles() const { return row > 0 && row < kLongRow; }
  int64_t tile() const { return shares_tiles() ? kTile / row * row : kTile; }
};

// The elements of a row at which `x` is broadcast to `shape`, which is row-major, along whole rows or to each of them; 0 where it is not so.
int64_t row_of(const Tensor& x, const Tensor& shape, Source::Kind* kind) {
  const int ahead = shape.ndim() - x.ndim();
  auto is_repeated = [&](int d) { return d < ahead || x.sizes()[d - ahead] != shape.sizes()[d]; };
  int64_t row = 1;
  bool first = true, per_row = false, ended = false;
  for (int d = shape.ndim(); d-- > 0;) {
    if (shape.sizes()[d] == 1) continue;
    if (std::exchange(first, false)) per_row = is_repeated(d);
    if (is_repeated(d) != per_row) ended = true;
    else if (ended) return 0;
    else row *= shape.sizes()[d];
  }
  *kind = per_row ? Source::per_row : Source::in_each_row;
  return x.is_contiguous() && shape.is_contiguous() && row >= kLeastRow ? row : 0;
}

Sources sources(Inputs in, const Tensor& shape) {
  Sources r;
  for (const Tensor& x : in) {
    Source s;
    s.data = x.raw();
    if (x.numel() == 1) {
      s.kind = Source::number;
    } else if (!(x.sizes() == shape.sizes()) || !same_layout(shape.sizes(), x.strides(), shape.strides())) {
      const int64_t row = row_of(x, shape, &s.kind);
      if (row && (r.row == 0 || r.row == row)) {
        r.row = row;
      } else {
        s.kind = Source::other;
        s.gather = std::make_unique<InOrder>(x, shape);
      }
    }
    r.inputs.push_back(std::move(s));
  }
  return r;
}

bool is_half(DType t) { return t == DType::bfloat16 || t == DType::float16; }

// Tiles keep half types as floats of their values: what is stored once is widened for nobody.
DType kept_dtype(const FusedOperand& x) { return x.slot >= 0 && is_half(x.dtype) ? DType::float32 : x.dtype; }

// Each float becomes the nearest bfloat16, as BFloat16(float) does it.
void round_to_bfloat16(float* x, int64_t n) {
  using F = Vec<float>;
  using I = Vec<int32_t>;
  auto rounded = [](F v) {
    const I u((I::V)v.v), odd((u >> I(16)) & I(1)), r((u + I(0x7fff) + odd) & I(int32_t(0xffff0000)));
    return where(v == v, F((F::V)r.v), F((F::V)I(0x7fc00000).v));
  };
  int64_t i = 0;
  for (; i + F::size <= n; i += F::size) rounded(F::load(x + i)).store(x + i);
  for (; i < n; i++) x[i] = float(BFloat16(x[i]));
}

// Elements of the whole: from where on, and in which row and column that is.
struct At { int64_t i, row, column; };

// Where an element lies: `item` bytes for each one before it, `row_item` for each row, `column_item` for each in its row. A number or what a
// tile holds lies at base.
struct Memory {
  std::byte* base = nullptr;
  int64_t item = 0, row_item = 0, column_item = 0;
  std::byte* at(At a) const { return base + a.i * item + a.row * row_item + a.column * column_item; }
  std::byte* at(int64_t i) const { return base + i * item; }
};

// A step with everything that does not change from tile to tile.
struct Call {
  struct In {
    Memory from;
    Converter cast = nullptr;
    std::byte* to = nullptr;  // where the cast goes
  };
  const FusedStep* step;
  In in[kMaxOperands];
  uint32_t fixed = 0;
  std::byte* result = nullptr;  // where the loop writes; null: to `out` itself
  Converter narrow = nullptr;   // from there to `out`
  DType rounds_to;              // what a tile of floats is rounded to; float32: nothing
  Memory out;
};

// One thread's tiles: of what the steps hand on, of inputs in other layouts, of operands in the type of a loop, and of large results.
class Tiles {
 public:
  Tiles(const FusedProgram& p, const Sources& from, Outputs out)
      : p_(p), in_(from.inputs), row_(from.row), tile_(from.tile()), shares_tiles_(from.shares_tiles()), where_(p.operands.size()) {
    for (const FusedOperand& x : p.operands) item_ = std::max(item_, size_of(x.dtype));
    size_t others = 0, numbers = 0;
    for (const Source& s : in_) others += needs_tile(s);
    for (const FusedStep& s : p.steps) numbers += s.in.size();
    memory_ = new_storage((p.num_slots + kMaxOperands + others + out.size()) * tile_bytes() + numbers * kMaxItem);
    std::byte* next = memory_->data + (p.num_slots + kMaxOperands) * tile_bytes();
    auto tile_more = [&] { return std::exchange(next, next + tile_bytes()); };
    std::vector<std::byte*> gathered(in_.size());
    for (size_t k = 0; k < in_.size(); k++)
      if (in_[k].gather) gathers_.push_back({in_[k].gather.get(), gathered[k] = tile_more()});
    for (size_t o = 0; o < p.operands.size(); o++) {
      const FusedOperand& x = p.operands[o];
      const int64_t item = int64_t(size_of(x.dtype));
      if (x.output >= 0) {
        where_[o] = {out[x.output].raw(), item};
        if (out[0].numel() * item < kStreamed) continue;
        streams_.push_back({where_[o], tile_more(), writer_of(int(o))});
        where_[o] = {streams_.back().tile, 0};
      } else if (x.input < 0) {
        where_[o] = {tile(x.slot), 0};
      } else if (gathered[x.input]) {
        where_[o] = {gathered[x.input], 0};
      } else if (needs_tile(in_[x.input])) {
        where_[o] = {gathered[x.input] = tile_more(), 0};
        lay_out_rows(in_[x.input], size_t(item), where_[o].base);
      } else {
        where_[o] = memory_of(in_[x.input], item);
        if (where_[o].item && out[0].numel() * item >= kFetched) fetched_.push_back(where_[o]);
      }
    }
    next = memory_->data + (p.num_slots + kMaxOperands + others + out.size()) * tile_bytes();
    for (const FusedStep& s : p.steps) calls_.push_back(prepared(s, &next));
  }

  /// Memory is kept busy while the formulas work: each step brings a share of the next tile and takes away one of the last.
  void run(int64_t begin, int64_t end) {
    int64_t last = 0;  // elements of the tile before
    for (int64_t b = begin, n; b < end; b += n) {
      const At at = row_ ? At{b, b / row_, b % row_} : At{b, 0, 0};
      n = std::min({tile_, end - b, row_ && !shares_tiles_ ? row_ - at.column : kTile});
      for (auto [gather, tile] : gathers_) gather->run(b, b + n, tile);
      for (const Spread& s : spreads_) spread(s.from + size_t(at.row) * s.item, s.item, n / row_, row_, s.tile);
      for (size_t k = 0; k < calls_.size(); k++) {
        fetch(b + n, end, k);
        for (const Stream& s : streams_)
          if (b > begin && k < s.writer) s.share(b - last, last, k, s.writer);
        run(calls_[k], at, n);
      }
      for (const Stream& s : streams_)
        if (s.writer == 0 || b + n == end) s.share(b, n, 0, 1);
      last = n;
    }
    if (!streams_.empty()) streamed();
  }

 private:
  static Memory memory_of(const Source& s, int64_t item) {
    std::byte* base = const_cast<std::byte*>(s.data);
    switch (s.kind) {
      case Source::number: return {base};
      case Source::per_row: return {base, 0, item};
      case Source::in_each_row: return {base, 0, 0, item};
      default: return {base, item};
    }
  }

  bool is_row(const Source& s) const { return s.kind == Source::per_row || s.kind == Source::in_each_row; }
  bool needs_tile(const Source& s) const { return s.kind == Source::other || (shares_tiles_ && is_row(s)); }
  // Of a tile of several rows: the same row in each place of it, once and for all, or each row's number in each tile anew.
  void lay_out_rows(const Source& s, size_t item, std::byte* to) {
    if (s.kind == Source::per_row) return void(spreads_.push_back({s.data, item, to}));
    for (int64_t k = 0; k < tile_; k += row_) std::memcpy(to + size_t(k) * item, s.data, size_t(row_) * item);
  }

  size_t tile_bytes() const { return kTile * item_; }
  std::byte* tile(int k) const { return memory_->data + size_t(k) * tile_bytes(); }

  Call prepared(const FusedStep& step, std::byte** numbers) const {
    Call c;
    c.step = &step;
    const FusedOperand& out = p_.operands[step.out];
    const DType kept = kept_dtype(out);
    c.out = where_[step.out];
    c.rounds_to = kept == out.dtype ? DType::float32 : out.dtype;
    const DType made = step.loop ? step.tile : kept;
    if (made != kept) c.result = tile(p_.num_slots + kMaxOperands - 1), c.narrow = converter(made, kept);
    for (size_t k = 0; k < step.in.size(); k++) {
      if (step.in[k] < 0) continue;
      const FusedOperand& x = p_.operands[step.in[k]];
      const bool number = x.input >= 0 && in_[x.input].kind == Source::number;
      Call::In& in = c.in[k];
      in.from = where_[step.in[k]];
      if (number || (x.input >= 0 && in_[x.input].kind == Source::per_row && !shares_tiles_)) c.fixed |= 1u << k;
      if (kept_dtype(x) == made && step.loop) continue;
      in.cast = converter(kept_dtype(x), made);
      in.to = tile(p_.num_slots + int(k));
      if (!number) continue;
      in.cast(in.from.base, 0, *numbers, 1, 1);
      in = {{std::exchange(*numbers, *numbers + kMaxItem)}, step.loop ? nullptr : converter(made, made), nullptr};
    }
    return c;
  }

  size_t writer_of(int operand) const {
    return std::find_if(p_.steps.begin(), p_.steps.end(), [&](const FusedStep& s) { return s.out == operand; }) - p_.steps.begin();
  }

  // Share `k` of the next tile's lines.
  void fetch(int64_t begin, int64_t end, size_t k) const {
    const int64_t n = std::min(kTile, end - begin);
    for (const Memory& m : fetched_) {
      const size_t lines = n > 0 ? size_t(n * m.item) / kLine : 0;
      for (size_t l = lines * k / calls_.size(); l < lines * (k + 1) / calls_.size(); l++) __builtin_prefetch(m.at(begin) + l * kLine);
    }
  }

  static void run(const Call& c, At at, int64_t n) {
    std::byte* out = c.out.at(at);
    if (!c.step->loop) {
      c.in[0].cast(c.in[0].from.at(at), c.fixed ? 0 : 1, out, 1, n);
    } else {
      const void* in[kMaxOperands];
      for (size_t k = 0; k < c.step->in.size(); k++) {
        in[k] = c.in[k].from.at(at);
        if (c.in[k].cast) c.in[k].cast(in[k], 1, c.in[k].to, 1, c.fixed >> k & 1 ? 1 : n), in[k] = c.in[k].to;
      }
      c.step->loop(c.step->op.data(), c.result ? c.result : out, in, c.fixed, n);
      if (c.narrow) c.narrow(c.result, 1, out, 1, n);
    }
    if (c.rounds_to == DType::bfloat16) round_to_bfloat16(reinterpret_cast<float*>(out), n);
    else if (c.rounds_to == DType::float16) round_to_half(reinterpret_cast<float*>(out), n);
  }

  static void round_to_half(float* x, int64_t n) {
    static const Converter there = converter(DType::float32, DType::float16), back = converter(DType::float16, DType::float32);
    Half half[kTile];
    there(x, 1, half, 1, n);
    back(half, 1, x, 1, n);
  }

  struct Gather { const InOrder* from; std::byte* tile; };
  struct Spread { const std::byte* from; size_t item; std::byte* tile; };
  struct Stream {
    Memory to;
    std::byte* tile;
    size_t writer;  // the step that fills the tile
    // Share k of `count` of the n elements from `begin` on.
    void share(int64_t begin, int64_t n, size_t k, size_t count) const {
      auto part = [&](size_t i) { return n * to.item * i / count / kVecBytes * kVecBytes; };
      const size_t from = part(k), until = k + 1 == count ? n * to.item : part(k + 1);
      stream(tile + from, to.at(begin) + from, until - from);
    }
  };
  const FusedProgram& p_;
  const std::vector<Source>& in_;
  const int64_t row_, tile_;  // elements; row_ 0: tiles heed no rows
  const bool shares_tiles_;   // do tiles have several rows?
  size_t item_ = sizeof(float);
  StorageRef memory_;
  std::vector<Memory> where_;  // by operand
  std::vector<Memory> fetched_;
  std::vector<Gather> gathers_;
  std::vector<Spread> spreads_;
  std::vector<Stream> streams_;
  std::vector<Call> calls_;
};

void fused(const Fused& op, Inputs in, Outputs out) {
  const Sources from = sources(in, out[0]);
  const int64_t n = out[0].numel(), tile = from.tile(), tiles = (n + tile - 1) / tile;
  parallel_for(tiles, kGrain / tile, [&](int64_t b, int64_t e) { Tiles(*op.program, from, out).run(b * tile, std::min(e * tile, n)); });
}

bool find_loop(const OpType& type, const void* op, Inputs in, DType out, FusedStep* step) {
  auto known = pointwise_ops().find(type.kernels);
  if (known == pointwise_ops().end() || in.size() >= kMaxOperands) return false;
  DType compute = known->second.computes(op, in, out);
  if (!is_floating(compute)) return false;  // loops of integers are chosen by values
  bool wide = compute == DType::float64;
  const bool root = type.kernels == kernel_slots<Pow> && static_cast<const Pow*>(op)->root;
  const Loops& loops = root ? root_loops() : known->second.loops;
  step->loop = wide ? loops.f64 : loops.f32;
  step->tile = wide ? DType::float64 : DType::float32;
  return step->loop != nullptr;
}

const bool registered = [] {
  set_kernel<Fused, fused>(DeviceType::cpu);
  fused_loop = find_loop;
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
