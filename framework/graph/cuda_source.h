// A fused group as CUDA C, for NVRTC: each step is the op's formula, and rounds to the dtype that eager mode would have stored.
#pragma once
#include <string>

#include "framework/graph/graph.h"

namespace weir::graph {

/// The kernel `name` of a fused node. Its arguments: for each input a pointer and a step (1: as the results lie; 0: one number), for each output a
/// pointer, and the number of elements. The text stands behind kernels/cuda/prelude.h, the ops' structs, `op_NAME` for the struct
/// of the op NAME (its dot an underscore), and kernels/formulas.h. ValueError for another node,
/// NotImplementedError for a step that leaves an optional input out.
std::string cuda_source(const Node& node, const std::string& name);

}  // namespace weir::graph
