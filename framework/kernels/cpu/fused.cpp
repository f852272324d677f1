#include "framework/op/fused.h"

#include <algorithm>
#include <memory>

#include "framework/kernels/cpu/arithmetic.h"
#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/stages.h"
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

bool has(const std::vector<int>& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }

bool has_stages(DType t) { return kept_in_tile(t) == DType::float32 || t == DType::boolean; }
bool is_half(DType t) { return kept_in_tile(t) != t; }

DType kept_dtype(const FusedOperand& x) { return x.slot >= 0 ? kept_in_tile(x.dtype) : x.dtype; }

template <class T> void round_to(float* x, int64_t n) {
  int64_t i = 0;
  for (; i + Vec<float>::size <= n; i += Vec<float>::size) rounded_to<T>(Vec<float>::load(x + i)).store(x + i);
  for (; i < n; i++) x[i] = float(T(x[i]));
}

// Elements of the whole: from where on, and in which row and column that is.
struct At { int64_t i, row, column; };

// Where an element lies: `item` bytes for each one before it, `row_item` for each row, `column_item` for each in its row. A number or what a
// tile holds lies at base. From there elements follow each other at `step`, 0 for a number.
struct Memory {
  std::byte* base = nullptr;
  int64_t item = 0, row_item = 0, column_item = 0, step = 0;
  std::byte* at(At a, int64_t ahead = 0) const { return base + a.i * item + a.row * row_item + a.column * column_item + ahead * step; }
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

// Steps that run one after the other: as stages, or, where these are none, a single one by its loop.
struct Part {
  struct Moving { size_t stage; Memory memory; };  // what lies elsewhere for each tile
  size_t first, end;
  bool staged;
  std::vector<Stage> stages;
  std::vector<Moving> moving;
};

// One thread's tiles: of what the steps hand on, of inputs in other layouts, of operands in the type of a loop, and of large results.
class Tiles {
 public:
  Tiles(const FusedProgram& p, const Sources& from, Outputs out)
      : p_(p), in_(from.inputs), row_(from.row), tile_(from.tile()), shares_tiles_(from.shares_tiles()), where_(p.operands.size()) {
    for (const FusedOperand& x : p.operands) item_ = std::max(item_, size_of(x.dtype));
    for (size_t k = 0; k < p.steps.size(); k++) {
      const bool staged = runs_in_stages(p.steps[k]);
      if (k == 0 || !staged || !parts_.back().staged) parts_.push_back({k, k, staged});
      parts_.back().end = k + 1;
    }
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
        where_[o] = {out[x.output].raw(), item, 0, 0, item};
        if (out[0].numel() * item < kStreamed) continue;
        const size_t writer = writer_of(int(o));
        if (parts_[writer].staged && can_stream(int(o))) {
          streamed_.push_back(int(o));
        } else {
          streams_.push_back({where_[o], tile_more(), writer});
          where_[o] = in_tile(streams_.back().tile, item);
        }
      } else if (x.input < 0) {
        where_[o] = in_tile(tile(x.slot), int64_t(size_of(kept_dtype(x))));
      } else if (gathered[x.input]) {
        where_[o] = in_tile(gathered[x.input], item);
      } else if (needs_tile(in_[x.input])) {
        where_[o] = in_tile(gathered[x.input] = tile_more(), item);
        lay_out_rows(in_[x.input], size_t(item), where_[o].base);
      } else {
        where_[o] = memory_of(in_[x.input], item);
        if (where_[o].item && out[0].numel() * item >= kFetched) far_.push_back(int(o));
      }
    }
    next = memory_->data + (p.num_slots + kMaxOperands + others + out.size()) * tile_bytes();
    calls_.reserve(p.steps.size());
    for (const FusedStep& s : p.steps) calls_.push_back(prepared(s, &next));
    fetched_ = far_;
    for (Part& part : parts_)
      if (part.staged) add_stages(part);
  }

  /// Memory is kept busy while the formulas work: each step brings a share of the next tile and takes away one of the last.
  void run(int64_t begin, int64_t end) {
    int64_t last = 0;  // elements of the tile before
    for (int64_t b = begin, n; b < end; b += n) {
      const At at = row_ ? At{b, b / row_, b % row_} : At{b, 0, 0};
      n = std::min({tile_, end - b, row_ && !shares_tiles_ ? row_ - at.column : kTile});
      for (auto [gather, tile] : gathers_) gather->run(b, b + n, tile);
      for (const Spread& s : spreads_) spread(s.from + size_t(at.row) * s.item, s.item, n / row_, row_, s.tile);
      for (size_t k = 0; k < parts_.size(); k++) {
        fetch(b + n, end, k);
        for (const Streamed& s : streams_)
          if (b > begin && k < s.writer) s.share(b - last, last, k, s.writer);
        run(parts_[k], at, n);
      }
      for (const Streamed& s : streams_)
        if (s.writer == 0 || b + n == end) s.share(b, n, 0, 1);
      last = n;
    }
    if (!streams_.empty() || !streamed_.empty()) streamed();
  }

 private:
  static Memory memory_of(const Source& s, int64_t item) {
    std::byte* base = const_cast<std::byte*>(s.data);
    switch (s.kind) {
      case Source::number: return {base};
      case Source::per_row: return {base, 0, item};
      case Source::in_each_row: return {base, 0, 0, item, item};
      default: return {base, item, 0, 0, item};
    }
  }
  static Memory in_tile(std::byte* tile, int64_t item) { return {tile, 0, 0, 0, item}; }

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
      const bool number = is_number(x);
      Call::In& in = c.in[k];
      in.from = where_[step.in[k]];
      if (is_fixed(x)) c.fixed |= 1u << k;
      if (kept_dtype(x) == made && step.loop) continue;
      in.cast = converter(kept_dtype(x), made);
      in.to = tile(p_.num_slots + int(k));
      if (!number) continue;
      in.cast(in.from.base, 0, *numbers, 1, 1);
      in = {{std::exchange(*numbers, *numbers + kMaxItem)}, step.loop ? nullptr : converter(made, made), nullptr};
    }
    return c;
  }

  bool is_number(const FusedOperand& x) const { return x.input >= 0 && in_[x.input].kind == Source::number; }
  // One number for each tile?
  bool is_fixed(const FusedOperand& x) const { return is_number(x) || (x.input >= 0 && in_[x.input].kind == Source::per_row && !shares_tiles_); }

  bool runs_in_stages(const FusedStep& s) const {
    const DType out = p_.operands[s.out].dtype;
    if (!has_stages(out) || (s.loop ? !s.stages : out == DType::boolean)) return false;
    size_t fixed = 0, thirds = 0;
    for (int o : s.in) {
      if (o < 0) return false;
      const FusedOperand& x = p_.operands[o];
      fixed += is_fixed(x), thirds += may_be_third(x);
      if (!is_number(x) && (is_fixed(x) ? x.dtype != DType::float32 : !has_stages(x.dtype))) return false;
    }
    if (s.in.size() < 3) return fixed < s.in.size();
    // Of two that can come from memory one is not what the step before has left in registers.
    const bool differ = s.in[0] != s.in[1] && s.in[0] != s.in[2] && s.in[1] != s.in[2];
    return s.in.size() == 3 && fixed < 2 && thirds >= 2 && differ;
  }
  bool may_be_third(const FusedOperand& x) const { return is_fixed(x) || kept_dtype(x) == DType::float32 || x.dtype == DType::boolean; }
  Third kind_of_third(const FusedOperand& x) const {
    return is_fixed(x) ? Third::number : kept_dtype(x) == DType::float32 ? Third::floats : Third::truths;
  }

  // The part whose step writes the operand.
  size_t writer_of(int operand) const {
    return std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
             return std::any_of(&p_.steps[part.first], p_.steps.data() + part.end, [&](const FusedStep& s) { return s.out == operand; });
           }) - parts_.begin();
  }
  // Does a step read the operand, from number `first` on?
  bool is_read(int operand, size_t first = 0) const {
    return std::any_of(p_.steps.begin() + first, p_.steps.end(), [&](const FusedStep& s) { return has(s.in, operand); });
  }
  bool can_stream(int output) const {
    const int64_t item = where_[output].item;
    const bool aligned = reinterpret_cast<uintptr_t>(where_[output].base) % kVecBytes == 0 && row_ * item % kVecBytes == 0;
    return p_.operands[output].dtype == DType::float32 && aligned && !is_read(output);
  }

  // How a step takes its operands: two in registers, the one in x perhaps left there by the step before, and input `from_memory` of the step.
  struct Form { int x, y, from_memory, stage; };
  static Form form_of(const FusedStep& s, uint32_t fixed, int held) {
    const int a = s.in[0], b = s.in.size() > 1 ? s.in[1] : -1;
    if (b < 0) return {a, -1, -1, int(Taken::x)};
    if (fixed) return fixed == 1 ? Form{b, -1, 0, int(Taken::number_x)} : Form{a, -1, 1, int(Taken::x_number)};
    if (a == b) return {a, -1, -1, int(Taken::x_x)};
    return b == held ? Form{b, a, -1, int(Taken::y_x)} : Form{a, b, -1, int(Taken::x_y)};
  }
  Form form_of_three(const FusedStep& s, int held) const {
    int third = 0;  // a number if there is one
    auto serves = [&](int k) { return s.in[k] != held && may_be_third(p_.operands[s.in[k]]); };
    for (int k = 3; k-- > 0;)
      if (serves(k) && (!serves(third) || is_fixed(p_.operands[s.in[k]]))) third = k;
    const int a = s.in[third == 0], b = s.in[third == 2 ? 1 : 2];
    const bool turned = b == held;
    return {turned ? b : a, turned ? a : b, third, stage_of_three(third, turned, kind_of_third(p_.operands[s.in[third]]))};
  }

  void add_stages(Part& part) {
    auto add = [&](StageCall call, const void* op = nullptr, const Memory* memory = nullptr) {
      if (memory) part.moving.push_back({part.stages.size(), *memory});
      part.stages.push_back({call, op});
    };
    const size_t most = 5 * (part.end - part.first) + 1;  // of a step: two operands, itself, a rounding, a result
    part.stages.reserve(most), part.moving.reserve(most);
    int held = -1;  // the operand that x is
    for (size_t k = part.first; k < part.end; k++) {
      const FusedStep& s = p_.steps[k];
      const Form form = s.in.size() == 3 ? form_of_three(s, held) : form_of(s, calls_[k].fixed, held);
      if (form.x != held) add(load<Into::x>(form.x), nullptr, &where_[form.x]);
      if (form.y >= 0) add(load<Into::y>(form.y), nullptr, &where_[form.y]);
      const Memory* memory = form.from_memory < 0 ? nullptr : &calls_[k].in[form.from_memory].from;
      if (s.loop) add((*static_cast<const FormulaStages*>(s.stages))[form.stage], s.op.data(), memory);
      held = s.out;
      const FusedOperand& out = p_.operands[s.out];
      if (is_half(out.dtype) && is_read(s.out)) add(out.dtype == DType::bfloat16 ? stage<RoundTo<BFloat16>> : stage<RoundTo<Half>>);
      // The next step of the part finds it in x.
      if (out.output >= 0 || is_read(s.out, k + 1 < part.end ? k + 2 : k + 1)) add(store(s.out), nullptr, &where_[s.out]);
    }
    add(last_stage);
  }
  template <Into into> StageCall load(int operand) {
    if (has(far_, operand)) {
      std::erase(fetched_, operand);
      return load<into, true>(kept_dtype(p_.operands[operand]));
    }
    return load<into, false>(kept_dtype(p_.operands[operand]));
  }
  template <Into into, bool from_afar> static StageCall load(DType t) {
    if (t == DType::float32) return stage<Load<float, into, from_afar>>;
    if (t == DType::boolean) return stage<Load<bool, into, from_afar>>;
    return t == DType::bfloat16 ? stage<Load<BFloat16, into, from_afar>> : stage<Load<Half, into, from_afar>>;
  }
  StageCall store(int operand) const {
    if (has(streamed_, operand)) return stage<Stream>;
    const DType t = kept_dtype(p_.operands[operand]);
    if (t == DType::float32) return stage<Store<float>>;
    if (t == DType::boolean) return stage<Store<bool>>;
    return t == DType::bfloat16 ? stage<Store<BFloat16>> : stage<Store<Half>>;
  }

  // Share `k` of the next tile's lines.
  void fetch(int64_t begin, int64_t end, size_t k) const {
    const int64_t n = std::min(kTile, end - begin);
    for (int o : fetched_) {
      const Memory& m = where_[o];
      const size_t lines = n > 0 ? size_t(n * m.item) / kLine : 0;
      for (size_t l = lines * k / parts_.size(); l < lines * (k + 1) / parts_.size(); l++) __builtin_prefetch(m.at(begin) + l * kLine);
    }
  }

  void run(Part& part, At at, int64_t n) const {
    int64_t done = 0;
    if (part.staged) {
      for (const Part::Moving& m : part.moving) part.stages[m.stage].at = m.memory.at(at);
      done = run_stages(part.stages.data(), n);
    }
    if (done == n) return;
    for (size_t k = part.first; k < part.end; k++) run(calls_[k], at, done, n - done);
  }

  // n elements, of which the first is `ahead` of that at `at`.
  static void run(const Call& c, At at, int64_t ahead, int64_t n) {
    std::byte* out = c.out.at(at, ahead);
    if (!c.step->loop) {
      c.in[0].cast(c.in[0].from.at(at, ahead), c.fixed ? 0 : 1, out, 1, n);
    } else {
      const void* in[kMaxOperands];
      for (size_t k = 0; k < c.step->in.size(); k++) {
        in[k] = c.in[k].from.at(at, ahead);
        if (c.in[k].cast) c.in[k].cast(in[k], 1, c.in[k].to, 1, c.fixed >> k & 1 ? 1 : n), in[k] = c.in[k].to;
      }
      c.step->loop(c.step->op.data(), c.result ? c.result : out, in, c.fixed, n);
      if (c.narrow) c.narrow(c.result, 1, out, 1, n);
    }
    if (c.rounds_to == DType::bfloat16) round_to<BFloat16>(reinterpret_cast<float*>(out), n);
    else if (c.rounds_to == DType::float16) round_to<Half>(reinterpret_cast<float*>(out), n);
  }

  struct Gather { const InOrder* from; std::byte* tile; };
  struct Spread { const std::byte* from; size_t item; std::byte* tile; };
  struct Streamed {
    Memory to;
    std::byte* tile;
    size_t writer;  // the part that fills the tile
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
  std::vector<int> far_, fetched_;  // inputs that no cache has; those of them that no stage asks for ahead of time
  std::vector<Gather> gathers_;
  std::vector<Spread> spreads_;
  std::vector<Streamed> streams_;  // large results that go past the caches from tiles
  std::vector<int> streamed_;      // and those that do from registers
  std::vector<Call> calls_;
  std::vector<Part> parts_;
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
  step->stages = wide ? nullptr : loops.f32_stages;
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
