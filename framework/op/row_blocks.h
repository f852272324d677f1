// Several ops that work row by row, run on one block of rows after the other, so that what they hand to each other stays in the second-level
// cache: element-wise ones, those that reduce rows, and those that work along them. Each step is an op's own kernel on tensors of a few rows.
#pragma once
#include <memory>

#include "framework/op/op.h"

namespace weir {

/// What a step reads or makes.
struct RowOperand {
  enum Place : uint8_t { none, input, output, block } place = none;
  int index = 0;           // which input or output of the node
  size_t begin = 0;        // in a block's own memory, in bytes
  bool whole = false;      // an input that all rows share
  uint32_t flags = 0;
  Meta rows;               // of one block; the offset is that of the first row of all
  int axis = -1;           // in which a block's rows lie; -1: its rows share what is there
  int64_t row_stride = 0;  // in elements
  Dims outer;              // strides of the program's outer axes, in elements
};

struct RowStep {
  const OpType* type = nullptr;
  std::vector<std::byte> op;
  std::vector<RowOperand> in, out;
  std::shared_ptr<const void> owner;  // of what the op's struct points to
};

struct RowProgram {
  std::vector<RowStep> steps;
  Dims outer;               // sizes of axes in front of the rows, along which operands do not all move alike
  int lead = 0;             // how many axes stand in front of a row's own
  int64_t rows = 0;         // at each place of the outer axes
  int64_t per_block = 1;
  size_t block_bytes = 0;   // what a block keeps for itself
};

/// The op whose kernel runs a program.
struct RowBlocks : Op {
  static constexpr Signature signature = "row_blocks(inputs: list[Tensor]) -> Tensor";
  static constexpr auto doc = "Several ops that work row by row, a block of rows at a time.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  const RowProgram* program = nullptr;
  Meta infer(Inputs in) const;
};

}  // namespace weir
