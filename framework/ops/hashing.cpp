#include "framework/ops/hashing.h"

#include "framework/ops/create.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {

Tensor HashTensor::compose(Inputs in) const {
  const Tensor& x = in[0];
  const AxisSet axes = reduced_axes("hash_tensor", dim, x.ndim());
  check(x.numel() || dim.n, "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  for (int d = 0; d < x.ndim(); d++)
    check<IndexError>(!(axes >> d & 1) || x.sizes()[d], "hash_tensor: Expected reduction dim ", d, " to have non-zero size.");
  check(int32_t(mode) == 0, "Unknown hash_tensor mode: ", mode);  // an int in PyTorch, which the higher bits are no part of
  const DType t = x.dtype();
  check<NotImplemented>(x.numel() == 0 || (!is_complex(t) && !is_storage_only(t)), "\"xor_sum_cpu\" not implemented for '", name_of(t), "'");
  const Tensor numbers = x.numel() == 0 ? zeros_of(Meta(x.sizes(), DType::int64, x.device()))
                         : is_floating(t) ? fn::view(cast_to(detach(x), DType::float64), DType::int64)
                                          : cast_to(x, DType::int64);
  return fn::view(fn::xor_sum(numbers, dim, keepdim), DType::uint64);
}

Meta XorSum::infer(Inputs in) const {
  check(in[0].dtype() == DType::int64, "xor_sum: expected int64, got ", name_of(in[0].dtype()));
  return {reduced_sizes(in[0].sizes(), reduced_axes("xor_sum", dim, in[0].ndim()), keepdim), DType::int64, in[0].device()};
}

static const HashingOps::Registration ops;

}  // namespace weir
