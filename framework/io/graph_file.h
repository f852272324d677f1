// Files of graphs: the safetensors format, with the graph's text and the names of its results in the metadata. docs/graph.md.
#pragma once
#include "framework/graph/graph.h"

namespace weir::io {

/// A graph with what is known of its arguments and results.
struct GraphFile {
  graph::Graph graph;
  std::string structure;  // how arguments and results are nested, for whoever wrote it; any text
};

/// Replaces the file at `path`, with the values that externals and constants have now. Raises RuntimeError where it cannot be written.
void save_graph(const std::string& path, const GraphFile& file);
/// Raises ValueError for what is no such file, of another version, or describes no legal graph; no input makes it do more than that.
GraphFile load_graph(const std::string& path);

}  // namespace weir::io
