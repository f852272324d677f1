#include "framework/ops/check.h"

namespace weir {

Tensors Underived::vjp(const Saved&, const Tensor&) const { throw Error(str("derivative for ", op.view(), " is not implemented")); }

static const CheckOps::Registration ops;

}  // namespace weir
