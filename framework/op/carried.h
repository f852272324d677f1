// Kernels of twelve dtypes for tensors of all: uint16, uint32, uint64, float8 and complex32 are stored, and computed elsewhere.
//
// Where an op moves elements, its kernel sees the same memory as integers of that size. Where it computes, inputs are copied into a type
// that holds all their numbers (int32, int64, float32, complex64) and results are cast back. Which ops there are is PyTorch's list.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Is a tensor of a dtype among these that is only stored?
bool any_storage_only(Inputs tensors);
/// NotImplementedError for ops that PyTorch does not have for the dtype either, before anything is computed.
void check_carried(const OpType& type, Inputs in, Outputs out, const Meta* metas);
/// Runs `kernel` as run_kernel does; undefined outputs are made by it, and become what `metas` say. Raises as check_carried.
void run_carried(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Meta* metas);
/// Runs an op's kernel for the CPU on tensors of any dtype; all outputs are given. For those who hold kernel calls of their own.
void run_cpu_kernel(const OpType& type, const void* op, Inputs in, Outputs out);

}  // namespace weir
