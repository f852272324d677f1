#include "framework/ops/compare.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<CompareOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
