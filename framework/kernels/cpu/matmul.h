// Products of matrices for other kernels.
#pragma once
#include "framework/core/tensor.h"

namespace weir {
namespace WEIR_ISA {

/// A batch of products: out[b] = a[b] (n x m) @ w[b] (m x p), plus a bias along columns. Strides of batch, row and column in elements.
struct Gemm {
  int64_t batch, n, m, p;
  Dims a_strides, w_strides, out_strides;
};

/// out = a w + bias for (n, m) by (m, p) tensors, or batches of them, of one dtype; `bias` (p) may be undefined.
void gemm(Tensor a, Tensor w, Tensor bias, const Tensor& out);

}  // namespace WEIR_ISA
}  // namespace weir
