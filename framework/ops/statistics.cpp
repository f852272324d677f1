#include "framework/ops/statistics.h"

#include <algorithm>
#include <limits>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/functional.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

void check_matrix(const char* op, const Tensor& x) {
  check(x.ndim() <= 2, op, "(): expected input to have two or fewer dimensions but got an input with ", x.ndim(), " dimensions");
}

/// `w` as it is. RuntimeError unless it holds a number of the right kind for each observation, none negative.
Tensor checked_weights(const char* name, const Tensor& w, bool whole, int64_t observations) {
  check(w.ndim() <= 1, "cov(): expected ", name, " to have one or fewer dimensions but got ", name, " with ", w.ndim(), " dimensions");
  check(whole ? is_integral(w.dtype()) && w.dtype() != DType::boolean : is_floating(w.dtype()), "cov(): expected ", name, " to have ",
        whole ? "integral" : "floating point", " dtype but got ", name, " with ", name_of(w.dtype()), " dtype");
  check(w.numel() == observations, "cov(): expected ", name, " to have the same numel as there are observations in the input but got ",
        w.numel(), " != ", observations);
  return fn::check_range(w, 0.0, std::numeric_limits<double>::infinity(), Str(name));
}

}  // namespace

// In PyTorch's order of operations: where gradients cancel, another order leaves other remainders.
Tensor Cov::compose(Inputs in) const {
  check_matrix("cov", in[0]);
  check(in[0].dtype() != DType::boolean, "cov(): bool dtype is not supported for input");
  const Tensor x = in[0].ndim() < 2 ? fn::view(in[0], Dims{1, -1}) : in[0];
  const int64_t observations = x.size(1);
  Tensor w, aweights;
  if (in[1]) w = checked_weights("fweights", in[1], true, observations);
  if (in[2]) aweights = checked_weights("aweights", in[2], false, observations), w = w ? w * aweights : aweights;

  const Tensor total = w ? fn::check_nonzero(fn::sum(w), "cov(): the weights' sum") : num(observations);
  // Of one observation a weight changes no mean: PyTorch leaves it out, also out of the dtype.
  const Tensor mean = w && observations != 1 ? fn::sum(x * w, Dims{1}) / total : fn::sum(x, Dims{1}) / num(observations);
  const Tensor centred = x - fn::unsqueeze(mean, int64_t(1));
  const Tensor taken = num(correction);
  Tensor divisor = total - (aweights && correction != 0 ? taken * fn::sum(w * aweights) / total : taken);
  if (w ? !mode.recorder && !divisor.is_meta() && item(divisor).to_double() <= 0 : observations <= correction)
    warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.");
  divisor = fn::where(divisor <= 0.0, num(int64_t(0)), divisor);
  const Tensor products = fn::mm(centred, conj(fn::transpose(w ? centred * w : centred, int64_t(0), int64_t(1))));
  return fn::squeeze(products / divisor);
}

Tensor Corrcoef::compose(Inputs in) const {
  check_matrix("corrcoef", in[0]);
  Tensor c = fn::cov(in[0]);
  if (c.ndim() == 0) return c / c;
  Tensor variance = fn::diagonal(c), deviation = fn::sqrt(is_complex(c.dtype()) ? fn::real(variance) : variance);
  c = c / fn::unsqueeze(deviation, int64_t(1)) / fn::unsqueeze(deviation, int64_t(0));
  // Rounding may lead out of [-1, 1].
  auto bounded = [](const Tensor& t) { return fn::clamp(t, Scalar(-1), Scalar(1)); };
  return is_complex(c.dtype()) ? fn::complex(bounded(fn::real(c)), bounded(fn::imag(c))) : bounded(c);
}

static const StatisticsOps::Registration ops;

}  // namespace weir
