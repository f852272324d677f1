// Gradients across the border of a vmap. Within it ops are recorded as everywhere, on tensors that look like one example.
#pragma once
#include "framework/autograd/variable.h"

namespace weir {

/// op/batch.h's into_batch and out_of_batch, with a history.
Tensor enter_batch(const Tensor& x, int64_t dim, uint64_t level);
Tensor leave_batch(const Tensor& x, int64_t dim, uint64_t level, int64_t size);

/// For a node whose inputs are batched in part: a gradient on its way to one that all examples share stays an example's own while its vmap
/// is in force, as `vmap(grad(f))` wants it, and is summed over the examples afterwards, as `grad` of a vmap wants it.
/// `batched`: the tensors of the call that may be batched.
void lift_edges(Node& node, Inputs in, Inputs batched);

}  // namespace weir
