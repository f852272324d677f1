#include "framework/autograd/variable.h"

#include <algorithm>

#include "framework/autograd/nodes.h"
#include "framework/op/copy.h"

namespace weir {

GradOps grad_ops{};
thread_local std::shared_ptr<SavedHooks> saved_hooks;
std::string (*user_location)() = nullptr;

namespace {
std::atomic<uint64_t> next_hook_id{1};
}

Variable* variable_or_null(const Tensor& t) { return static_cast<Variable*>(t->autograd.get()); }

Variable& variable(const Tensor& t) {
  if (!t->autograd) t->autograd = std::make_unique<Variable>();
  return *static_cast<Variable*>(t->autograd.get());
}

// A view of a base that came to require grad later is part of its history too; one that was not recorded says so, as in PyTorch.
static bool base_requires_grad(const Tensor& t) { return t.is_view() && t->base->flags & kRequiresGrad; }

bool requires_grad(const Tensor& t) { return t.has_flag(kRequiresGrad) || base_requires_grad(t); }

bool is_leaf(const Tensor& t) { return !grad_fn(t); }

NodeRef grad_fn(const Tensor& t) {
  if (base_requires_grad(t) && t->seen_version != t.version()) {  // the base was changed since
    check(!t.has_flag(kUnrecorded), "A view was created in no_grad or inference mode and its base or another view of its base has been modified "
          "in place with grad mode enabled. Make both the view and the change inside the block, which is not recorded then, or both outside.");
    set_history(t, NodeRef(new AsStridedNode(Tensor(t->base), t)), 0);
  }
  Variable* v = variable_or_null(t);
  return v ? v->grad_fn : NodeRef();
}

void set_requires_grad(const Tensor& t, bool on) {
  if (on) {
    check(is_inexact(t.dtype()), "only Tensors of floating point and complex dtype can require gradients");
    check(!t.has_flag(kInference) || mode.inference, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
    t->flags |= kRequiresGrad;
    return;
  }
  check(is_leaf(t), "you can only change requires_grad flags of leaf variables.");
  t->flags &= ~kRequiresGrad;
}

Edge gradient_edge(const Tensor& t) {
  if (NodeRef fn = grad_fn(t)) return {fn, variable(t).output_nr};
  if (!t.has_flag(kRequiresGrad)) return {};
  return {AccumulateGrad::of(t), 0};
}

void set_history(const Tensor& t, const NodeRef& node, uint32_t nr) {
  Variable& v = variable(t);
  v.grad_fn = node;
  v.output_nr = nr;
  t->seen_version = t.version();
  t->flags |= kRequiresGrad;
  if (node->metas.size() <= nr) node->metas.resize(nr + 1);
  node->metas[nr] = t.meta();
  if (v.retained) {  // the gradient kept is that of the newest value
    v.retained.reset();
    retain_grad(t);
  }
}

void rebase_history(const Tensor& t, const NodeRef& node) {
  if (!t.is_view()) return set_history(t, node, 0);
  Tensor base(t->base);
  node->metas.clear();
  node->metas.emplace_back(t.meta());
  NodeRef slices(new CopySlices(base, t, node));
  set_history(base, slices, 0);
  if (Variable* v = variable_or_null(t)) v->grad_fn.reset();
  t->seen_version = ~t.version();  // whoever asked since the write got the history before it
  grad_fn(t);
}

Tensor detach(const Tensor& t) { return alias(t, t.sizes(), t.strides(), t->offset); }

uint64_t add_hook(const Tensor& t, Hook fn) {
  check(requires_grad(t), "cannot register a hook on a tensor that doesn't require gradient");
  uint64_t id = next_hook_id++;
  NodeRef node = grad_fn(t);
  Variable& v = variable(t);
  if (node) node->hooks.push_back({v.output_nr, id, std::move(fn)});
  else v.leaf_hooks.push_back({0, id, std::move(fn)});
  return id;
}

void remove_hook(const Tensor& t, uint64_t id) {
  auto drop = [id](std::vector<Node::TensorHook>& hooks) { std::erase_if(hooks, [id](auto& h) { return h.id == id; }); };
  drop(variable(t).leaf_hooks);
  std::erase_if(variable(t).post_accumulate, [id](auto& h) { return h.id == id; });
  if (NodeRef node = grad_fn(t)) drop(node->hooks);
}

uint64_t add_after_accumulate(const Tensor& t, std::function<void()> fn) {
  check(t.has_flag(kRequiresGrad) && is_leaf(t), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  uint64_t id = next_hook_id++;
  variable(t).post_accumulate.push_back({id, std::move(fn)});
  return id;
}

void retain_grad(const Tensor& t) {
  check(requires_grad(t), "can't retain_grad on Tensor that has requires_grad=False");
  NodeRef node = grad_fn(t);
  Variable& v = variable(t);
  if (!node || v.retained) return;
  v.retained = std::make_shared<Tensor>();
  node->hooks.push_back({v.output_nr, 0, [slot = v.retained](const Tensor& g) {
    if (!g) return Tensor();
    *slot = *slot ? grad_ops.add(*slot, g) : grad_ops.row_major(g);  // hooks further back may write into g
    return Tensor();
  }});
}

Tensor grad_of(const Tensor& t) {
  Variable* v = variable_or_null(t);
  if (!v) return {};
  return v->retained ? *v->retained : v->grad;
}

}  // namespace weir
