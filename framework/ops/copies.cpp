#include "framework/ops/copies.h"

#include <limits>

#include "framework/ops/check.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/view.h"

namespace weir {

static Tensor copied(const Tensor& view) { return fn::clone(view, MemoryFormat::contiguous); }

Tensor AliasCopy::compose(Inputs in) const { return copied(in[0]); }
Tensor ViewCopy::compose(Inputs in) const { return copied(fn::reshape(in[0], size)); }
Tensor ViewCopyDtype::compose(Inputs in) const {
  const Tensor r = copied(fn::view(fn::resolve_conj(in[0]), dtype));
  return into_out && is_differentiated(in[0]) ? fn::underived(r, Tensors{in[0]}, Str("view_copy")) : r;
}
Tensor AsStridedCopy::compose(Inputs in) const { return copied(fn::as_strided(in[0], size, stride, storage_offset)); }
Tensor DiagonalCopy::compose(Inputs in) const { return copied(fn::diagonal(in[0], offset, dim1, dim2)); }
Tensor ExpandCopy::compose(Inputs in) const { return copied(fn::expand(in[0], size)); }
Tensor PermuteCopy::compose(Inputs in) const { return copied(fn::permute(in[0], dims)); }
Tensor SelectCopy::compose(Inputs in) const { return copied(fn::select(in[0], dim, index)); }
Tensor SliceCopy::compose(Inputs in) const {
  check<IndexError>(in[0].ndim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  check(step > 0, "slice step must be positive");
  return copied(fn::slice(in[0], dim, start.value_or(0), end.value_or(std::numeric_limits<int64_t>::max()), step));
}
Tensor SqueezeCopy::compose(Inputs in) const { return copied(fn::squeeze(in[0], dim)); }
Tensor UnsqueezeCopy::compose(Inputs in) const { return copied(fn::unsqueeze(in[0], dim)); }
Tensor TCopy::compose(Inputs in) const { return copied(fn::t(in[0])); }
Tensor TransposeCopy::compose(Inputs in) const { return copied(fn::transpose(in[0], dim0, dim1)); }
Tensor UnfoldCopy::compose(Inputs in) const { return copied(fn::unfold(in[0], dimension, size, step)); }

Tensor ViewAsRealCopy::compose(Inputs in) const { return copied(fn::view_as_real(fn::resolve_conj(in[0]))); }
Tensor ViewAsComplexCopy::compose(Inputs in) const { return copied(fn::view_as_complex(in[0])); }

Meta DetachCopy::infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }

static Tensors copied(Tensors views) {
  for (Tensor& v : views) v = copied(v);
  return views;
}
Tensors SplitCopy::compose(Inputs in) const { return copied(fn::split(in[0], split_size, dim)); }
Tensors SplitWithSizesCopy::compose(Inputs in) const { return copied(fn::split(in[0], split_sizes, dim)); }
Tensors UnbindCopy::compose(Inputs in) const { return copied(fn::unbind(in[0], dim)); }

static const CopiesOps::Registration ops;

}  // namespace weir
