#include "framework/ops/alike.h"

#include "framework/ops/create.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {

Tensor ViewAs::compose(Inputs in) const { return fn::view(in[0], in[1].sizes()); }
Tensor ReshapeAs::compose(Inputs in) const { return fn::reshape(in[0], in[1].sizes()); }
Tensor ExpandAs::compose(Inputs in) const { return fn::expand(in[0], in[1].sizes()); }
Tensor TypeAs::compose(Inputs in) const { return cast_to(in[0], in[1].dtype()); }
Tensor Ravel::compose(Inputs in) const { return fn::view(contiguous_of(in[0]), Dims{-1}); }

Tensor Positive::compose(Inputs in) const {
  check(in[0].dtype() != DType::boolean, "positive: The `+` operator, on a bool tensor is not supported.");
  return in[0];
}

Tensor SumToSize::compose(Inputs in) const {
  const Tensor& x = in[0];
  const int lead = x.ndim() - size.n;
  Dims axes;
  for (int d = 0; d < x.ndim(); d++) {
    const bool extra = d < lead, one = !extra && lead >= 0 && size[d - lead] == 1;
    check(lead >= 0 && (extra || one || size[d - lead] == x.size(d)), "size ", size, " is not expandable to size ", x.sizes(), ".");
    if (extra || (one && x.size(d) != 1)) axes.push(d);
  }
  check(lead >= 0, "size ", size, " is not expandable to size ", x.sizes(), ".");
  if (size == x.sizes()) return size.n ? x : fn::sum(x);  // PyTorch sums a 0-d tensor over nothing
  return fn::reshape(axes.empty() ? x : fn::sum(x, axes, true), size);
}

Tensor NarrowCopy::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() == 0 || dim < x.ndim(), "narrow_copy(): Dimension ", dim, " out of range for a ", x.ndim(), "-D tensor");
  const int64_t n = x.ndim() ? x.size(dim) : 0;
  check<IndexError>(x.ndim() == 0 || (start >= -n && start <= n), "narrow_copy(): start out of range (expected to be in range of [", -n, ", ", n,
                    "], but got ", start, ")");
  return clone_of(fn::narrow(x, dim, start, length), MemoryFormat::contiguous);
}

static const AlikeOps::Registration ops;

}  // namespace weir
