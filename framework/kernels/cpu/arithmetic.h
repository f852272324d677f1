// Sums for kernels that end in one: these may not call the door back.
#pragma once
#include "framework/core/tensor.h"

namespace weir {
namespace WEIR_ISA {

/// out = a + b, broadcast to its sizes; `out` may be one of them.
void add(const Tensor& a, const Tensor& b, const Tensor& out);

}  // namespace WEIR_ISA
}  // namespace weir
