#include "framework/ops/activation.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<ActivationOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
