#include "framework/ops/bessel.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/functional.h"
#include "framework/ops/unary.h"

namespace weir {

Tensors Ndtr::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor x = s.input(0);
  return {dy * fn::exp(x * x * -0.5) * (0.5 * M_2_SQRTPI * M_SQRT1_2)};
}
Tensors Zeta::vjp(const Saved& s, const Tensor& dy) const {
  check<NotImplemented>(!s.needs(0), "the derivative for 'zeta: input' is not implemented.");
  const Tensor x = s.input(0), q = s.input(1);
  if (!s.needs(1)) return {};
  if (!x.has_flag(kWrappedNumber)) return {Tensor(), dy * (-x) * fn::zeta(x + 1.0, q)};
  const double number = item(x).to_double();  // which has more digits than the default dtype
  return {Tensor(), dy * -number * fn::zeta(num(number + 1), q)};
}

static const BesselOps::Registration ops;

}  // namespace weir
