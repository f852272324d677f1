#include "framework/ops/pool_adaptive.h"

#include "framework/ops/create.h"
#include "framework/ops/pool.h"

namespace weir {

std::array<Meta, 2> AdaptiveMaxPool::infer(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(is_floating(x.dtype()), "\"adaptive_max_pool\" not implemented for '", name_of(x.dtype()), "'");
  Dims sizes{x.sizes()[0], x.sizes()[1]};
  for (int64_t n : output_size) sizes.push(n);
  std::array<Meta, 2> metas{Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
  if (output_size.n == 2 && suggests_channels_last(x.sizes(), x.strides()))
    for (Meta& m : metas) m.strides = channels_last_strides(sizes);
  return metas;
}

Tensors AdaptiveMaxPool::vjp(const Saved& s, const Tensor& dy) const {
  const Dims& sizes = s.input_meta(0).sizes;
  if (!dy || dy.numel() == 0) return {zeros_of(Meta(sizes, s.input_meta(0).dtype, s.input_meta(0).device))};
  return {fn::max_pool_backward(dy, s.output(1), sizes)};
}

static const PoolAdaptiveOps::Registration ops;

}  // namespace weir
