// Groups as CUDA C, for NVRTC: each element-wise step is the op's formula, and rounds to the dtype that eager mode would have stored.
#pragma once
#include <string>

#include "framework/graph/graph.h"

namespace weir::graph {

struct CudaKernel {
  std::string text;
  int64_t count;      // of elements, or of rows: its last argument, an int64
  int threads;        // of a block
  int64_t per_block;  // elements or rows
};

/// The kernel `name` of a fused node or of blocks of rows. Its arguments: a pointer for each input (once where it comes twice, none for a
/// constant number), one for each output, and the count. An input that does not lie as the results do (broadcast, transposed) is
/// read by its strides, which the text holds; other texts serve every count. It stands behind kernels/cuda/prelude.h, the ops' structs, `op_NAME` or
/// `op_NAME_OVERLOAD` for the struct of an op, kernels/formulas.h and kernels/cuda/rows.h. ValueError for another node,
/// NotImplementedError for a step that leaves an optional input out, or has no CUDA form.
CudaKernel cuda_source(const Graph& g, size_t node, const std::string& name);

/// That of blocks of rows: a warp for each of up to 1,024 elements, else a block of threads, which keeps what the steps hand on in shared memory, up to 48 KiB.
CudaKernel cuda_rows(const Graph& g, const Node& node, const std::string& name);

}  // namespace weir::graph
