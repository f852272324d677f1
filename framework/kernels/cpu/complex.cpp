#include "framework/ops/complex.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Each part is a real tensor of twice the strides.
void join(const Complex&, Inputs in, Outputs out) {
  const Tensor& t = out[0];
  Dims strides = t.strides();
  for (int64_t& s : strides) s *= 2;
  for (int64_t part = 0; part < 2; part++)
    run_copy(in[part], alias(t->storage, real_type(t.dtype()), t.sizes(), strides, 2 * t->offset + part));
}

}  // namespace

static const PointwiseKernels<ComplexPointwise> kernels;
static const bool registered = (set_kernel<Complex, join>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
