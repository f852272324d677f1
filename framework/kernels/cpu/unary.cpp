#include "framework/ops/unary.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<UnaryOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
