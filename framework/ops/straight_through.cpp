#include "framework/ops/straight_through.h"

#include "framework/op/copy.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"

namespace weir {
namespace {

Meta same(const Tensor& value) {
  Meta m(value.sizes(), value.dtype(), value.device());
  if (is_non_overlapping_and_dense(value.sizes(), value.strides())) m.strides = value.strides();
  return m;
}

}  // namespace

Meta StraightThrough::infer(Inputs in) const { return same(in[0]); }
Tensors StraightThrough::vjp(const Saved&, const Tensor& dy) const { return {Tensor(), dy}; }

Meta ExtremeOf::infer(Inputs in) const { return same(in[0]); }
Tensors ExtremeOf::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor value = detach(s.input(0)), x = detach(s.input(1));
  const Tensor chosen = fn::logical_or(fn::eq(x, value), fn::isnan(x));
  Dims axes;
  for (int d = 0; d < x.ndim(); d++)
    if (value.sizes()[d] != x.sizes()[d]) axes.push(d);
  const Tensor count = axes.empty() ? chosen : fn::sum(chosen, axes, true, std::nullopt);
  return {Tensor(), dy / count * cast_to(chosen, dy.dtype())};
}

static const StraightThroughOps::Registration ops;

}  // namespace weir
