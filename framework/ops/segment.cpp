#include "framework/ops/segment.h"

#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/reduce.h"

namespace weir {

Tensor SegmentReduce::compose(Inputs in) const {
  const Tensor &data = in[0], &lengths = in[1], &offsets = in[3];
  check(!offsets || !offsets.has_flag(kRequiresGrad), "The function 'segment_reduce' is not differentiable with respect to argument 'offsets'. This input cannot "
        "have requires_grad True.");
  const int d = wrap_dim(axis, data.ndim(), "segment_reduce");
  check(!in[2], "segment_reduce(): indices based reduction is not supported yet.");
  const Str kind = reduce == "amax" ? Str("max") : reduce == "amin" ? Str("min") : reduce;
  check(kind == "sum" || kind == "mean" || kind == "max" || kind == "min" || kind == "prod",
        "segment_reduce(): reduce argument must be either sum, prod, mean, amax, max, amin or min, got ", reduce.view());
  check(lengths || offsets, "segment_reduce(): Either lengths or offsets must be defined.");
  const Tensor& bounds = lengths ? lengths : offsets;
  const char* name = lengths ? "lengths" : "offsets";
  check(bounds.ndim() <= data.ndim() && d == bounds.ndim() - 1, "segment_reduce(): Expected axis to be the last dimension of ", name, " but got ", axis);
  for (int i = 0; i < d; i++)
    check(bounds.sizes()[i] == data.sizes()[i], "segment_reduce(): Expected the batch axes of ", name, ", ", bounds.sizes(), ", to be those of data, ", data.sizes());
  check<NotImplemented>(is_floating(data.dtype()), "\"_segment_reduce_cpu\" not implemented for '", name_of(data.dtype()), "'");
  check<NotImplemented>(bounds.dtype() == DType::int64 || bounds.dtype() == DType::int32, "\"segment_reduce\" not implemented for ", name, " of '",
                        name_of(bounds.dtype()), "'");
  if (!lengths) return fn::segment_forward(data, cast_to(bounds, DType::int64), kind, !unsafe, initial);
  Dims first = bounds.sizes();
  first[d] = 1;
  const Tensor ends = fn::cumsum(bounds, int64_t(d)), begin = zeros_of(Meta(first, ends.dtype(), ends.device()));
  return fn::segment_forward(data, fn::cat(Tensors{begin, ends}, int64_t(d)), kind, !unsafe, initial);
}

Meta SegmentForward::infer(Inputs in) const {
  Dims sizes = in[0].sizes();
  const int d = in[1].ndim() - 1;
  check(d >= 0 && d < in[0].ndim() && in[1].sizes()[d] > 0, "segment_reduce(): Expected offsets of at least one element, got ", in[1].sizes());
  check(in[1].dtype() == DType::int64, "segment_forward: expected offsets of int64, got ", name_of(in[1].dtype()));
  sizes[d] = in[1].sizes()[d] - 1;
  return {sizes, in[0].dtype(), in[0].device()};
}
Tensors SegmentForward::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::segment_backward(dy, s.output(0), s.input(0), s.input(1), reduce, initial), Tensor()};
}
Meta SegmentBackward::infer(Inputs in) const { return like(in[2]); }

static const SegmentOps::Registration ops;

}  // namespace weir
