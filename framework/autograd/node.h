// Node: one recorded call, the unit of the backward graph.
//
//   y = op(a, b)      y.grad_fn = Node,  node.next = {edge of a, edge of b}
//
// `apply` gets one gradient per forward output and returns one per forward input. A gradient may be undefined,
// which stands for zero. Nodes are reference counted and form a DAG that points from results to leaves.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "framework/op/call.h"

namespace weir {

struct Node;
struct Edge {
  Ref<Node> node;  // null: no gradient is wanted
  uint32_t index = 0;
};

using Hook = std::function<Tensor(const Tensor&)>;  // gets undefined where no gradient came; may return it to leave the gradient as it is

struct Node {
  std::atomic<int32_t> refs{1};
  uint64_t sequence;            // later calls have larger numbers and run first in backward
  std::vector<Edge> next;       // per forward input
  std::vector<KeptMeta> metas;  // per forward output: what a gradient must look like
  struct TensorHook { uint32_t index; uint64_t id; Hook fn; };
  std::vector<TensorHook> hooks;  // run on a gradient before this node sees it
  using NodeHook = std::function<Tensors(const Tensors& first, const Tensors& second)>;  // may return nothing, or replacements
  struct Listener { uint64_t id; NodeHook fn; };
  std::vector<Listener> before, after;  // before: (gradients of outputs, {}); after: (gradients of inputs, of outputs)
  std::shared_ptr<void> metadata;  // what Python hangs on the node
  std::string made_at;            // where in the user's program, under anomaly mode
  Tensor sum;  // of the only input's gradient so far, while `apply` runs, which may add to it and return it
  // The engine's scratch: which task last used this node, and its slot there.
  uint64_t task = 0;
  uint32_t slot = 0;

  Node();
  virtual ~Node() = default;
  virtual Tensors apply(Tensors&& grads) = 0;
  virtual std::string name() const = 0;
  /// Drops saved tensors; apply raises afterwards.
  virtual void release() {}
  /// Gives what is kept of output `i` the tangents of `t`, which is that output.
  virtual void keep_tangents(int, const Tensor&) {}
  /// Leaves of the graph run when all their gradients are there, whatever their number.
  virtual bool is_accumulator() const { return false; }
  /// Whether `apply` keeps the graph intact for a second pass in create_graph mode.
  static void destroy(Node* n);
};
using NodeRef = Ref<Node>;

}  // namespace weir
