#include "framework/autograd/batch.h"

#include "framework/autograd/forward.h"
#include "framework/op/batch.h"

namespace weir {
namespace {

struct EnterNode final : Node {
  int64_t dim, size;
  uint64_t level;
  Tensors apply(Tensors&& g) override { return {g[0] ? leave_batch(g[0], dim, level, size) : Tensor()}; }
  std::string name() const override { return "VmapInBackward0"; }
};

struct LeaveNode final : Node {
  int64_t dim;
  uint64_t level;
  Tensors apply(Tensors&& g) override { return {g[0] ? enter_batch(g[0], dim, level) : Tensor()}; }
  std::string name() const override { return "VmapOutBackward0"; }
};

struct LiftNode final : Node {
  Axes axes;
  Dims sizes;
  Tensors apply(Tensors&& g) override {
    Tensor r = g[0];
    for (const BatchAxis& a : axes)
      if (r && !level_in_force(a.level)) r = grad_ops.sum_to(leave_batch(r, 0, a.level, a.size), sizes);
    return {r};
  }
  std::string name() const override { return "VmapSharedBackward0"; }
};

// The result with its history, and of each tangent of `x` what `move` makes of it.
template <class N, class F> Tensor recorded(const Tensor& x, Tensor result, NodeRef ref, N& node, F move) {
  for (const LevelRef& level : forward_levels(Inputs(&x, 1))) set_tangent(result, level, move(tangent(x, level)));
  if (!mode.grad || !requires_grad(x)) return result;
  node.next = {gradient_edge(x)};
  set_history(result, ref, 0);
  return result;
}

}  // namespace

Tensor enter_batch(const Tensor& x, int64_t dim, uint64_t level) {
  auto* node = new EnterNode;
  NodeRef ref(node);
  node->dim = wrap_dim(dim, x.ndim(), "vmap");
  node->size = x.size(dim);
  node->level = level;
  return recorded(x, into_batch(x, dim, level), ref, *node, [&](const Tensor& t) { return enter_batch(t, dim, level); });
}

Tensor leave_batch(const Tensor& x, int64_t dim, uint64_t level, int64_t size) {
  auto* node = new LeaveNode;
  NodeRef ref(node);
  node->dim = wrap_dim(dim, x.ndim() + 1, "vmap");
  node->level = level;
  return recorded(x, out_of_batch(x, dim, level, size), ref, *node, [&](const Tensor& t) { return leave_batch(t, dim, level, size); });
}

void lift_edges(Node& node, Inputs in, Inputs batched) {
  if (!batches.load(std::memory_order_relaxed)) return;
  const Axes axes = batch_axes(batched);
  if (axes.empty()) return;
  for (size_t i = 0; i < in.size(); i++) {
    Edge& edge = node.next[i];
    if (!edge.node) continue;
    Axes missing;
    for (const BatchAxis& a : axes)
      if (!in_batch(in[i], a.level)) missing.push_back(a);
    if (missing.empty()) continue;
    auto* lift = new LiftNode;
    NodeRef ref(lift);
    lift->axes = std::move(missing);
    lift->sizes = in[i].sizes();
    std::swap(lift->sequence, node.sequence);  // the engine counts on what lies behind a node having a smaller number
    lift->next = {edge};
    lift->metas.emplace_back(in[i].meta());
    edge = {ref, 0};
  }
}

}  // namespace weir
