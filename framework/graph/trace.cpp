#include "framework/graph/trace.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "framework/autograd/nodes.h"
#include "framework/graph/passes.h"
#include "framework/graph/spec.h"
#include "framework/op/changes.h"

namespace weir::graph {

Place (*current_place)() = nullptr;

namespace {

constexpr int kForeign = -2;  // an argument's own storage, for which a stand-in is traced
std::atomic<uint32_t> next_id{1};
thread_local Trace* active = nullptr;

[[noreturn]] void refuse(const std::string& what, Obstacle obstacle = Obstacle::value) {
  std::string place = current_place ? to_string(current_place()) : "";
  std::string text = str("While the program is traced, ", what, place.empty() ? "" : " at ", place,
                  ". A traced program runs later, with other values: keep the computation in tensor ops (where, masked_fill, "
                  "index_select), return the tensor and read it outside, or run this part in eager mode.");
  if (obstacle == Obstacle::shape) throw DynamicShape(text);
  throw Untraceable(text);
}

const bool installed = [] {
  untraceable = [](Obstacle obstacle, const std::string& what) { refuse(what, obstacle); };
  return true;
}();

// Ops that write into their first input, in place, without reading it.
bool only_fills(const OpType& type) {
  std::string_view name = type.signature->name;
  if (!type.inplace.offered) return false;
  if (name == "copy" || name == "fill" || name == "zero") return true;
  return name == "uniform" || name == "normal_fill" || name == "random_range" || name == "bernoulli_fill" || name == "drawn_fill";
}

// What is in the memory now, for writes into part of it.
Node copy_of_bytes(int from, int to, size_t bytes) {
  static const OpType* clone = find_op("clone");
  Node n;
  n.type = clone;
  n.op = clone->defaults;
  Use u;
  u.meta = Meta(Dims{int64_t(bytes)}, Dims{1}, DType::uint8, Device{});
  u.value = from;
  n.in = {u};
  u.value = to;
  n.out = {u};
  return n;
}

}  // namespace

Trace* current() { return active; }

Trace::Trace() : id_(next_id++) {
  check(!active && !mode.recorder, "a program is being traced on this thread already");
  active = this;
  mode.recorder = this;
  current_trace = id_;
}

Trace::~Trace() { stop(); }

void Trace::stop() {
  if (!running_) return;
  running_ = false;
  for (Touched& t : touched_) {
    t.storage->symbol = -1;
    t.storage->trace = t.trace;
    t.storage->symbolic = false;
    t.storage->version = t.version;
  }
  touched_.clear();
  active = nullptr;
  before_accumulation = nullptr;
  mode.recorder = nullptr;
  current_trace = 0;
}

void Trace::forbid_accumulation() {
  before_accumulation = [] { refuse("a gradient is added to .grad"); };
}

void Trace::pause() {
  check(!paused_, "the trace is paused already");
  paused_ = true;
  mode.recorder = nullptr;
  current_trace = 0;
}

void Trace::resume() {
  paused_ = false;
  mode.recorder = this;
  current_trace = id_;
}

int Trace::new_value(int buffer, int node, int old) {
  g_.values.push_back({buffer, node, old});
  return current_[buffer] = int(g_.values.size()) - 1;
}

static void check_has_values(const Tensor& t) {
  check(t.device().type != DeviceType::meta, "nn.Graph: a tensor of the meta device has no values to run a plan on, shape ", t.sizes());
}

// From here to the end of the trace the storage's values cannot be read.
void Trace::touch(const StorageRef& s, int symbol) {
  touched_.push_back({s, s->version, s->trace});
  s->symbol = symbol;
  s->trace = id_;
  s->symbolic = true;
}

Tensors Trace::arguments(Inputs args, bool numbers_can_be_taken, bool whole) {
  for (const Tensor& t : args) {
    check_has_values(t);
    check(!t->storage->symbolic, "an argument of a traced program has no values itself");
  }
  whole_ = whole;
  g_.arguments = memory_of(args, whole);
  num_arguments_ = int(args.size());
  std::vector<StorageRef> stand_ins;
  for (const Argument& a : g_.arguments) {
    stand_ins.push_back(symbolic_storage(a.bytes, args[a.first].device()));
    stand_ins.back()->symbol = int(g_.buffers.size());
    if (a.base || a.bytes != args[a.first]->storage->bytes) stand_ins.back()->context = this;  // as_strided asks: it may reach beyond
    g_.buffers.push_back({Kind::argument, a.bytes, args[a.first].device(), {}, int(&a - g_.arguments.data())});
    current_.push_back(-1);
    new_value(int(g_.buffers.size()) - 1, -1, -1);
    touch(args[a.first]->storage, kForeign);
  }
  Tensors result;
  for (size_t i = 0; i < args.size(); i++)
    for (size_t k = 0; k < g_.arguments.size(); k++) {
      const Argument& a = g_.arguments[k];
      if (!(args[i]->storage == args[a.first]->storage)) continue;
      Use u = use_of(0, args[i]);
      u.meta.offset -= a.base / int64_t(size_of(args[i].dtype()));
      g_.given.push_back(u.meta);
      result.push_back(tensor_over(stand_ins[k], u));
      if (args[i]->base) stand_ins[k]->context = this;
    }
  stand_ins_ = result;
  if (numbers_can_be_taken) given_.assign(args.begin(), args.end());
  return result;
}

static const std::byte* place_of(const Taken& t, const std::vector<Argument>& memory, Inputs args) {
  const Argument& a = memory[t.argument];
  return args[a.first]->storage->data + a.base + t.at;
}

std::string facts_of(const std::vector<Taken>& taken, bool whole, Inputs args) {
  std::string facts;
  const std::vector<Argument> memory = memory_of(args, whole);
  for (const Taken& t : taken) facts.append(reinterpret_cast<const char*>(place_of(t, memory, args)), size_t(t.bytes));
  if (whole)
    for (const Argument& a : memory) facts += str(' ', a.lead, ' ', a.bytes);
  return facts;
}

std::optional<Scalar> Trace::take_number(const Tensor& t) {
  const Storage& s = *t->storage;
  if (given_.empty() || t.numel() != 1 || s.trace != id_ || s.symbol < 0) return {};
  const Buffer& b = g_.buffers[s.symbol];
  if (b.kind != Kind::argument || g_.values[current_[s.symbol]].node >= 0) return {};  // the program has written there
  const int64_t size = int64_t(size_of(t.dtype()));
  const Taken number{b.argument, t->offset * size, size};
  auto at = std::lower_bound(taken_.begin(), taken_.end(), number);
  if (at == taken_.end() || !(*at == number)) taken_.insert(at, number);
  Tensor copy = empty(Dims(), t.dtype());
  std::memcpy(copy.raw(), place_of(number, g_.arguments, given_), size_t(size));
  copy->flags |= t->flags & kMarks;
  return item(copy);
}

Scalar number_of(const Tensor& t) {
  if (t->storage->symbolic && active)
    if (const auto number = active->take_number(t)) return *number;
  return item(t);
}

void Trace::refuse_place(const std::string& what) {
  asked_place_ = true;
  refuse(what + " an argument that is a part of some memory");
}

void check_place_is_known(const Tensor& t, const char* what) {
  if (t->storage->symbolic && t->storage->context && active && !active->whole()) active->refuse_place(what);
}

Tensor Trace::late_argument(const Meta& meta) {
  Tensor t = symbolic(meta);
  int b = t->storage->symbol = int(g_.buffers.size());
  g_.buffers.push_back({Kind::argument, t->storage->bytes, meta.device, {}, int(g_.arguments.size())});
  g_.arguments.push_back({num_arguments_++, 0, 0, t->storage->bytes});
  current_.push_back(-1);
  new_value(b, -1, -1);
  return t;
}

// The buffer of `t`'s storage; a new one where the program meets the storage for the first time.
int Trace::buffer_for(const Tensor& t, bool written) {
  Storage& s = *t->storage;
  if (s.trace == id_ && s.symbol >= 0) {
    Buffer& b = g_.buffers[s.symbol];
    if (s.bytes > b.bytes) {  // resize_
      if (b.kind == Kind::argument) return moved(s);
      if (b.kind != Kind::temporary) refuse("memory from outside is given another size");
      b.bytes = s.bytes;
    }
    return s.symbol;
  }
  if (s.trace == id_ && s.symbol == kForeign) refuse("the memory of an argument is reached by another way too");
  check(!(s.symbolic && s.trace != id_), "a tensor of shape ", t.sizes(), " was made by a traced program earlier and has no values");
  check_has_values(t);
  int b = int(g_.buffers.size());
  current_.push_back(-1);
  g_.buffers.push_back({Kind::temporary, s.bytes, s.device, {}, -1});
  if (s.symbolic) {
    s.symbol = b;
    return b;
  }
  // A Python number, or memory that the program itself filled from Python data.
  if (t.has_flag(kWrappedNumber) || s.trace == id_) {
    if (s.trace == id_ && !t.has_flag(kWrappedNumber)) s.symbol = b;
    if (!written || !covers(use_of(0, t), s.bytes)) {
      g_.buffers[b].kind = Kind::constant;
      g_.buffers[b].storage = t->storage;
      new_value(b, -1, -1);
    }
    return b;
  }
  g_.buffers[b].kind = Kind::external;
  g_.buffers[b].storage = t->storage;
  touch(t->storage, b);
  new_value(b, -1, -1);
  return b;
}

int Trace::read(const Tensor& t) {
  int b = buffer_for(t, false);
  return current_[b] >= 0 ? current_[b] : zeros(b);
}

// Memory that nobody filled reads as zeros.
int Trace::zeros(int b) {
  static const OpType* fill = find_op("fill");
  Tensor zero = wrapped_number(Scalar(int64_t(0)));
  Node n;
  n.type = fill;
  n.op = fill->defaults;
  int zero_buffer = int(g_.buffers.size());
  current_.push_back(-1);
  g_.buffers.push_back({Kind::constant, zero->storage->bytes, {}, zero->storage, -1});
  int zero_value = new_value(zero_buffer, -1, -1), v = new_value(b, int(g_.nodes.size()), -1);
  Use bytes;
  bytes.meta = Meta(Dims{int64_t(g_.buffers[b].bytes)}, Dims{1}, DType::uint8, Device{});
  bytes.value = v;
  Use blank = bytes;
  blank.value = -1;
  blank.blank = true;
  n.in = {blank, use_of(zero_value, zero)};
  n.out = {bytes};
  g_.nodes.push_back(std::move(n));
  return v;
}

// An argument's memory has grown: from here on the program works in memory of its own, which begins with what was there.
int Trace::moved(Storage& s) {
  int from = s.symbol, to = int(g_.buffers.size());
  size_t bytes = g_.buffers[from].bytes;
  current_.push_back(-1);
  g_.buffers.push_back({Kind::temporary, s.bytes, s.device, {}, -1});
  s.symbol = to;
  if (bytes) {
    int blank = zeros(to), whole = new_value(to, int(g_.nodes.size()), blank);
    g_.nodes.push_back(copy_of_bytes(current_[from], whole, bytes));
  }
  return to;
}

void Trace::record(const OpType& type, const void* op, Inputs in, Outputs out) {
  for (int i = 0; i < type.signature->n; i++)
    if (type.signature->params[i].ty == Ty::generator) {
      Generator* g;
      std::memcpy(&g, static_cast<const std::byte*>(op) + type.fields[i].offset, sizeof g);
      if (g) refuse("random numbers are drawn from a generator of the program's own");
    }
  Node n;
  n.type = &type;
  n.op.assign(static_cast<const std::byte*>(op), static_cast<const std::byte*>(op) + type.size);
  if (current_place) n.place = current_place();
  draws_ += is_random(type);
  for (size_t i = 0; i < in.size(); i++) {
    Use u;
    if (i == 0 && only_fills(type) && in[0] == out[0]) {
      u = use_of(-1, in[0]);
      u.blank = true;
    } else if (in[i]) {
      u = use_of(read(in[i]), in[i]);
    }
    n.in.push_back(u);
  }
  Tensors written(out.begin(), out.end());
  for (int i : changed_inputs(type, op, in)) {
    if (!in[i]) continue;
    written.push_back(in[i]);
    n.hidden++;
  }
  for (const Tensor& t : written) {
    bool hidden = n.out.size() >= out.size();
    Use u = use_of(0, t);
    int b = buffer_for(t, true), old = -1;
    if (hidden || !covers(u, g_.buffers[b].bytes)) {
      old = current_[b] >= 0 ? current_[b] : read(t);
    }
    if (g_.buffers[b].kind == Kind::constant) {  // the memory keeps its first content: the program goes on in its own
      int own = int(g_.buffers.size());
      current_.push_back(-1);
      g_.buffers.push_back({Kind::temporary, g_.buffers[b].bytes, g_.buffers[b].device, {}, -1});
      if (old >= 0) {
        int copied = new_value(own, int(g_.nodes.size()), -1);
        g_.nodes.push_back(copy_of_bytes(old, copied, g_.buffers[b].bytes));
        for (Use& x : n.in)
          if (x.value == old) x.value = copied;  // in place: it reads where it writes
        old = copied;
      }
      t->storage->symbol = b = own;
    }
    t->storage->symbolic = true;
    u.value = int(g_.values.size());
    new_value(b, int(g_.nodes.size()), old);
    n.out.push_back(u);
  }
  g_.nodes.push_back(std::move(n));
}

std::vector<int> Trace::reshaped() const {
  std::vector<int> r;
  for (size_t i = 0; i < stand_ins_.size(); i++) {
    const Tensor& t = stand_ins_[i];
    const Meta& m = g_.given[i];
    bool same = t.sizes() == m.sizes && t.strides() == m.strides && t->offset == m.offset;
    if (!same || g_.buffers[t->storage->symbol].kind != Kind::argument || t->storage->bytes != g_.buffers[t->storage->symbol].bytes) r.push_back(int(i));
  }
  return r;
}

Graph Trace::finish(const Tensors& results, bool reshaped_are_shown) {
  if (!reshaped_are_shown && !reshaped().empty()) refuse("an argument is given another shape or more memory in place");
  for (const Tensor& t : results) {
    Use u;
    if (t) u = use_of(read(t), t);
    g_.results.push_back(u);
  }
  stop();
  check_if_asked(g_);
  return std::move(g_);
}

}  // namespace weir::graph
