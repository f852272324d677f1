#include "framework/ops/compare.h"

namespace weir {

Tensor operator>(const Tensor& a, const Tensor& b) { return fn::gt(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return fn::lt(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return fn::ge(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return fn::le(a, b); }

Tensor BitwiseNot::compose(Inputs in) const {
  return in[0].dtype() == DType::boolean ? fn::logical_not(in[0]) : fn::bitwise_not_int(in[0]);
}

static const CompareOps::Registration ops;
static const Register<BitwiseNot> more;

}  // namespace weir
