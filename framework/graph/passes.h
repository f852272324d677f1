// Passes: from a legal graph to a legal graph that computes the same results, the same last values of arguments and externals,
// and draws the same random numbers. Each is one idea in one file.
#pragma once
#include <cstring>
#include <limits>
#include <optional>

#include "framework/graph/graph.h"
#include "framework/op/fused.h"

namespace weir::graph {

/// Drops nodes that nothing depends on. Draws of random numbers stay, since later ones depend on them, and checks of values.
Graph without_dead_code(const Graph& g);
/// Nodes that compute what an earlier node computed give way to it.
Graph without_repetition(const Graph& g);
/// Results of constants are computed now: small ones, and, if `large`, those that need no more memory than what they are made of.
Graph with_constants_folded(const Graph& g, bool large = false);
/// Copies of memory that nobody changes give way to it.
Graph without_copies(const Graph& g);
/// What is written over a whole buffer gets a buffer of its own, so that nothing is in place; the plan puts it back where that is free.
Graph with_buffers_apart(const Graph& g);
/// Element-wise results that nobody sees lie as most of what they meet does.
Graph with_layouts_agreed(const Graph& g);
/// Batch norm takes the addition and the ReLU that follow it into its own pass over memory.
Graph with_batch_norm_relu(const Graph& g);
/// The gradient of such a batch norm takes that of its ReLU into its own passes over memory, where nothing was added between them.
Graph with_batch_norm_relu_backward(const Graph& g);
/// A max pool over pictures behind batch norm and ReLU joins them, and its gradient theirs.
Graph with_batch_norm_pool(const Graph& g);
/// A convolution of single places sums what it makes for the batch norm behind it, and the gradient of its input for the batch norm in front of it, where
/// the kernels of this machine gain by it.
Graph with_convolutions_summed(const Graph& g);
/// Such a convolution makes what it reads itself, where that is a normalisation.
Graph with_normalisation_convolved(const Graph& g);
/// Sums of gradients read a bit for each number that ReLU let through, in the place of its result.
Graph with_relu_bits(const Graph& g);
Graph with_gradients_summed(const Graph& g);
/// And between the two, the gradient of batch norm's input is made where the convolution in front of it reads it.
Graph with_gradients_between(const Graph& g);
/// The gradients of a convolution's input and weight are made by one node where that can read their common memory once.
Graph with_gradients_together(const Graph& g);
/// Element-wise ops of one shape run tile by tile as one node: see fused.h.
Graph with_pointwise_fused(const Graph& g);
/// What reduces rows, or works along them, runs with its neighbours on a few rows at a time: see row_blocks.h.
/// Of tensors of `least` bytes, below which one stays in a cache by itself; a block has `block` bytes of the largest.
struct BlockSizes { size_t least = 256 << 10, block = 128 << 10; };
Graph with_row_blocks(const Graph& g, const BlockSizes& sizes = {});
/// Updates read gradients of half types as they are, where a widened copy would be made for them alone.
Graph with_narrow_gradients(const Graph& g);
/// Large parameters are updated as soon as their gradient is there and nobody reads them any more, so that gradients do not wait for
/// each other.
Graph with_updates_early(const Graph& g);
/// While temporaries and results hold more than `budget` bytes at once, what is cheap to compute is computed again where it is next
/// needed, from what is there anyway, and not kept until then. Stops where nothing is left that would help, or that would read and write no more
/// than `share` of the bytes that the program does anyway.
Graph with_recomputation(const Graph& g, size_t budget, double share = std::numeric_limits<double>::max());
/// The most bytes that temporaries and results hold at once, none lying over another, and at which node.
size_t most_live(const Graph& g, int* node = nullptr);
/// Externals that the program neither writes nor returns become constants. A write afterwards shows in their versions: Graph::frozen.
Graph with_weights_frozen(const Graph& g);
/// Pictures between convolutions of constant weights lie channels last; what looks at their memory otherwise reads a copy.
Graph with_channels_last(const Graph& g);
/// Constant weights are read in the layout that their kernels work in, made now. If `tails`, the batch norm of constants, the addition and the
/// ReLU behind a convolution join its pass over memory, which rounds where they end only.
Graph with_weights_packed(const Graph& g, bool tails = true);
/// Which fusions may be made: of what is added to an output and of the ReLU behind it (all of batch norm's, tails of with_weights_packed), and of casts and scalings
/// with their neighbours (with_pointwise_fused, with_row_blocks). What may be done with weights. And how much memory to keep to.
struct Options {
  bool add_to_output = true, cast_scale = true;
  bool freeze_weights = false;  // what depends on weights alone is computed now: casts, layouts
  size_t memory_budget = std::numeric_limits<size_t>::max();
  bool saves_memory = false;  // where it costs next to no time, whatever the budget
  BlockSizes row_blocks{};
};
/// All passes, with these options.
Graph optimized(const Graph& g, const Options& options = {});

/// A graph of those nodes of `g` for which `keep` holds; a value is read as `stands_for` says of it.
Graph rebuilt(const Graph& g, const std::vector<char>& keep, const std::vector<int>& stands_for);
/// The same, each value as itself.
Graph rebuilt(const Graph& g, const std::vector<char>& keep);
/// How many values each buffer has.
std::vector<int> versions(const Graph& g);
/// By value the nodes that read it, and -1 for each result that shows it.
std::vector<std::vector<int>> readers_of(const Graph& g);
/// Same memory, same geometry, same dtype?
bool same_place(const Use& a, const Use& b);
/// Is a node's result all that a temporary buffer ever holds?
bool makes_temporary(const Graph& g, const Use& result, const std::vector<int>& versions);
/// Is what `u` shows there before the program starts, and never changed?
bool is_constant(const Graph& g, const Use& u);
/// A constant's numbers. Its storage may be symbolic, where the traced program wrote into it later; this one's is not.
Tensor constant_of(const Graph& g, const Use& u);
/// A node's inputs without values.
Tensors symbolic_inputs(const Node& n);
bool is(const Node& n, std::string_view name);
/// Fills in the step of a fused node that does what `n` does, but for its operands; false where there is none. Copies and casts have one.
bool find_step(const Node& n, FusedStep* step);
/// From which input on the step reads: a copy or a cast its last one only.
size_t first_read(const Node& n);
/// The axes that a node is told to reduce, or to work along; nothing where its notation does not say.
std::optional<Dims> lines_of(const Node& n);
/// An attribute of a node's op, by name.
template <class T> T attribute(const Node& n, std::string_view name) {
  T value{};
  for (int i = 0; i < n.type->signature->n; i++)
    if (n.type->signature->params[i].name == name) std::memcpy(static_cast<void*>(&value), n.op.data() + n.type->fields[i].offset, sizeof value);
  return value;
}
template <class T> void set_attribute(Node& n, std::string_view name, const T& value) {
  for (int i = 0; i < n.type->signature->n; i++)
    if (n.type->signature->params[i].name == name) std::memcpy(n.op.data() + n.type->fields[i].offset, static_cast<const void*>(&value), sizeof value);
}
/// Gives a node the attributes of another that it has too, by name and type.
void take_attributes(Node& to, const Node& from);
/// The node `n` as one of the op of this name: with the attributes that both have, those that only the new one has at their defaults.
Node as_op(std::string_view name, const Node& n);
/// Is the node the sum of two tensors, neither scaled?
bool is_plain_sum(const Node& n);
/// Buffers that results show.
std::vector<char> shown_buffers(const Graph& g);

}  // namespace weir::graph
