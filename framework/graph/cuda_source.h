// A fused group as CUDA C, for NVRTC: each step is the op's formula, and rounds to the dtype that eager mode would have stored.
#pragma once
#include <string>

#include "framework/graph/graph.h"

namespace weir::graph {

struct CudaKernel {
  std::string text;
  int items;  // elements of the results that a thread makes
};

/// The kernel `name` of a fused node. Its arguments: a pointer for each input (one that comes twice once, a constant number not at all), one
/// for each output, and the number of elements as int64. An input that does not lie as the results do (broadcast, transposed) is read by its
/// strides, which the text holds; other texts serve every size. It stands behind kernels/cuda/prelude.h, the ops' structs, `op_NAME` or
/// `op_NAME_OVERLOAD` for the struct of an op, and kernels/formulas.h. ValueError for another node, NotImplementedError for a step that
/// leaves an optional input out.
CudaKernel cuda_source(const Graph& g, size_t node, const std::string& name);

}  // namespace weir::graph
