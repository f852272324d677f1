#include "framework/autograd/forward.h"

#include <algorithm>

#include "framework/autograd/engine.h"
#include "framework/autograd/nodes.h"
#include "framework/op/autocast.h"
#include "framework/op/batch.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"

namespace weir {

constinit thread_local bool forward_enabled = true;

namespace {

std::atomic<uint64_t> next_level{1};

Tensors called(const OpType& type, const void* op, Inputs in) {
  Tensors out(type.signature->num_outputs);
  call(type, op, in, out.data());
  return out;
}

Tensor zeros_for(const Tensor& x) { return grad_ops.zeros(Meta(x.sizes(), x.dtype(), x.device())); }

// Zeros that may hold another number in each example that `t` does, and zeros between them, where a view may look.
Tensor zeros_to_hold(const Tensor& t, const Meta& m) {
  const Axes axes = batch_axes(Inputs(&t, 1));
  AxesOfResults scope(axes.empty() ? nullptr : &axes);
  const int64_t numel = numel_of(m.sizes), reach = numel && !m.row_major() ? extent(m.sizes, m.strides).high + 1 : numel;
  Tensor r = unfilled(reach > numel ? Meta(Dims{reach}, m.dtype, m.device) : m);
  GradMode off(false);
  copy_into(r, wrapped_number(Scalar(0.0), m.device));
  r->storage->version = 0;
  return reach > numel ? alias(r->storage, m.dtype, m.sizes, m.strides, 0) : r;
}

std::vector<Tangent>* own_tangents(const Tensor& x) {
  Variable* v = x.has_flag(kDual) ? variable_or_null(x) : nullptr;
  return v ? &v->tangents : nullptr;
}

Tensor* own_tangent(const Tensor& x, const LevelRef& level) {
  if (auto* all = own_tangents(x))
    for (Tangent& t : *all)
      if (t.level == level) return &t.value;
  return nullptr;
}

/// A call as its own backward pass would see it, on tensors that may have histories and tangents.
struct Called final : Saved {
  Inputs in;
  Outputs out;
  std::vector<Meta> metas;   // of the inputs
  std::vector<bool> wanted;  // per input
  const Tensors* grads = nullptr;

  Called(Inputs in, Outputs out) : in(in), out(out), wanted(in.size()) {
    for (const Tensor& x : in) metas.push_back(x ? x.meta() : Meta());
  }
  Tensor input(int i) const override { return i < int(in.size()) ? in[i] : Tensor(); }
  Tensor output(int i) const override { return out[i]; }
  Meta input_meta(int i) const override { return metas[i]; }
  int num_inputs() const override { return int(in.size()); }
  bool needs(int i) const override { return i < int(wanted.size()) && wanted[i]; }
  Tensor cotangent(int i) const override { return i < int(grads->size()) ? (*grads)[i] : Tensor(); }
};

/// How one call pushes the tangents of one level: `in` and `out` lie outside of it.
class Push {
 public:
  Push(const OpType& type, const void* op, Inputs in, Outputs out, const Tensors& tangents)
      : type_(type), op_(op), in_(in), out_(out), tangents_(tangents) {}

  Tensors run() const {
    if (element_by_element()) return {by_transpose()};
    if (linear()) return called(type_, op_, directions());
    if (type_.saves.factors && factors_move()) return {by_product_rule()};
    check<NotImplemented>(type_.vjp, "Trying to use forward AD with ", std::string(type_.signature->name), " that does not support it: it has no derivative");
    return by_two_pullbacks();
  }

 private:
  bool real() const {
    for (Inputs tensors : {in_, Inputs(out_)})
      for (const Tensor& x : tensors)
        if (x && is_complex(x.dtype())) return false;
    return true;
  }
  bool keeps_places() const { return type_.notation.kind == Notation::pointwise || type_.notation.kind == Notation::elements; }
  bool element_by_element() const { return keeps_places() && out_.size() == 1 && type_.vjp && real(); }
  Tensor by_transpose() const {
    const Tensor& y = out_[0];
    Called call(in_, out_);
    for (Meta& m : call.metas) m = Meta(y.sizes(), is_inexact(m.dtype) ? y.dtype() : m.dtype, y.device());  // nothing is to be summed
    Tensor sum;
    for (size_t i = 0; i < in_.size(); i++) {
      if (!tangents_[i]) continue;
      call.wanted.assign(in_.size(), false);
      call.wanted[i] = true;
      Tensors grads = {grad_ops.expand(grad_ops.cast(tangents_[i], y.dtype()), y.sizes())};
      call.grads = &grads;
      const Tensors pushed = pulled_back(type_, op_, call, grads);
      if (i < pushed.size() && pushed[i]) sum = sum ? grad_ops.add(sum, pushed[i]) : pushed[i];
    }
    return sum;
  }

  bool saved(size_t i) const { return type_.saves.inputs >> (i < 7 ? i : 7) & 1; }
  /// A vjp that reads no number of the call is that of a constant Jacobian. What an op fills in by a number of its own is no part of it.
  bool linear() const {
    if (keeps_places() || type_.saves.outputs || type_.notation.kind == Notation::none || is_random(type_)) return false;
    for (size_t i = 0; i < in_.size(); i++)
      if (in_[i] && saved(i) && is_inexact(in_[i].dtype())) return false;
    const Signature& s = *type_.signature;
    for (int i = 0; i < s.n; i++)
      if (!is_input(s.params[i].ty) && s.params[i].name.find("value") != s.params[i].name.npos) return false;
    return true;
  }
  Tensors directions() const {
    Tensors all;
    for (size_t i = 0; i < in_.size(); i++) {
      if (tangents_[i]) all.push_back(tangents_[i]);
      else if (!in_[i] || saved(i)) all.push_back(in_[i]);
      else all.push_back(zeros_for(in_[i]));
    }
    return all;
  }

  // A factor at a time moves, and with the first one whatever is added to the product.
  bool factors_move() const {
    for (size_t i = 0; i < in_.size(); i++)
      if (tangents_[i] && saved(i)) return true;
    return false;
  }
  Tensor by_product_rule() const {
    Tensor sum;
    for (size_t i = 0; i < in_.size(); i++) {
      if (!tangents_[i] || !saved(i)) continue;
      Tensors in(in_.begin(), in_.end());
      in[i] = tangents_[i];
      for (size_t j = 0; j < in.size(); j++)
        if (in[j] && !saved(j)) in[j] = tangents_[j] && !sum ? tangents_[j] : zeros_for(in[j]);
      const Tensor moved = called(type_, op_, in)[0];
      sum = sum ? grad_ops.add(sum, moved) : moved;
    }
    return sum;
  }

  Tensors by_two_pullbacks() const {
    const bool recorded = mode.grad;
    GradMode on(true);
    auto known = [&](const Tensor& x) { return recorded || !x ? x : without_history(x); };
    Tensors in, out;
    for (const Tensor& x : in_) in.push_back(known(x));
    for (const Tensor& y : out_) out.push_back(known(y));
    // A linear function has one derivative everywhere, so any cotangent would do, were it not that a vjp along an axis may take its logarithm,
    // and one of matrices refuses cotangents that tell what is not unique about a decomposition.
    const bool takes_logarithms = type_.notation.kind == Notation::along;
    Called call(in, out);
    Tensors cotangents(out.size()), fed;
    for (size_t i = 0; i < in.size(); i++) call.wanted[i] = bool(tangents_[i]);
    for (size_t i = 0; i < out.size(); i++) {
      if (!out[i] || !is_inexact(out[i].dtype()) || !(type_.gradient.outputs >> i & 1)) continue;
      cotangents[i] = zeros_for(out[i]);
      if (takes_logarithms) cotangents[i] = grad_ops.add(cotangents[i], wrapped_number(Scalar(1.0)));
      set_requires_grad(cotangents[i], true);
      fed.push_back(cotangents[i]);
    }
    Tensors grads = cotangents;
    if (!grads[0]) grads[0] = zeros_for(out[0]);
    call.grads = &grads;
    const Tensors pulled = pulled_back(type_, op_, call, grads);
    Tensors roots, tangents;
    for (size_t i = 0; i < pulled.size() && i < in.size(); i++) {
      if (!pulled[i] || !tangents_[i]) continue;
      Tensor root = pulled[i].sizes() == in[i].sizes() ? pulled[i] : grad_ops.sum_to(pulled[i], in[i].sizes());
      root = grad_ops.cast(root, in[i].dtype());
      if (!requires_grad(root)) continue;
      roots.push_back(root);
      tangents.push_back(grad_ops.cast(tangents_[i], in[i].dtype()));
    }
    Tensors pushed(out.size());
    if (roots.empty()) return pushed;
    const Tensors found = backward(roots, tangents, fed, {.retain_graph = true, .create_graph = recorded, .accumulate = false});
    for (size_t i = 0, k = 0; i < out.size(); i++)
      if (cotangents[i]) pushed[i] = found[k++];
    return pushed;
  }

  const OpType& type_;
  const void* op_;
  Inputs in_;
  Outputs out_;
  const Tensors& tangents_;
};

/// Where `y`, which looks at x's memory, lies in that of x's tangent `t`, which is laid out as x is.
Geometry place_in(const Tensor& t, const Tensor& x, const Tensor& y) {
  Geometry g = within(x, y);
  g.offset += t->offset * int64_t(size_of(t.dtype())) / int64_t(size_of(y.dtype()));
  return g;
}

bool has_place(const Tensor& t, const Geometry& g, DType dtype) {
  return g.offset >= 0 && (extent(g.sizes, g.strides).high + g.offset + 1) * int64_t(size_of(dtype)) <= int64_t(t->storage->bytes);
}

/// Tangent `t` in as much memory as x looks at, zeros around it: a view may be told a place there that x does not cover. Source: PyTorch's
/// _new_zeros_with_same_feature_meta.
Tensor amid_memory_of(const Tensor& x, const Tensor& t) {
  const Tensor memory = zeros_to_hold(t, Meta(Dims{int64_t(x->storage->bytes / size_of(x.dtype()))}, t.dtype(), t.device()));
  const Tensor r = grad_ops.shown_as(memory, {x.sizes(), x.strides(), x->offset});
  copy_into(r, t);
  return r;
}

void push_view(const OpType& type, const void* op, const Tensor& x, const Tensor& y, const LevelRef& level) {
  Tensor t = with_layout_of(x, tangent(x, level));
  const Signature& s = *type.signature;
  const bool absolute = std::any_of(s.params.begin(), s.params.begin() + s.n, [](const Param& p) { return p.name == "storage_offset"; });
  if (absolute && y.numel() && !has_place(t, place_in(t, x, y), y.dtype())) t = amid_memory_of(x, t);
  set_tangent(x, level, t);
  set_tangent(y, level, absolute ? grad_ops.shown_as(t, place_in(t, x, y)) : called(type, op, std::array{t})[0]);
}

/// What lay in `self` is replaced by numbers of tangent `t`, undefined for none.
void write_tangent(const Tensor& self, const LevelRef& level, const Tensor& t) {
  Tensor mine = tangent(self, level);
  if (!mine && !t) return;
  if (!mine && self.is_view()) {  // the memory is its base's
    const Tensor base(self->base);
    set_tangent(base, level, zeros_to_hold(t, Meta(base.sizes(), base.strides(), base.dtype(), base.device())));
    mine = tangent(self, level);
  }
  if (!mine) {
    const OpType& copy = op_type<Copy>();
    return set_tangent(self, level, called(copy, copy.defaults.data(), std::array{outside(self, level), t})[0]);
  }
  copy_into(mine, t ? t : zeros_for(self));
}

// Tangents of levels that have ended hold memory for nothing, and send every call here.
void forget_ended(Inputs tensors) {
  for (const Tensor& x : tensors) {
    auto* all = x ? own_tangents(x) : nullptr;
    if (!all) continue;
    std::erase_if(*all, [](const Tangent& t) { return !t.level->alive; });
    if (all->empty()) x->flags &= ~kDual;
  }
}

// While it lives and is active, calls push no tangents: a result that is cast into place is copied there.
struct Unpushed {
  explicit Unpushed(bool active) : active(active) { forward_enabled = before && !active; }
  ~Unpushed() { forward_enabled = before; }
  const bool active, before = forward_enabled;
};

// A call is made aside and its result copied, so that only copies need to know whose memory a tangent is.
void in_place(const OpType& type, const void* op, Inputs in, Tensor* out, const std::vector<LevelRef>& levels) {
  const bool copies = &type == &op_type<Copy>();
  if (copies || !type.gradient.exists) {
    Unpushed kept(!copies && type.inplace.keeps_history);
    call_below(Layer::forward, type, op, in, out);
    if (kept.active) return;  // the tangent stays, as the history does
    for (const LevelRef& level : levels) write_tangent(out[0], level, copies && in[1] ? tangent(in[1], level) : Tensor());
    return;
  }
  Tensors aside(in.begin(), in.end());
  if (mode.grad && type.saves.inputs & 1) aside[0] = grad_ops.clone(in[0]);  // what backward needs is written over below
  Tensors fresh = called(type, op, aside);
  check(fresh[0].sizes() == out[0].sizes(), type.signature->name, "_: output with shape ", out[0].sizes(), " doesn't match the broadcast shape ",
        fresh[0].sizes());
  copy_into(out[0], fresh[0]);
  for (size_t i = 1; i < fresh.size(); i++)
    if (out[i]) copy_into(out[i], fresh[i]);
    else out[i] = fresh[i];
}

// Gives the results of a call the tangents of one level.
void push(const OpType& type, const void* op, Inputs in, Outputs out, const LevelRef& level) {
  Tensors seen, tangents, results(out.begin(), out.end());
  for (const Tensor& x : in) {
    seen.push_back(x ? outside(x, level) : x);
    tangents.push_back(x ? tangent(x, level) : x);
  }
  const Tensors pushed = Push(type, op, seen, results, tangents).run();
  for (size_t i = 0; i < out.size(); i++) {
    if (!out[i] || !is_inexact(out[i].dtype()) || !(type.gradient.outputs >> i & 1)) continue;
    Tensor t = i < pushed.size() && pushed[i] ? grad_ops.cast(pushed[i], out[i].dtype()) : zeros_for(out[i]);
    if (!(t.sizes() == out[i].sizes())) t = grad_ops.expand(t, out[i].sizes());
    // What is written into the result must not reach an input's tangent.
    const bool shared = std::any_of(tangents.begin(), tangents.end(), [&](const Tensor& x) { return x && x->storage == t->storage; });
    set_tangent(out[i], level, shared ? grad_ops.clone(t) : t);
  }
}

void forward(const OpType& type, const void* op, Inputs in, Tensor* out) {
  const Outputs results(out, type.signature->num_outputs);
  const bool inplace = out[0] && !in.empty() && out[0] == in[0];
  const std::vector<LevelRef> levels = forward_enabled ? forward_levels(in) : std::vector<LevelRef>();
  if (levels.empty()) forget_ended(in);
  const bool refused = out[0] && !inplace && ((!levels.empty() && type.gradient.exists) || (forward_enabled && !forward_levels(results).empty()));
  check(!refused, type.signature->name, "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments has a tangent.");
  WithoutAutocast scope;  // which has had its say of the call, and has none in what its tangents are computed by
  if (inplace && !levels.empty()) return in_place(type, op, in, out, levels);
  call_below(Layer::forward, type, op, in, out);
  if (!type.gradient.exists) return;
  for (const LevelRef& level : levels)
    if (type.geometry) push_view(type, op, in[0], out[0], level);
    else push(type, op, in, results, level);
  if (const NodeRef node = type.geometry || levels.empty() ? NodeRef() : grad_fn(out[0]))
    for (size_t i = 0; i < results.size(); i++)
      if (out[i]) node->keep_tangents(int(i), out[i]);
}

struct Install {
  Install() { set_interpreter(Layer::forward, forward); }
} install;

}  // namespace

Tensor with_layout_of(const Tensor& x, const Tensor& t) {
  const bool same_marks = !(t->flags & ~x->flags & kMarks);
  const bool any_layout = repeats(x);
  if (same_marks && (any_layout || same_layout(x.sizes(), x.strides(), t.strides()))) return t;
  Tensor r = zeros_to_hold(t, Meta(x.sizes(), any_layout ? contiguous_strides(x.sizes()) : x.strides(), t.dtype(), t.device()));
  copy_into(r, t);
  return r;
}

LevelRef begin_forward_level() {
  auto level = std::make_shared<ForwardLevel>();
  level->id = next_level++;
  return level;
}

void end_forward_level(const LevelRef& level) { level->alive = false; }

Tensor tangent(const Tensor& x, const LevelRef& level) {
  if (!level->alive) return {};
  if (const Tensor* own = own_tangent(x, level)) return *own;
  if (!x->base) return {};
  const Tensor base(x->base);
  const Tensor* whole = own_tangent(base, level);
  if (!whole) return {};
  const Tensor laid = with_layout_of(base, *whole);
  set_tangent(base, level, laid);
  const Tensor t = grad_ops.shown_as(laid, place_in(laid, base, x));
  set_tangent(x, level, t);
  return t;
}

void set_tangent(const Tensor& x, const LevelRef& level, const Tensor& t) {
  auto& all = variable(x).tangents;
  std::erase_if(all, [&](const Tangent& old) { return old.level == level || !old.level->alive; });
  auto place = std::find_if(all.begin(), all.end(), [&](const Tangent& other) { return other.level->id > level->id; });
  all.insert(place, {level, t});
  x->flags |= kDual;
}

void put_at(const Tensor& t, const Edge& edge) {
  Variable& v = variable(t);
  v.grad_fn = edge.node;
  v.output_nr = edge.index;
  t->flags |= kRequiresGrad;
}

Tensor without_history(const Tensor& t) {
  Tensor r = detach(t);
  share_tangents(t, r);
  return r;
}

Tensor outside(const Tensor& x, const LevelRef& level) {
  const std::vector<LevelRef> levels = forward_levels(Inputs(&x, 1));
  if (levels.empty() || levels.back()->id < level->id) return x;
  Tensor r = detach(x);
  r->flags |= x->flags & kWrappedNumber;
  if (requires_grad(x))
    if (const Edge edge = gradient_edge(x); edge.node) put_at(r, edge);
  for (const LevelRef& outer : levels)
    if (outer->id < level->id) set_tangent(r, outer, tangent(x, outer));
  return r;
}

std::vector<LevelRef> forward_levels(Inputs tensors) {
  std::vector<LevelRef> levels;
  auto add = [&](const Tensor& x) {
    if (auto* all = own_tangents(x))
      for (const Tangent& t : *all)
        if (t.level->alive && std::find(levels.begin(), levels.end(), t.level) == levels.end()) levels.push_back(t.level);
  };
  for (const Tensor& x : tensors) {
    if (!x) continue;
    add(x);
    if (x->base) add(Tensor(x->base));
  }
  std::sort(levels.begin(), levels.end(), [](const LevelRef& a, const LevelRef& b) { return a->id < b->id; });
  return levels;
}

void share_tangents(const Tensor& from, const Tensor& to) {
  if (!((from->flags | (from->base ? from->base->flags : 0)) & kDual)) return;
  for (const LevelRef& level : forward_levels(Inputs(&from, 1)))
    if (const Tensor t = tangent(from, level)) set_tangent(to, level, t);
}

}  // namespace weir
