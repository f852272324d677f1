// Inputs that an op's kernel changes beside its outputs: running statistics, the state of optimizers.
//
// A table beside the op types, since few ops have any: whoever reorders kernels asks it.
#pragma once
#include "framework/op/op.h"

namespace weir {

using Changes = std::vector<int> (*)(const void* op, Inputs in);
void set_changes(const OpType& type, Changes changes);
/// Positions among `in`; some may be of inputs that are not given.
std::vector<int> changed_inputs(const OpType& type, const void* op, Inputs in);

/// How many inputs make a run of an op that works on several runs, each by itself, and on one more input that comes last for all
/// of them: one call gives what a call per run gives. 0 for other ops.
using RunWidth = int (*)(const void* op);
void set_run_width(const OpType& type, RunWidth width);
int run_width(const OpType& type, const void* op);

}  // namespace weir
