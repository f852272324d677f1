// What a call costs, by its op's notation and the sizes at hand.
#pragma once
#include "framework/op/op.h"

namespace weir {

struct Cost {
  int64_t flops = 0;     // of products, a multiplication and an addition each; else one per element that is computed
  int64_t bytes = 0;     // each input read once and each result written once; of a table only what is picked
  bool product = false;  // whether the flops are those of multiplied and summed axes
};

/// The cost of a call with these inputs and results; zero for ops without notation, and for views. Undefined tensors do not count.
Cost cost_of(const OpType& type, Inputs in, Inputs out);

}  // namespace weir
