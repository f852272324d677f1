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

void polar(const Polar&, Inputs in, Outputs out) {
  auto fill = [&](auto tag) {
    using T = typename decltype(tag)::type;
    Tensor r = empty(out[0].sizes(), in[0].dtype()), angle = empty(out[0].sizes(), in[1].dtype());
    run_copy(in[0], r), run_copy(in[1], angle);
    const T *length = r.data<T>(), *turn = angle.data<T>();
    std::complex<T>* to = out[0].data<std::complex<T>>();
    parallel_for(out[0].numel(), kGrain, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) to[i] = {length[i] * std::cos(turn[i]), length[i] * std::sin(turn[i])};
    });
  };
  if (in[0].dtype() == DType::float64) fill(TypeTag<double>{});
  else fill(TypeTag<float>{});
}

}  // namespace

static const PointwiseKernels<ComplexPointwise> kernels;
static const bool registered = (set_kernel<Complex, join>(DeviceType::cpu), set_kernel<Polar, polar>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
