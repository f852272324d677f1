#include "framework/ops/compare.h"

#include "framework/ops/unary.h"

namespace weir {

Tensor operator>(const Tensor& a, const Tensor& b) { return Fn<Gt>()(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return Fn<Lt>()(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return Fn<Ge>()(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return Fn<Le>()(a, b); }

Tensor BitwiseNot::compose(Inputs in) const {
  return in[0].dtype() == DType::boolean ? Fn<LogicalNot>()(in[0]) : Fn<BitwiseNotInt>()(in[0]);
}

static const CompareOps::Registration ops;
static const Register<BitwiseNot> more;

}  // namespace weir
