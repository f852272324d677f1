// The backward pass.
#pragma once
#include "framework/autograd/variable.h"

namespace weir {

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool accumulate = true;       // add into `.grad` of leaves, of `inputs` alone where there are any; false: return gradients of `inputs`
  bool allow_unused = true;
};

/// Runs backward from `roots` with `grads` (undefined: ones, for one-element roots). With `inputs`, only the nodes
/// on a path to them run; without `accumulate` their gradients are returned in order (undefined where none reached).
/// Raises RuntimeError for a root without history, a non-scalar root without gradient, or a wrong shape.
Tensors backward(const Tensors& roots, const Tensors& grads, const Tensors& inputs, const BackwardOptions& options);

/// As above, from and to places in the graph.
Tensors backward(const std::vector<Edge>& roots, const Tensors& grads, const std::vector<Edge>& inputs, const BackwardOptions& options);
/// `fn` runs when the pass that is under way on this thread has ended. RuntimeError outside of one.
void at_end_of_backward(std::function<void()> fn);
/// The number of the innermost pass that is under way on this thread, -1 outside of one.
int64_t current_pass();
/// Whether that pass runs, or has run, the node of this sequence number. RuntimeError outside of one.
bool pass_runs(uint64_t sequence);
/// Whether the innermost pass, which runs this node now, asks it for the gradient of its input `i`; true of nodes that it does not run.
bool asks_for(const Node& node, size_t i);
/// Where gradients of tensors enter and end. RuntimeError for one that does not require grad.
std::vector<Edge> root_edges(const Tensors& roots);
std::vector<Edge> input_edges(const Tensors& inputs);

}  // namespace weir
