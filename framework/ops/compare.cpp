#include "framework/ops/compare.h"

namespace weir {

Tensor operator>(const Tensor& a, const Tensor& b) { return Fn<Gt>()(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return Fn<Lt>()(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return Fn<Ge>()(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return Fn<Le>()(a, b); }

static const CompareOps::Registration ops;

}  // namespace weir
