// Words of CUDA C that kernels of groups are made of.
#pragma once
#include <string>
#include <vector>

#include "framework/graph/graph.h"
#include "framework/op/fused.h"

namespace weir::graph {

/// The type's name in kernels/cuda/prelude.h. NotImplementedError for those that are not there.
const char* cuda_type(DType t);
/// A literal. NotImplementedError for complex numbers.
std::string cuda_number(const Scalar& x);

/// An axis along which elements are counted: `inner` of them from one of its places to the next, `step` elements of memory.
struct CudaAxis { int64_t size, inner, step; };
/// Where element number `at` of `count` lies. `at` itself where memory is as they are counted.
std::string cuda_place(std::vector<CudaAxis> axes, const std::string& at, int64_t count);

/// The literal of a constant that is one number, broadcast or not; empty for other uses.
std::string cuda_constant(const Graph& g, const Use& u);
/// The first of a node's inputs that shows the same as its input `k`: an op that takes a tensor twice has it twice.
int first_input(const Node& node, int k);

/// What an operand of a group of element-wise steps is in the text: memory from `base` on, of which the one for element `i` lies at `place`; or a literal; or
/// what another operand is.
struct CudaOperand {
  std::string base, place, literal;
  int same = -1;
};
/// Statements by which a thread makes elements first, first + 1, ... of `count`: as many as cuda_items says, moved at once where their memory is dense.
/// `count` is a number or a variable. NotImplementedError where a step leaves an optional input out.
std::string cuda_elements(const FusedProgram& p, const std::vector<CudaOperand>& operands, const std::string& count, const std::string& indent = "");
int cuda_items(const FusedProgram& p, const std::vector<CudaOperand>& operands);

}  // namespace weir::graph
