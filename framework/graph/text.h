// A graph as text, in MLIR's generic form, and back. docs/graph.md describes it.
#pragma once
#include <functional>

#include "framework/graph/graph.h"

namespace weir::graph {

/// Values and buffers are numbered in the order in which they stand in the text. The memory of externals and constants, whose
/// bytes stand elsewhere, is named "buffer.N". Fused nodes have no text: write the graph as it was traced.
std::string to_mlir(const Graph& g);
/// By buffer, its number in the text; -1 for one that does not appear.
std::vector<int> numbers_in_text(const Graph& g);
std::string name_in_text(int number);

/// The graph that to_mlir wrote. `memory_of` gives external and constant buffers their memory. Raises ValueError, with the line,
/// for text that is no graph, names an op or attribute that is none, or describes nodes that the ops themselves would refuse.
Graph from_mlir(const std::string& text, const std::function<StorageRef(const std::string& name, size_t bytes)>& memory_of);

}  // namespace weir::graph
