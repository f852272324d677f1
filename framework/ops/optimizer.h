// Optimizer steps over many tensors at once: one pass over the memory of each parameter, its gradient and state.
#pragma once
#include "framework/core/tensor.h"

namespace weir {

struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay;
  double step;            // 1 at the first step
  bool decoupled;         // AdamW: the decay acts on the parameter, not on the gradient
  bool maximize;
};
struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, first;  // first: the momentum buffers are empty and take the gradient
};

/// Filled by the kernel library. Tensors are contiguous or share their strides, all of one dtype per position.
struct OptimizerKernels {
  void (*adam)(const AdamStep&, const Tensor& param, const Tensor& grad, const Tensor& exp_avg, const Tensor& exp_avg_sq);
  void (*sgd)(const SgdStep&, const Tensor& param, const Tensor& grad, const Tensor& momentum);  // momentum may be undefined
};
extern OptimizerKernels optimizer_kernels;

/// Whether the fused step takes these: float32 on the CPU, dense, one geometry.
bool fusable(std::initializer_list<const Tensor*> tensors);

}  // namespace weir
