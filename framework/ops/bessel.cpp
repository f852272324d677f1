#include "framework/ops/bessel.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/functional.h"

namespace weir {

Tensors Zeta::vjp(const Saved& s, const Tensor& dy) const {
  check<NotImplemented>(!s.needs(0), "the derivative for 'zeta: input' is not implemented.");
  const Tensor x = s.input(0), q = s.input(1);
  return {Tensor(), s.needs(1) ? dy * (-x) * fn::zeta(x + 1.0, q) : Tensor()};
}

static const BesselOps::Registration ops;

}  // namespace weir
