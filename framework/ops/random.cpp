#include "framework/ops/random.h"

#include "framework/ops/create.h"
#include "framework/ops/pointwise.h"

namespace weir {
namespace {
Meta like(const Tensor& x) { return {x.sizes(), x.dtype(), x.device()}; }
}  // namespace

Meta Uniform::infer(Inputs in) const {
  check(is_floating(in[0].dtype()), "uniform_: not implemented for '", name_of(in[0].dtype()), "'");
  check(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  return like(in[0]);
}
Meta Normal::infer(Inputs in) const {
  check(is_floating(in[0].dtype()), "normal_: not implemented for '", name_of(in[0].dtype()), "'");
  check(std >= 0, "normal expects std >= 0.0, but found std ", std);
  return like(in[0]);
}
Meta RandomInt::infer(Inputs in) const {
  check(low < high, "random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
  return like(in[0]);
}
Meta Bernoulli::infer(Inputs in) const {
  check(is_floating(in[0].dtype()), "bernoulli: expected a floating point tensor of probabilities, got ", name_of(in[0].dtype()));
  return like(in[0]);
}
Tensors Bernoulli::vjp(const Saved&, const Tensor& dy) const { return {Fn<MaskScale>()(dy, full_of(Meta(dy.sizes(), DType::boolean), Scalar(false)), 1.0)}; }
Meta RandPerm::infer(Inputs) const {
  check(n >= 0, "randperm: n must be non-negative, got ", n);
  return {Dims{n}, DType::int64};
}
std::array<Meta, 2> NativeDropout::infer(Inputs in) const {
  return {like(in[0]), Meta(in[0].sizes(), DType::boolean, in[0].device())};
}
Tensors NativeDropout::vjp(const Saved& s, const Tensor& dy) const {
  return {Fn<MaskScale>()(dy, s.output(1), p == 1 ? 0.0 : 1 / (1 - p))};
}
Meta MaskScale::infer(Inputs in) const { return like(in[0]); }
Tensors MaskScale::vjp(const Saved& s, const Tensor& dy) const { return {Fn<MaskScale>()(dy, s.input(1), scale), Tensor()}; }

Tensor Dropout::compose(Inputs in) const {
  check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (!train || p == 0 || in[0].numel() == 0) return in[0];
  return Fn<NativeDropout>()(in[0], p)[0];
}

static const RandomOps::Registration ops;

}  // namespace weir
