#include "framework/autograd/nodes.h"

#include <array>
#include <mutex>

#include "framework/core/layout.h"
#include "framework/op/copy.h"

namespace weir {
namespace {

std::atomic<uint64_t> next_sequence{1};

// Held while a leaf's accumulator is looked up, made or ended: never while anything else is waited for.
std::mutex accumulators;

// Of a leaf whose gradient is added to: one of a few, so that passes to different leaves seldom wait for each other. Adding may ask for
// Python's lock, which no thread holds that waits here: backward passes let it go.
std::mutex& lock_of(const Tensor& leaf) {
  static std::array<std::mutex, 64> locks;
  return locks[std::hash<const void*>()(leaf.get()) / alignof(std::max_align_t) % locks.size()];
}

// A gradient laid out as the base is, holes and all, so that the view's geometry picks the same elements in it.
Meta grad_layout(const Meta& base) {
  check(is_apart(base.sizes, base.strides), "in-place on a view: elements of the base's memory overlap");
  return base;
}

Tensor laid_out(const Tensor& g, const Meta& layout) {
  Tensor t = unfilled(layout);
  copy_into(t, g);
  return t;
}

}  // namespace

Geometry within(const Tensor& base, const Tensor& view) {
  int64_t from = base->offset * int64_t(size_of(base.dtype())) / int64_t(size_of(view.dtype()));
  return {view.sizes(), view.strides(), view->offset - from, view.dtype(), (view->flags ^ base->flags) & kMarks};
}

thread_local void (*before_accumulation)() = nullptr;
thread_local bool keeps_grad_layout = true;

Node::Node() : sequence(next_sequence++) {}

// Long chains would overflow the stack if each node destroyed the next from its destructor.
void Node::destroy(Node* n) {
  thread_local std::vector<Node*> doomed;
  thread_local bool running = false;
  if (n->is_accumulator() && !static_cast<AccumulateGrad*>(n)->ends()) return;
  doomed.push_back(n);
  if (running) return;
  running = true;
  while (!doomed.empty()) {
    Node* next = doomed.back();
    doomed.pop_back();
    delete next;
  }
  running = false;
}

AccumulateGrad::AccumulateGrad(const Tensor& t) : leaf(t) { metas.emplace_back(t.meta()); }

NodeRef AccumulateGrad::of(const Tensor& leaf) {
  std::lock_guard lock(accumulators);
  Variable& v = variable(leaf);
  if (Node* node = v.accumulator) {
    int32_t refs = node->refs.load();
    while (refs > 0 && !node->refs.compare_exchange_weak(refs, refs + 1)) {}
    if (refs > 0) {
      if (!(node->metas[0].sizes() == leaf.sizes())) node->metas[0] = leaf.meta();  // `set_` has given it another shape
      return NodeRef(node);
    }
  }
  NodeRef made(new AccumulateGrad(leaf));
  v.accumulator = made.get();
  return made;
}

// A reference seen to be the only one is not counted down (core/storage.h), but `of` may have made it two since.
bool AccumulateGrad::ends() {
  std::lock_guard lock(accumulators);
  if (refs.load() > 1 && refs.fetch_sub(1) > 1) return false;
  if (Variable* v = variable_or_null(leaf); v && v->accumulator == this) v->accumulator = nullptr;
  return true;
}

Tensors AccumulateGrad::apply(Tensors&& grads) {
  Tensor g = std::move(grads[0]);
  if (!g || !leaf.has_flag(kRequiresGrad)) return {};  // frozen since the call
  if (before_accumulation) before_accumulation();
  check(leaf.is_batched() || !g.is_batched(), "vmap: a gradient that differs between examples cannot be added to the .grad of a tensor that they share. "
        "Ask for it by torch.func.grad or torch.autograd.grad");
  std::unique_lock lock(lock_of(leaf));
  Variable& v = variable(leaf);
  if (v.grad) {
    if (mode.grad) v.grad = grad_ops.add(v.grad, g);
    else grad_ops.add_into(v.grad, g);
  } else {
    // Steal a gradient nobody else holds; otherwise a later in-place change would reach somebody else's tensor.
    bool sole = !(g->flags & kMarks) && g.unshared() && !g.has_flag(kWrappedNumber);
    // Optimizers walk a parameter and its gradient side by side: keep them in one layout.
    bool dense = is_non_overlapping_and_dense(leaf.sizes(), leaf.strides());
    bool fits = !keeps_grad_layout || (dense ? same_layout(leaf.sizes(), g.strides(), leaf.strides()) : g.is_contiguous());
    // A marked one is written out as it lies, as if it had been computed so.
    const bool marked = fits && g->flags & kMarks && is_non_overlapping_and_dense(g.sizes(), g.strides());
    v.grad = mode.grad ? g : sole && fits ? detach(g) : laid_out(g, marked ? g.meta() : dense ? leaf.meta() : Meta(leaf.sizes(), leaf.dtype()));
  }
  lock.unlock();
  for (auto& hook : std::vector(v.post_accumulate)) hook.fn();
  return {};
}

CopySlices::CopySlices(const Tensor& base, const Tensor& v, NodeRef f)
    : base_meta(grad_layout(base.meta())), view(within(base, v)), fn(std::move(f)) {
  next = fn->next;
  if (next.empty()) next.resize(1);
  next[0] = gradient_edge(base);
}

Tensors CopySlices::apply(Tensors&& grads) {
  Tensors out(next.size());
  if (!grads[0]) return out;
  Tensor whole = grad_ops.zeros(base_meta);
  copy_into(whole, grads[0]);
  Tensor slice = grad_ops.shown_as(whole, view);
  Tensors inner = fn->apply({grad_ops.clone(slice)});
  for (size_t i = 1; i < inner.size(); i++) out[i] = inner[i];
  Tensor first = inner.empty() || !inner[0] ? grad_ops.zeros(Meta(view.sizes, *view.dtype)) : inner[0];
  copy_into(slice, first);
  out[0] = whole;
  return out;
}

AsStridedNode::AsStridedNode(const Tensor& base, const Tensor& v)
    : base_meta(grad_layout(base.meta())), view(within(base, v)) {
  next = {gradient_edge(base)};
}

Tensors AsStridedNode::apply(Tensors&& grads) {
  if (!grads[0]) return {Tensor()};
  Tensor whole = grad_ops.zeros(base_meta);
  copy_into(grad_ops.shown_as(whole, view), grads[0]);
  return {whole};
}

}  // namespace weir
