#include "framework/ops/feature_dropout.h"

#include <cmath>

#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/like.h"
#include "framework/ops/random.h"

namespace weir {
namespace {

// Minus the value a self-normalising network saturates at: scale * alpha of selu.
constexpr double kAlpha = 1.7580993408473766;

/// Whether there is nothing to draw. RuntimeError for a p that is no probability.
bool kept(const Tensor& x, double p, bool train) {
  check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  return !train || p == 0 || x.numel() == 0;
}

// What is scaled or shifted by a fraction cannot be whole.
void check_fractions(const Tensor& x) {
  check(is_inexact(x.dtype()), "result type float32 can't be cast to the desired output type ", name_of(x.dtype()));
}

/// Where everything is dropped.
Tensor dropped(const Tensor& x) { return cast_to(x * num(int64_t(0)), x.dtype()); }

/// A draw for each place of the first two axes.
Tensor drawn_by_feature(const Tensor& x, double keep) {
  check(x.ndim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  Dims sizes(x.ndim(), 1);
  for (int i = 0; i < 2; i++) sizes[i] = x.sizes()[i];
  Tensor noise = unfilled({sizes, x.dtype(), x.device()});
  fn::bernoulli_fill.inplace(noise, keep);
  return noise;
}

/// x where the noise is 1 and -kAlpha where it is 0, scaled and shifted back to the mean and variance of x.
Tensor shifted(const Tensor& x, const Tensor& noise, double p) {
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  return x * (noise * a) + ((noise + num(int64_t(-1))) * (kAlpha * a) + kAlpha * a * p);
}

}  // namespace

Tensor FeatureDropout::compose(Inputs in) const {
  if (kept(in[0], p, train)) return in[0];
  if (p == 1) return dropped(in[0]);
  check_fractions(in[0]);
  return in[0] * (drawn_by_feature(in[0], 1 - p) / (1 - p));
}

Tensor AlphaDropout::compose(Inputs in) const {
  if (kept(in[0], p, train)) return in[0];
  if (p == 1) return dropped(in[0]);
  check_fractions(in[0]);
  Tensor noise = unfilled(with_strides(like(in[0]), in[0]));
  fn::bernoulli_fill.inplace(noise, 1 - p);
  return shifted(in[0], noise, p);
}

Tensor FeatureAlphaDropout::compose(Inputs in) const {
  if (kept(in[0], p, train)) return in[0];
  if (p == 1) return dropped(in[0]);
  check_fractions(in[0]);
  return shifted(in[0], drawn_by_feature(in[0], 1 - p), p);
}

static const FeatureDropoutOps::Registration ops;

}  // namespace weir
