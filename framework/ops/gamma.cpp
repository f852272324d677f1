#include "framework/ops/gamma.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/functional.h"
#include "framework/ops/unary.h"

namespace weir {
namespace {

// The derivative of P by its second argument: x^(a-1) exp(-x) / gamma(a). A byte less one wraps around, as in PyTorch's formula.
Tensors slope(const char* op, const Saved& s, const Tensor& dy) {
  check<NotImplemented>(!s.needs(0), "the derivative for '", op, ": input' is not implemented.");
  Tensor a = s.input(0), x = s.input(1);
  return {Tensor(), dy * fn::exp((a - num(int64_t(1))) * fn::log(x) - x - fn::lgamma(a))};
}

}  // namespace

Tensors Igamma::vjp(const Saved& s, const Tensor& dy) const { return slope("igamma", s, dy); }
Tensors Igammac::vjp(const Saved& s, const Tensor& dy) const { return slope("igammac", s, -dy); }

Tensors StandardGammaGrad::vjp(const Saved&, const Tensor&) const { throw NotImplemented("the derivative for '_standard_gamma_grad' is not implemented."); }
Tensors DirichletGrad::vjp(const Saved&, const Tensor&) const { throw NotImplemented("the derivative for '_dirichlet_grad' is not implemented."); }

static const GammaOps::Registration ops;

}  // namespace weir
