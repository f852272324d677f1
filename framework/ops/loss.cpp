#include "framework/ops/loss.h"

#include "framework/autograd/variable.h"

namespace weir {

std::array<Meta, 2> NllLoss::infer(Inputs in) const {
  const Tensor &x = in[0], &t = in[1], &w = in[2];
  check(x.ndim() >= 1, "nll_loss: input tensor should be at least 1D, got ", x.ndim(), "D");
  check(t.dtype() == DType::int64, "nll_loss: expected scalar type Long but found ", name_of(t.dtype()));
  int64_t c = x.ndim() == 1 ? x.sizes()[0] : x.sizes()[1];
  Dims want = x.sizes();
  want.erase(x.ndim() == 1 ? 0 : 1);
  check(t.sizes() == want, "nll_loss: expected target of size ", want, ", got ", t.sizes(), " for input of size ", x.sizes());
  check(!w || (w.ndim() == 1 && w.numel() == c), "nll_loss: weight tensor should be defined either for all ", c,
        " classes or no classes but got weight tensor of shape: ", w ? w.sizes() : Dims());
  check(!w || w.dtype() == x.dtype(), "nll_loss: expected scalar type ", name_of(x.dtype()), " for weight but found ", w ? name_of(w.dtype()) : "");
  check<ValueError>(reduction == "none" || reduction == "mean" || reduction == "sum", reduction.view(), " is not a valid value for reduction");
  return {Meta(reduction == "none" ? t.sizes() : Dims{}, x.dtype(), x.device()), Meta(Dims{}, x.dtype(), x.device())};
}
Tensors NllLoss::vjp(const Saved& s, const Tensor& dy) const {
  return {Fn<NllLossBackward>()(dy, s.input(1), s.input(2), detach(s.output(1)), s.input_meta(0).sizes, reduction, ignore_index)};
}
Meta NllLossBackward::infer(Inputs in) const { return {input_size, in[0].dtype(), in[0].device()}; }
Tensors NllLossBackward::vjp(const Saved& s, const Tensor& d) const {
  // Linear in grad_output: its gradient is the loss of d itself.
  return {Fn<NllLoss>()(d, s.input(1), s.input(2), reduction, ignore_index)[0]};
}

static const LossOps::Registration ops;

}  // namespace weir
