#include "framework/ops/verdict.h"

#include "framework/ops/compare.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/reduce.h"

namespace weir {

Tensor Equal::compose(Inputs in) const {
  if (!(in[0].sizes() == in[1].sizes())) return wrapped_number(Scalar(false));
  return in[0].dtype() == in[1].dtype() && !is_storage_only(in[0].dtype()) ? Fn<EqualElements>()(in[0], in[1]) : fn::all(fn::eq(in[0], in[1]));
}

Tensor Allclose::compose(Inputs in) const { return fn::all(Fn<Isclose>()(in[0], in[1], rtol, atol, equal_nan)); }

static const VerdictOps::Registration ops;

}  // namespace weir
