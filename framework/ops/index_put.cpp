#include "framework/ops/index_put.h"

#include <algorithm>

#include "framework/core/warn.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/unary.h"

namespace weir {
namespace {

/// The inputs between the first and the last.
Tensors inner(Inputs in) { return {in.begin() + 1, in.end() - 1}; }

/// Positions that may lie outside, moved to the nearest end; an axis without an index stays whole.
Tensors within(const Tensor& x, Inputs indices) {
  Tensors r;
  for (int i = 0; i < std::min(int(indices.size()), x.ndim()); i++)
    r.push_back(indices[i] ? fn::clamp(indices[i], std::optional(Scalar(-x.sizes()[i])), std::optional(Scalar(x.sizes()[i] - 1))) : Tensor());
  return r;
}

Tensor first_content(const Tensor& t) {
  t->storage->version = 0;  // nobody can have saved it before
  return t;
}

}  // namespace

void warn_of_repeats(const Tensor& written) {
  if (repeats(written)) warn_once("Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation.");
}

Tensor IndexPut::compose(Inputs in) const {
  const Tensor r = clone_of(in[0]);
  index_put(r, inner(in), in.back(), accumulate);
  return first_content(r);
}

Tensor IndexPutInto::compose(Inputs in) const {
  check(!mode.grad || !requires_grad(in[0]) || !is_leaf(in[0]), "a leaf Variable that requires grad is being used in an in-place operation.");
  warn_of_repeats(in[0]);
  index_put(in[0], inner(in), in.back(), accumulate);
  return in[0];
}

Tensor MaskedIndex::compose(Inputs in) const {
  const Tensor &x = in[0], &mask = in[1];
  if (x.numel() == 0) {
    Dims sizes = mask.sizes();
    for (const Tensor& i : in.subspan(2))
      if (i) sizes = broadcast("_unsafe_masked_index", sizes, i.sizes());
    return full_of(Meta(sizes, x.dtype(), x.device()), fill);
  }
  return fn::masked_fill(index(x, within(x, in.subspan(2))), fn::logical_not(mask), wrapped_number(fill));
}

Tensor MaskedIndexAdd::compose(Inputs in) const {
  const Tensor r = clone_of(in[0]);
  if (r.numel() == 0) return r;
  index_put(r, within(r, in.subspan(2, in.size() - 3)), fn::masked_fill(in.back(), fn::logical_not(in[1]), wrapped_number(Scalar(0))), true);
  return first_content(r);
}

static const IndexPutOps::Registration ops;

}  // namespace weir
