#include "framework/graph/cuda_source.h"

#include <algorithm>

#include "framework/graph/cuda_text.h"
#include "framework/graph/passes.h"
#include "framework/op/row_blocks.h"

namespace weir::graph {
namespace {

// Where the number of an input lies that belongs to element `i` of the results, counted as they lie in memory: without holes.
std::string index_of(const Meta& x, const Meta& result) {
  std::vector<CudaAxis> axes;
  const int ahead = result.sizes.n - x.sizes.n;
  for (int d = 0; d < result.sizes.n; d++)
    axes.push_back({result.sizes[d], result.strides[d], d < ahead || x.sizes[d - ahead] == 1 ? 0 : x.strides[d - ahead]});
  return cuda_place(axes, "i", numel_of(result.sizes));
}

CudaKernel of_elements(const Graph& g, const Node& node, const std::string& name) {
  const FusedProgram& p = *reinterpret_cast<const Fused*>(node.op.data())->program;
  std::string inputs, outputs;
  std::vector<CudaOperand> operands;
  for (const FusedOperand& x : p.operands) {
    CudaOperand o;
    if (x.input >= 0) {
      const Use& use = node.in[x.input];
      const int first = first_input(node, x.input);
      o = {str("in", x.input), index_of(use.meta, node.out[0].meta), cuda_constant(g, use)};
      if (first < x.input) o.same = int(std::find_if(p.operands.begin(), p.operands.end(), [&](auto& other) { return other.input == first; }) - p.operands.begin());
      else if (o.literal.empty()) inputs += str("const ", cuda_type(x.dtype), "* ", o.base, ", ");
    } else if (x.output >= 0) {
      o.base = str("out", x.output);
      outputs += str(cuda_type(x.dtype), "* ", o.base, ", ");
    }
    operands.push_back(o);
  }
  const int items = cuda_items(p, operands);
  return {str("namespace weir {\nextern \"C\" __global__ void ", name, "(", inputs, outputs, "int64_t n) {\n",
              "  const int64_t first = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * ", items, ";\n  if (first >= n) return;\n",
              cuda_elements(p, operands, "n"), "}\n}\n"),
          numel_of(node.out[0].meta.sizes), 256, 256 * items};
}

}  // namespace

CudaKernel cuda_source(const Graph& g, size_t index, const std::string& name) {
  const Node& node = g.nodes[index];
  if (node.type == &op_type<RowBlocks>()) return cuda_rows(g, node, name);
  check<ValueError>(node.type == &op_type<Fused>(), "cuda_source: expected a fused node or blocks of rows, got ", node.type->signature->name);
  return of_elements(g, node, name);
}

}  // namespace weir::graph
