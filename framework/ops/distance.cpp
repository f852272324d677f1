#include "framework/ops/distance.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

void check_rows(const Tensor& x, const char* name) {
  check(is_floating(x.dtype()), "cdist only supports floating-point dtypes, ", name, " got: ", name_of(x.dtype()));
}

// PyTorch has loops in float32 and float64, which it does not enter where nothing is to be compared.
void check_loop(const char* op, const Tensor& x, bool nothing) {
  check<NotImplemented>(nothing || x.dtype() == DType::float32 || x.dtype() == DType::float64, "\"", op, "\" not implemented for '", name_of(x.dtype()), "'");
}

// A batch of matrices with its leading axes joined.
Tensor as_batch(const Tensor& x, const Dims& batch) {
  Dims sizes = batch;
  sizes.push(x.size(-2)), sizes.push(x.size(-1));
  return fn::reshape(fn::expand(x, sizes), Dims{batch.product(), x.size(-2), x.size(-1)});
}

}  // namespace

Meta CdistForward::infer(Inputs in) const {
  DType t = in[0].dtype();
  check(t == in[1].dtype(), "cdist: expected scalar type ", name_of(t), " but found ", name_of(in[1].dtype()));
  check_loop("cdist", in[0], in[0].numel() == 0 || in[1].numel() == 0);
  return {Dims{in[0].sizes()[0], in[0].sizes()[1], in[1].sizes()[1]}, t, in[0].device()};
}
Tensors CdistForward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x1 = s.input(0), x2 = s.input(1);
  auto turned = [](const Tensor& t) { return fn::transpose(t, int64_t(1), int64_t(2)); };
  if (p == 2 && mode.grad) {  // in ops, which have gradients themselves
    Tensor y = s.output(), ratio = fn::masked_fill(dy / y, fn::eq(y, num(0.0)), 0.0);
    return {x1 * fn::sum(ratio, Dims{2}, true) - fn::bmm(ratio, x2),
            x2 * fn::unsqueeze(fn::sum(ratio, Dims{1}), int64_t(-1)) - fn::bmm(turned(ratio), x1)};
  }
  Tensor y = detach(s.output());
  return {s.needs(0) ? fn::cdist_backward(dy, x1, x2, y, p, by_product) : Tensor(),
          s.needs(1) ? fn::cdist_backward(turned(dy), x2, x1, turned(y), p, by_product) : Tensor()};
}
Meta CdistBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }

Tensor Cdist::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1];
  check(a.ndim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", a.ndim(), "D");
  check(b.ndim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", b.ndim(), "D");
  check(a.size(-1) == b.size(-1), "X1 and X2 must have the same number of columns. X1: ", a.size(-1), " X2: ", b.size(-1));
  check(p >= 0, "cdist only supports non-negative p values");
  check_rows(a, "X1");
  check_rows(b, "X2");
  auto lead = [](const Tensor& t) {
    Dims d = t.sizes();
    d.n -= 2;
    return d;
  };
  Dims batch = broadcast("cdist", lead(a), lead(b)), sizes = batch;
  sizes.push(a.size(-2)), sizes.push(b.size(-2));
  constexpr int64_t kByProduct = 25;  // rows from which PyTorch takes a product of matrices, which exists in half precision too
  bool widened = is_reduced(a.dtype()) && a.dtype() == b.dtype() && p == 2 && (a.size(-2) > kByProduct || b.size(-2) > kByProduct);
  if (widened) return cast_to(fn::cdist(cast_to(a, DType::float32), cast_to(b, DType::float32), p, by_product), a.dtype());
  return fn::reshape(fn::cdist_forward(as_batch(a, batch), as_batch(b, batch), p, by_product), sizes);
}

Meta PdistForward::infer(Inputs in) const {
  int64_t n = in[0].sizes()[0];
  check_loop("pdist", in[0], n < 2 || in[0].numel() == 0);
  return {Dims{n > 0 ? checked_mul(n, n - 1) / 2 : 0}, in[0].dtype(), in[0].device()};
}
Tensors PdistForward::vjp(const Saved& s, const Tensor& dy) const { return {fn::pdist_backward(dy, s.input(0), detach(s.output()), p)}; }
Meta PdistBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }

Tensor Pdist::compose(Inputs in) const {
  check(in[0].ndim() == 2, "pdist only supports 2D tensors, got: ", in[0].ndim(), "D");
  check(is_floating(in[0].dtype()), "pdist only supports floating-point dtypes");
  check(p >= 0, "pdist only supports non-negative p values");
  return fn::pdist_forward(in[0], p);
}

static const DistanceOps::Registration ops;

}  // namespace weir
