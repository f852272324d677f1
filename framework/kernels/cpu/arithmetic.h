// Sums for kernels that end in one: these may not call the door back. Loops of powers.
#pragma once
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// out = a + b, broadcast to its sizes; `out` may be one of them.
void add(const Tensor& a, const Tensor& b, const Tensor& out);

/// Of a `Pow` whose exponent is the number 1/2 or -1/2.
const Loops& root_loops();

}  // namespace WEIR_ISA
}  // namespace weir
