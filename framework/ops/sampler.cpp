#include "framework/ops/sampler.h"

#include "framework/ops/create.h"
#include "framework/ops/pointwise.h"

namespace weir {

Meta Poisson::infer(Inputs in) const {
  check<NotImplemented>(is_floating(in[0].dtype()), "\"poisson_cpu\" not implemented for '", name_of(in[0].dtype()), "'");
  return {in[0].sizes(), in[0].dtype(), in[0].device()};
}
Tensors Poisson::vjp(const Saved&, const Tensor& dy) const { return {zeros_of(Meta(dy.sizes(), dy.dtype(), dy.device()))}; }

Meta Binomial::infer(Inputs in) const {
  check<ValueError>(is_floating(in[0].dtype()), "binomial only supports floating-point dtypes for count, got: ", name_of(in[0].dtype()));
  check<ValueError>(is_floating(in[1].dtype()), "binomial only supports floating-point dtypes for prob, got: ", name_of(in[1].dtype()));
  check(in[0].dtype() == in[1].dtype(), "Found dtype ", name_of(in[1].dtype()), " but expected ", name_of(in[0].dtype()));
  return {broadcast("binomial", in[0].sizes(), in[1].sizes()), in[0].dtype(), in[0].device()};
}

static const SamplerOps::Registration ops;

}  // namespace weir
