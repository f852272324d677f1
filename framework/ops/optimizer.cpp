#include "framework/ops/optimizer.h"

namespace weir {

OptimizerKernels optimizer_kernels{};

bool fusable(std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  if (first.dtype() != DType::float32 || first.device().type != DeviceType::cpu) return false;
  if (!is_non_overlapping_and_dense(first.sizes(), first.strides())) return false;
  for (const Tensor* t : tensors)
    if (*t && (t->get()->flags & kMarks || t->dtype() != first.dtype() || !(t->sizes() == first.sizes()) || !same_layout(first.sizes(), t->strides(), first.strides()))) return false;
  return true;
}

}  // namespace weir
