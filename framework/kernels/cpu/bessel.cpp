#include "framework/ops/bessel.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {

static const PointwiseKernels<BesselOps> kernels;

}  // namespace WEIR_ISA
}  // namespace weir
