// Batch: how vmap runs kernels. One interpreter for all ops.
//
// A batched tensor looks like one example: sizes, strides and offset are an example's, and its storage says where the other examples lie
// (core/storage.h). So everything above the kernels, from promotion to gradients, views, in-place rules and `out=`, runs as it does
// for one example, and no op knows of it. Only where a kernel would be called, it is called for the whole batch: at once where the
// op's notation says how an axis in front passes through it, else for one example after the other.
#pragma once
#include "framework/op/call.h"

namespace weir {

using Axes = std::vector<BatchAxis>;

/// The axes of all tensors together, by rising level; none where no tensor is batched.
Axes batch_axes(Inputs tensors);
/// Those of a call's results: its inputs', and those of every vmap in force that lets random numbers differ where the op draws or makes any.
/// RuntimeError for a random op in a vmap that was not told what becomes of them.
Axes axes_of_call(const OpType& type, Inputs in);

/// Runs a kernel on batched tensors. `run` runs one on plain tensors. RuntimeError where an output, or an input that the kernel
/// changes, is shared by examples that would write different values into it.
using RunKernel = void (*)(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out);
void run_batched(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, RunKernel run);

/// `x` as a batch: axis `dim` is hidden as that of `level`. The memory is shared.
Tensor into_batch(const Tensor& x, int64_t dim, uint64_t level);
/// The reverse: the axis of `level` shows as axis `dim`; a tensor without it is repeated `size` times, without copies.
Tensor out_of_batch(const Tensor& x, int64_t dim, uint64_t level, int64_t size);
/// The vmap of this thread that has the level; null once it has ended.
const BatchLevel* level_in_force(uint64_t id);
/// Whether the tensor differs between the examples of the level.
bool in_batch(const Tensor& x, uint64_t level);

}  // namespace weir
