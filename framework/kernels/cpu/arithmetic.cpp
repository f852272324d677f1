#include "framework/ops/arithmetic.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<ArithmeticOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
