#include "framework/ops/index_put.h"

#include <algorithm>

#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/unary.h"

namespace weir {
namespace {

/// Writes in[2...] at in[1...] of `x`. Raises unless values of x's dtype broadcast to x[indices].
void put(const Tensor& x, Inputs indices, const Tensor& values, bool accumulate) {
  const Tensors given(indices.begin(), indices.end());
  for (int i = 0; i < std::min(int(given.size()), x.ndim()); i++)
    check<IndexError>(!given[i] || given[i].numel() == 0 || x.sizes()[i] > 0, "index is out of bounds for dimension with size 0");
  const Dims shape = indexed_shape(x, given);
  bool fits = values.ndim() <= shape.n;
  for (int i = 1; fits && i <= values.ndim(); i++) fits = values.size(-i) == 1 || values.size(-i) == shape[shape.n - i];
  check(fits, "shape mismatch: value tensor of shape ", values.sizes(), " cannot be broadcast to indexing result of shape ", shape);
  check(x.dtype() == values.dtype(), "Index put requires the source and destination dtypes match, got ", name_of(x.dtype()), " for the destination and ",
        name_of(values.dtype()), " for the source.");
  index_put(x, given, values, accumulate);
}

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

Tensor IndexPut::compose(Inputs in) const {
  const Tensor r = clone_of(in[0]);
  put(r, in.subspan(1, in.size() - 2), in.back(), accumulate);
  return first_content(r);
}

Tensor IndexPutInto::compose(Inputs in) const {
  check(!mode.grad || !requires_grad(in[0]) || !is_leaf(in[0]), "a leaf Variable that requires grad is being used in an in-place operation.");
  put(in[0], in.subspan(1, in.size() - 2), in.back(), accumulate);
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
  put(r, within(r, in.subspan(2, in.size() - 3)), fn::masked_fill(in.back(), fn::logical_not(in[1]), wrapped_number(Scalar(0))), true);
  return first_content(r);
}

static const IndexPutOps::Registration ops;

}  // namespace weir
