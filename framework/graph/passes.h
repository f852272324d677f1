// Passes: from a legal graph to a legal graph that computes the same results, the same last values of arguments and externals,
// and draws the same random numbers. Each is one idea in one file.
#pragma once
#include "framework/graph/graph.h"

namespace weir::graph {

/// Drops nodes that nothing depends on. Draws of random numbers stay: later ones depend on them.
Graph without_dead_code(const Graph& g);
/// Nodes that compute what an earlier node computed give way to it.
Graph without_repetition(const Graph& g);
/// Small results of constants are computed now.
Graph with_constants_folded(const Graph& g);
/// Copies of memory that nobody changes give way to it.
Graph without_copies(const Graph& g);
/// What is written over a whole buffer gets a buffer of its own, so that nothing is in place; the plan puts it back where that is free.
Graph with_buffers_apart(const Graph& g);
/// Batch norm takes the addition and the ReLU that follow it into its own pass over memory.
Graph with_batch_norm_relu(const Graph& g);
/// Element-wise ops of one shape run tile by tile as one node: see fused.h.
Graph with_pointwise_fused(const Graph& g);
/// Which fusions may be made: of what is added to an output and of the ReLU behind it (with_batch_norm_relu), and of casts and scalings
/// with their element-wise neighbours (with_pointwise_fused).
struct Fusions {
  bool add_to_output = true, cast_scale = true;
};
/// All passes, with these fusions.
Graph optimized(const Graph& g, const Fusions& allowed = {});

/// Does the op draw random numbers?
bool is_random(const OpType& type);
/// A graph of those nodes of `g` for which `keep` holds; a value is read as `stands_for` says of it.
Graph rebuilt(const Graph& g, const std::vector<char>& keep, const std::vector<int>& stands_for);
/// How many values each buffer has.
std::vector<int> versions(const Graph& g);
/// Buffers that results show.
std::vector<char> shown_buffers(const Graph& g);

}  // namespace weir::graph
