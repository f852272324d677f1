#include "framework/graph/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "framework/op/fused.h"
#include "framework/op/out.h"

namespace weir::graph {
namespace {

constexpr size_t kPad = 64;
size_t padded(size_t bytes) { return (bytes + kPad - 1) / kPad * kPad; }

// A storage over memory that `owner` keeps.
StorageRef shared_memory(const StorageRef& owner) {
  return borrow_storage(owner->data, owner->bytes, [](void* p) { delete static_cast<StorageRef*>(p); }, new StorageRef(owner));
}

// A storage whose memory is set before each run.
StorageRef unbound(size_t bytes) {
  return borrow_storage(nullptr, bytes, [](void*) {}, nullptr);
}

}  // namespace

// Largest first, each at the lowest place that is free while it lives.
size_t place(std::vector<Interval>& intervals) {
  std::vector<Interval*> order, placed;
  for (Interval& i : intervals)
    if (i.offset < 0 && i.first <= i.last) order.push_back(&i);
  std::stable_sort(order.begin(), order.end(), [](const Interval* a, const Interval* b) { return a->bytes > b->bytes; });
  size_t size = 0;
  for (Interval* i : order) {
    int64_t at = 0;
    for (const Interval* p : placed) {  // by offset
      if (p->first > i->last || i->first > p->last) continue;
      if (at + int64_t(padded(i->bytes)) <= p->offset) break;
      at = std::max(at, p->offset + int64_t(padded(p->bytes)));
    }
    i->offset = at;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, [](const Interval* a, const Interval* b) { return a->offset < b->offset; }), i);
    size = std::max(size, size_t(at) + padded(i->bytes));
  }
  return size;
}

Plan::Plan(Graph g) : g_(std::move(g)) {
  lay_out();
  bind();
}

void Plan::lay_out() {
  const int n = int(g_.nodes.size());
  places_.resize(g_.buffers.size());
  for (size_t b = 0; b < g_.buffers.size(); b++) places_[b] = {n, -1, g_.buffers[b].bytes, -1};
  for (int i = 0; i < n; i++)
    for (const auto* uses : {&g_.nodes[i].in, &g_.nodes[i].out})
      for (const Use& u : *uses)
        if (u.value >= 0) {
          Interval& at = places_[g_.buffer_of(u)];
          at.first = std::min(at.first, i);
          at.last = std::max(at.last, i);
        }
  std::vector<Interval> wanted(g_.buffers.size());
  std::vector<char> is_result(g_.buffers.size());
  for (const Use& u : g_.results)
    if (u.value >= 0 && g_.buffers[g_.buffer_of(u)].kind == Kind::temporary) is_result[g_.buffer_of(u)] = true;
  share(is_result);
  std::vector<int64_t> change(n + 2);
  for (size_t b = 0; b < g_.buffers.size(); b++) {
    if (g_.buffers[b].kind == Kind::temporary && places_[b].last >= 0 && slots_[b] == int(b)) {
      change[places_[b].first] += int64_t(padded(places_[b].bytes));
      change[is_result[b] ? n : places_[b].last + 1] -= int64_t(padded(places_[b].bytes));
    }
    wanted[b] = places_[b];
    if (is_result[b]) result_buffers_.push_back(int(b));
    if (is_result[b] || g_.buffers[b].kind != Kind::temporary || slots_[b] != int(b)) wanted[b].offset = 0;  // it has memory already
  }
  int64_t live = 0;
  for (int i = 0; i < n; i++) {
    live += change[i];
    if (size_t(live) > live_bytes_) live_bytes_ = size_t(live), peak_node_ = i;
  }
  arena_bytes_ = place(wanted);
  for (size_t b = 0; b < g_.buffers.size(); b++)
    if (!is_result[b] && g_.buffers[b].kind == Kind::temporary) places_[b].offset = wanted[slots_[b]].offset;
  written_ = g_.written();
}

namespace {

bool same_geometry(const Use& a, const Use& b) {
  return a.meta.dtype == b.meta.dtype && a.meta.offset == b.meta.offset && a.meta.sizes == b.meta.sizes && a.meta.strides == b.meta.strides;
}

// May the node's result lie where its input `k` does? Element by element, where all that it reads of that memory it reads in the
// result's geometry. An op that has an in-place form may write over its first input, if it reads that only once.
bool may_lie_over(const Node& n, size_t k, const Graph& g) {
  bool pointwise = n.type == &op_type<Fused>() || elementwise(*n.type);  // of one result, which comes last
  if (n.type->layouts != Layouts::any || !(pointwise || (n.type->inplace.offered && k == 0))) return false;
  for (size_t i = 0; i < n.in.size(); i++) {
    const Use& u = n.in[i];
    if (u.value < 0 || g.buffer_of(u) != g.buffer_of(n.in[k])) continue;
    if (!same_geometry(u, n.out[0]) || (!pointwise && i != k)) return false;
  }
  return true;
}

}  // namespace

// A buffer that begins where another ends, at one node that works element by element, takes its memory over.
void Plan::share(const std::vector<char>& is_result) {
  slots_.resize(g_.buffers.size());
  std::iota(slots_.begin(), slots_.end(), 0);
  auto ours = [&](int b) { return g_.buffers[b].kind == Kind::temporary && !is_result[b]; };
  for (int i = 0; i < int(g_.nodes.size()); i++) {
    const Node& n = g_.nodes[i];
    if (n.out.size() != 1) continue;
    int b = g_.buffer_of(n.out[0]);
    if (!ours(b) || places_[b].first != i || !covers(n.out[0], g_.buffers[b].bytes)) continue;
    for (size_t k = 0; k < n.in.size(); k++) {
      const Use& u = n.in[k];
      if (u.value < 0) continue;
      int a = slots_[g_.buffer_of(u)];
      if (!ours(g_.buffer_of(u)) || !ours(a) || places_[a].last != i || g_.buffers[a].bytes != g_.buffers[b].bytes || !may_lie_over(n, k, g_)) continue;
      slots_[b] = a;
      places_[a].last = places_[b].last;
      break;
    }
  }
}

void Plan::bind() {
  // What tracing, or eager steps before, left idle would stay beside the plan for ever, in the place of the memory that its kernels take for the
  // time of a call, which the system then clears in every step: 20 ms of one of ResNet50.
  constexpr size_t kLarge = 16 << 20;
  if (arena_bytes_ >= kLarge) empty_cache();
  arena_ = new_storage(arena_bytes_);
  for (size_t b = 0; b < g_.buffers.size(); b++) {
    const Buffer& buffer = g_.buffers[b];
    if (buffer.kind == Kind::external) storages_.push_back(buffer.storage);
    else if (buffer.kind == Kind::constant) storages_.push_back(shared_memory(buffer.storage));
    else storages_.push_back(unbound(buffer.bytes));
    storages_.back()->device = buffer.device;
    if (places_[b].offset >= 0) storages_.back()->data = arena_->data + places_[b].offset;
  }
  // Side by side, as its tensors are: by itself each op would lie on a page of the heap that nothing else reads in a step.
  constexpr size_t kAlign = 64;
  auto room_of = [](const Node& n) { return (n.op.size() + kAlign - 1) / kAlign * kAlign; };
  size_t room = 0, at = 0;
  for (const Node& node : g_.nodes) room += room_of(node);
  ops_.resize(room);
  for (const Node& node : g_.nodes) {
    std::byte* const op = ops_.data() + at;
    std::copy(node.op.begin(), node.op.end(), op);
    at += room_of(node);
    Step s{node.type->kernels[int(DeviceType::cpu)], op, uint32_t(tensors_.size()), uint32_t(node.in.size()), 0, uint32_t(node.out.size() - node.hidden)};
    for (const Use& u : node.in) {
      int b = u.value >= 0 ? g_.buffer_of(u) : u.blank ? g_.buffer_of(node.out[0]) : -1;
      tensors_.push_back(b < 0 ? Tensor() : tensor_over(storages_[b], u));
    }
    s.out = uint32_t(tensors_.size());
    for (uint32_t k = 0; k < s.num_out; k++) tensors_.push_back(tensor_over(storages_[g_.buffer_of(node.out[k])], node.out[k]));
    if (any_storage_only(Inputs(&tensors_[s.in], s.num_in + s.num_out))) s.carried = node.type;
    steps_.push_back(s);
  }
}

void Plan::begin(Inputs args) {
  check(g_.given.empty() || args.size() == g_.given.size(), "a plan for ", g_.given.size(), " arguments was given ", args.size());
  for (size_t i = 0; i < g_.given.size(); i++) {
    const Meta& m = g_.given[i];
    check(args[i] && args[i].dtype() == m.dtype && args[i].sizes() == m.sizes && same_layout(m.sizes, args[i].strides(), m.strides),
          "a plan was given an argument of another dtype, shape or layout");
  }
  for (size_t b = 0; b < g_.buffers.size(); b++) {
    if (g_.buffers[b].kind != Kind::argument) continue;
    const Argument& a = g_.arguments[g_.buffers[b].argument];
    check(a.first < int(args.size()), "a plan was given ", args.size(), " arguments");
    const Storage& s = *args[a.first]->storage;
    check(!s.symbolic, "an argument of a plan has no values");
    const int64_t begin = first_byte(args[a.first]) - a.lead;
    check(a.bytes == 0 || (begin >= 0 && size_t(begin) + a.bytes <= s.bytes), "a plan of ", a.bytes, " bytes of an argument was given ", s.bytes, " of them from ", begin);
    storages_[b]->data = s.data + begin;
  }
  fresh_.clear();
  for (int b : result_buffers_) {
    fresh_.push_back(new_storage(g_.buffers[b].bytes));
    storages_[b]->data = fresh_.back()->data;
  }
}

Tensors Plan::end(Inputs args) {
  for (int b : written_) {
    if (g_.buffers[b].kind == Kind::external) storages_[b]->version++;
    else args[g_.arguments[g_.buffers[b].argument].first]->storage->version++;
  }
  Tensors results;
  for (const Use& u : g_.results) {
    if (u.value < 0) {
      results.push_back({});
      continue;
    }
    int b = g_.buffer_of(u);
    const Buffer& buffer = g_.buffers[b];
    Use shown = u;
    StorageRef memory = storages_[b];
    if (buffer.kind == Kind::temporary) {
      memory = fresh_[std::find(result_buffers_.begin(), result_buffers_.end(), b) - result_buffers_.begin()];
    } else if (buffer.kind == Kind::argument) {
      const Tensor& arg = args[g_.arguments[buffer.argument].first];
      memory = arg->storage;
      shown.meta.offset += (storages_[b]->data - memory->data) / int64_t(size_of(u.meta.dtype));
    } else if (buffer.kind == Kind::constant) {  // the caller may write into it
      memory = new_storage(buffer.bytes);
      if (buffer.bytes) std::memcpy(memory->data, buffer.storage->data, buffer.bytes);
    }
    results.push_back(tensor_over(memory, shown));
  }
  reset();
  return results;
}

void Plan::reset() {
  for (int b : result_buffers_) storages_[b]->data = nullptr;
  fresh_.clear();
}

Tensors Plan::run(Inputs args) {
  std::lock_guard lock(mutex_);
  begin(args);
  for (const Step& s : steps_) run_step(s);
  return end(args);
}

std::vector<double> Plan::profile(Inputs args) {
  std::lock_guard lock(mutex_);
  begin(args);
  std::vector<double> seconds;
  auto before = std::chrono::steady_clock::now();
  for (const Step& s : steps_) {
    run_step(s);
    auto now = std::chrono::steady_clock::now();
    seconds.push_back(std::chrono::duration<double>(now - before).count());
    before = now;
  }
  end(args);
  return seconds;
}

bool Plan::stale() const {
  return std::any_of(g_.frozen.begin(), g_.frozen.end(), [](const Frozen& f) { return f.storage->version != f.version; });
}

std::string Plan::memory_report() const {
  std::string r = str("arena ", arena_bytes_, " bytes; at most ", live_bytes_, " live at once, at node ", peak_node_);
  if (!g_.nodes.empty()) r += str(" (", g_.nodes[peak_node_].type->signature->name, ", ", to_string(g_.nodes[peak_node_].place), ")");
  r += "\n";
  std::vector<int> live;
  for (size_t b = 0; b < places_.size(); b++)
    if (g_.buffers[b].kind == Kind::temporary && places_[b].first <= peak_node_ && peak_node_ <= places_[b].last) live.push_back(int(b));
  std::sort(live.begin(), live.end(), [&](int a, int b) { return places_[a].bytes > places_[b].bytes; });
  for (int b : live) {
    const Node& maker = g_.nodes[places_[b].first];
    r += str("  ", places_[b].bytes, " bytes, made by node ", places_[b].first, " ", maker.type->signature->name, " ", to_string(maker.place),
             ", until node ", places_[b].last, "\n");
  }
  return r;
}

}  // namespace weir::graph
