#include "framework/ops/sampler.h"

#include <limits>

#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/gamma.h"
#include "framework/ops/index.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {

Meta Poisson::infer(Inputs in) const {
  check<NotImplemented>(is_floating(in[0].dtype()), "\"poisson_cpu\" not implemented for '", name_of(in[0].dtype()), "'");
  return {in[0].sizes(), in[0].dtype(), in[0].device()};
}
Tensors Poisson::vjp(const Saved&, const Tensor& dy) const { return {zeros_of(Meta(dy.sizes(), dy.dtype(), dy.device()))}; }

Meta StandardGamma::infer(Inputs in) const {
  check<NotImplemented>(is_floating(in[0].dtype()), "\"gamma_cpu\" not implemented for '", name_of(in[0].dtype()), "'");
  return {in[0].sizes(), in[0].dtype(), in[0].device()};
}
Tensors StandardGamma::vjp(const Saved& s, const Tensor& dy) const { return {dy * fn::standard_gamma_grad(s.input(0), s.output())}; }

Meta MovingShares::infer(Inputs in) const { return {in[0].sizes(), in[1].dtype(), in[0].device()}; }
Tensors MovingShares::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor a = s.input(0), x = s.input(1);
  return {fn::dirichlet_grad(x, a, fn::sum(a, Dims{-1}, true)) * (dy - fn::sum(x * dy, Dims{-1}, true)), Tensor()};
}

// In double precision, and away from 0 and 1, which most draws of small concentrations round to. Source: PyTorch's sampler.
Tensor SampleDirichlet::compose(Inputs in) const {
  const Tensor a = detach(in[0]);
  check<NotImplemented>(is_floating(a.dtype()), "\"dirichlet\" not implemented for '", name_of(a.dtype()), "'");
  const Tensor g = fn::clamp(fn::standard_gamma(cast_to(a, DType::float64), generator), least_normal(DType::float64), std::nullopt);
  const Tensor shares = fn::clamp(cast_to(g / fn::sum(g, Dims{-1}, true), a.dtype()), least_normal(a.dtype()), 1 - epsilon_of(a.dtype()) / 2);
  return fn::moving_shares(in[0], shares);
}

Meta Binomial::infer(Inputs in) const {
  check<ValueError>(is_floating(in[0].dtype()), "binomial only supports floating-point dtypes for count, got: ", name_of(in[0].dtype()));
  check<ValueError>(is_floating(in[1].dtype()), "binomial only supports floating-point dtypes for prob, got: ", name_of(in[1].dtype()));
  check(in[0].dtype() == in[1].dtype(), "Found dtype ", name_of(in[1].dtype()), " but expected ", name_of(in[0].dtype()));
  check<NotImplemented>(!is_reduced(in[0].dtype()), "binomial: not implemented for ", name_of(in[0].dtype()));
  Meta m(broadcast("binomial", in[0].sizes(), in[1].sizes()), in[0].dtype(), in[0].device());
  if (in[0].sizes() == m.sizes) return m;
  // Source: PyTorch, which makes a result of count's shape and lets the loop over both resize it.
  warn_of_resize(in[0].sizes(), m.sizes);
  m.strides = pointwise_meta("binomial(", Rule::promote, in).strides;
  return m;
}

Meta MultinomialDraws::infer(Inputs in) const { return {Dims{in[0].size(0), num_samples}, DType::int64, in[0].device()}; }

constexpr int64_t kMostCategories = 1 << 24;  // beyond, float32 has no number for each. Source: PyTorch
// Without a warning, as of all that is drawn.
void Multinomial::take_out(Inputs in, const Tensor& out) const {
  if (num_samples < 1 || in[0].ndim() < 1 || in[0].ndim() > 2) return;  // refused later
  const Dims sizes = in[0].ndim() == 1 ? Dims{num_samples} : Dims{in[0].size(0), num_samples};
  if (!(out.sizes() == sizes)) resize(out, sizes);
}
Tensor Multinomial::compose(Inputs in) const {
  const Tensor x = detach(in[0]);
  check(x.ndim() == 1 || x.ndim() == 2, "multinomial: prob_dist must be 1 or 2 dim, got ", x.ndim());
  check(is_floating(x.dtype()), "multinomial only supports floating-point dtypes for input, got: ", name_of(x.dtype()));
  check(num_samples > 0, "multinomial: cannot sample n_sample <= 0 samples, got ", num_samples);
  check(x.size(-1) <= kMostCategories, "multinomial: number of categories cannot exceed 2^24, got ", x.size(-1));
  check(replacement || num_samples <= x.size(-1), "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement, got ",
        num_samples, " and ", x.size(-1));
  const Tensor p = fn::check_range(x, 0.0, std::numeric_limits<double>::max(), Str("multinomial: a probability"));
  fn::check_nonzero(fn::sum(p, Dims{-1}), Str("the probabilities' sum"));
  if (replacement && num_samples > 1) {
    const Tensor drawn = fn::multinomial_draws(x.ndim() == 1 ? fn::unsqueeze(p, int64_t(0)) : p, num_samples, generator);
    return x.ndim() == 1 ? fn::reshape(drawn, Dims{-1}) : drawn;
  }
  // The largest of p / exponential is a draw from p; the k largest are draws without replacement.
  const Tensor odds = p / fn::drawn_fill(p, Str("exponential"), 1.0, 0.0, generator);
  return num_samples == 1 ? fn::argmax(odds, std::optional<int64_t>(-1), true) : fn::topk(odds, num_samples)[1];
}

static const SamplerOps::Registration ops;

}  // namespace weir
