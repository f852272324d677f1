// The layout of a result that follows its operands': which of its axes lie outside, and which inside.
#pragma once
#include <span>

#include "framework/core/tensor.h"

namespace weir {

/// Strides without holes of a tensor of `sizes` whose axes lie in the order of the operands' strides: the first operand that tells two axes
/// apart decides, a stride of 0 tells nothing, and row-major is the order of what nobody tells. Source: TensorIterator's reorder_dimensions.
Dims dense_strides(const Dims& sizes, std::span<const Dims> operands);

/// Do elements in the order of the axes follow each other without holes? Axes of size 1 have any stride.
bool is_row_major(const Dims& sizes, const Dims& strides);

/// Does every element lie behind all that shorter strides reach, with holes or without, so that no two share memory?
bool is_apart(const Dims& sizes, const Dims& strides);

/// `m`, of x's sizes, laid out as x: with x's strides where they are dense, without their holes elsewhere, as by empty_like. Strides of
/// axes of size 1 are kept, since they decide what counts as channels_last.
Meta with_strides(Meta m, const Tensor& x);

}  // namespace weir
