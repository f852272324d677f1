// Products of matrices for kernels that are made of them.
#pragma once
#include "framework/core/tensor.h"

namespace weir {
namespace WEIR_ISA {

/// out = a w + bias for (n, m) by (m, p) tensors, or batches of them, of one dtype; `bias` (p) may be undefined.
void gemm(Tensor a, Tensor w, Tensor bias, const Tensor& out);

}  // namespace WEIR_ISA
}  // namespace weir
