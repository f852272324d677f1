#include "framework/ops/ctc.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {

std::array<Meta, 2> CtcLoss::infer(Inputs in) const {
  const Tensor &x = in[0], &targets = in[1];
  check(x.ndim() == 3, "ctc_loss: log_probs must be (T, N, C), got ", x.sizes());
  check<NotImplemented>(x.dtype() == DType::float32 || x.dtype() == DType::float64, "ctc_loss: not implemented for '", name_of(x.dtype()), "'");
  const int64_t n = x.size(1);
  check(blank >= 0 && blank < x.size(2), "ctc_loss: blank must be in label range [0, ", x.size(2), "), got ", blank);
  check(targets.ndim() == 1 || (targets.ndim() == 2 && targets.size(0) == n), "ctc_loss: targets must be 1-d or (", n, ", S), got ", targets.sizes());
  for (int i = 1; i < 4; i++)
    check(in[i].dtype() == DType::int64, "ctc_loss: targets and lengths must be int64, got ", name_of(in[i].dtype()));
  check(in[2].ndim() == 1 && in[2].numel() == n, "ctc_loss: input_lengths must be of size batch_size, expected ", n, ", got ", in[2].sizes());
  check(in[3].ndim() == 1 && in[3].numel() == n, "ctc_loss: target_lengths must be of size batch_size, expected ", n, ", got ", in[3].sizes());
  // No target is longer than all of them.
  const int64_t longest = targets.ndim() == 2 ? targets.size(1) : targets.size(0);
  return {Meta(Dims{n}, x.dtype(), x.device()), Meta(Dims{n, x.size(0), checked_add(checked_mul(2, longest), 1)}, DType::float64, x.device())};
}
Tensors CtcLoss::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::ctc_loss_backward(dy, s.input(0), s.input(1), s.input(2), s.input(3), detach(s.output(0)), detach(s.output(1)), blank, zero_infinity)};
}
Meta CtcLossBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }

Tensor CtcLossReduced::compose(Inputs in) const {
  auto lengths = [](const char* name, const Tensor& t) {
    check(is_integral(t.dtype()) && t.dtype() != DType::boolean, name, " must be integral");
    return fn::reshape(cast_to(t, DType::int64), Dims{-1});
  };
  const Tensor input_lengths = lengths("input_lengths", in[2]), target_lengths = lengths("target_lengths", in[3]);
  const bool batched = in[0].ndim() == 3;
  const Tensor x = batched ? in[0] : fn::unsqueeze(in[0], int64_t(1));
  const Tensor loss = fn::ctc_loss_forward(x, cast_to(in[1], DType::int64), input_lengths, target_lengths, blank, zero_infinity)[0];
  if (reduction == 1) return fn::mean(loss / cast_to(fn::clamp(target_lengths, Scalar(1)), loss.dtype()));
  if (reduction == 2) return fn::sum(loss);
  return batched ? loss : fn::squeeze(loss, Dims{0});
}

static const CtcOps::Registration ops;

}  // namespace weir
