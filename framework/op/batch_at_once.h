// One call of a kernel for all examples of a batch.
#pragma once
#include "framework/op/batch.h"

namespace weir {

/// Runs the kernel for the whole batch in one call, where the op's notation says how an axis in front passes through it. False, having done
/// nothing, where it does not.
bool run_at_once(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Axes& axes, RunKernel run);

}  // namespace weir
