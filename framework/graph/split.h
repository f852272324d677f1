// A traced forward and backward pass as two graphs, so that the program may do what it likes between them.
#pragma once
#include "framework/graph/graph.h"

namespace weir::graph {

struct Halves {
  /// The first part. Its results are the whole graph's first `num_results`, then the memory that the second part reads.
  Graph forward;
  /// The second part. Its arguments are those of the whole graph, then the memory that forward returns, then the late ones of
  /// the whole graph; its results are the rest of the whole graph's.
  Graph backward;
  int num_saved = 0;
  std::vector<int> arguments;        // positions of the arguments whose memory backward reads
  std::vector<StorageRef> externals;  // that backward reads: they may not change in between
};

/// Parts `g` before node `at`. Of its arguments the first `num_arguments` are there from the start; the memory of others is
/// read by later nodes only. Raises where the second part writes into memory of the first.
Halves split(const Graph& g, int at, int num_results, int num_arguments);

}  // namespace weir::graph
