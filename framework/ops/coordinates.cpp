#include "framework/ops/coordinates.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/counting.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/reduce.h"
#include "framework/ops/scatter.h"
#include "framework/ops/view.h"

namespace weir {

Tensor Argwhere::compose(Inputs in) const { return fn::nonzero_rows(in[0]); }

Tensor NonzeroStatic::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(size >= 0, "nonzero_static: 'size' must be an non-negative integer, got ", size);
  const Meta rows(Dims{size, int64_t(x.ndim())}, DType::int64, x.device());
  if (x.numel() == 0 || x.ndim() == 0 || size == 0) return full_of(rows, Scalar(fill_value));
  const Tensor held = fn::ne(fn::reshape(x, Dims{-1}), num(int64_t(0))), count = fn::cumsum(held, int64_t(0));
  // Each of them to its place; those behind the last place, and the others, to one more, which is cut off.
  const Tensor places = fn::where(fn::logical_and(held, fn::le(count, num(size))), count - num(int64_t(1)), size);
  const Tensor none = zeros_of(Meta(Dims{checked_add(size, 1)}, DType::int64, x.device()));
  const Tensor found = fn::slice(fn::scatter(none, int64_t(0), places, arange_of(x.numel())), int64_t(0), int64_t(0), size, int64_t(1));
  const Tensor given = fn::lt(arange_of(size), fn::select(count, int64_t(0), int64_t(-1)));
  return fn::where(fn::unsqueeze(given, int64_t(1)), fn::stack(fn::unravel_index(found, x.sizes()), int64_t(1)), fill_value);
}

Tensors UnravelIndex::compose(Inputs in) const {
  check<TypeError>(is_integral(in[0].dtype()), "unravel_index: expected indices of an integer dtype, but got ", name_of(in[0].dtype()));
  for (int64_t s : shape) check<ValueError>(s >= 0, "'shape' cannot have negative values, but got ", shape);
  if (shape.empty()) return {};
  // All at once, so that the strides are those of a pointwise op, as PyTorch's.
  Tensors sizes(size_t(shape.n)), steps(size_t(shape.n));
  int64_t step = 1;
  for (int i = shape.n; i-- > 0; step = int64_t(uint64_t(step) * uint64_t(shape[i]))) {
    sizes[i] = full_of(Meta(Dims{}, DType::int64, in[0].device()), Scalar(shape[i]));
    steps[i] = full_of(Meta(Dims{}, DType::int64, in[0].device()), Scalar(step));
  }
  const Tensor rest = fn::floor_divide(fn::unsqueeze(in[0], int64_t(-1)), fn::stack(steps, int64_t(0)));
  return fn::unbind(fn::remainder(rest, fn::stack(sizes, int64_t(0))), int64_t(-1));
}

static const CoordinatesOps::Registration ops;

}  // namespace weir
