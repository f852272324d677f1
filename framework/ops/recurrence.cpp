#include "framework/ops/recurrence.h"

namespace weir {

Meta Recurrence::infer(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(x.dtype() == DType::float32 || x.dtype() == DType::float64, "recurrence: not implemented for ", name_of(x.dtype()));
  for (const Tensor& t : in) check(t.sizes() == x.sizes() && t.dtype() == x.dtype(), "recurrence: expected tensors of one shape and dtype");
  for (const char* known : {"chebyshev", "hermite_h", "hermite_he", "laguerre", "legendre"})
    if (kind == known) return {x.sizes(), x.dtype(), x.device()};
  throw ValueError(str("recurrence: unknown kind ", kind.view()));
}

static const RecurrenceOps::Registration ops;

}  // namespace weir
