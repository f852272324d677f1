#include "framework/ops/masked.h"

#include <algorithm>
#include <cmath>

#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/order.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/scan.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/vector_norm.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// In order; all of them for None and none. As in PyTorch, an axis that is named as it was counted before is refused here, and one named twice from the end
// (or first so) by the op, which `prod` takes one after the other.
Dims axes_of(const std::optional<Dims>& dim, const Tensor& x) {
  Dims axes;
  if (!dim || dim->empty())
    for (int d = 0; d < x.ndim(); d++) axes.push(d);
  else
    for (int64_t d : *dim) {
      check(!axes.contains(d), "dim=", d, " appears multiple times in the list of dims");
      axes.push(wrap_dim(d, x.ndim(), "masked"));
    }
  std::sort(axes.begin(), axes.end());
  return axes;
}
Dims axes_told(const std::optional<Dims>& dim, const Tensor& x) { return dim && dim->empty() ? Dims{} : axes_of(dim, x); }
int64_t first_axis(const std::optional<Dims>& dim, const Tensor& x) {
  const Dims axes = axes_of(dim, x);
  check<IndexError>(!axes.empty(), "masked: expected an axis of a tensor that has none");
  return axes[0];
}

// The mask in x's shape as bool, which numbers become there: PyTorch's layout of what is filled follows it.
Tensor wide(const Tensor& mask, const Tensor& x) {
  check<IndexError>(mask.ndim() <= x.ndim(), "masked: expected a broadcastable mask, got one of more dimensions than the input, ", mask.sizes(), " for ", x.sizes());
  return cast_to(fn::expand(mask, x.sizes()), DType::boolean);
}
Tensor filled_of(const Tensor& x, const Tensor& wide, const Scalar& identity) { return fn::where(wide, x, full_of(Meta({}, x.dtype(), x.device()), identity)); }
// x with `identity` where the mask does not hold.
Tensor filled(const Tensor& x, const Tensor& mask, const Scalar& identity) { return mask ? filled_of(x, wide(mask, x), identity) : x; }

Scalar limit(const Tensor& x, bool highest) {
  const DType t = x.dtype();
  if (is_inexact(t)) return Scalar(highest ? HUGE_VAL : -HUGE_VAL);
  check<NotImplemented>(is_integral(t), "masked: ", name_of(t), " has no least and no largest number");
  const int bits = int(8 * size_of(t)) - !is_unsigned(t);
  const int64_t top = bits >= 63 ? INT64_MAX : (int64_t(1) << bits) - 1;
  return Scalar(highest ? top : is_unsigned(t) ? int64_t(0) : -top - 1);
}
// x with the limit of its dtype where the mask does not hold, whose shape is looked at first. Complex numbers have one only for exponentials, -inf.
Tensor limited(const Tensor& x, const Tensor& mask, bool highest) {
  if (!mask) return x;
  const Tensor m = wide(mask, x);
  check<TypeError>(!is_complex(x.dtype()), "masked: ", name_of(x.dtype()), " has no least and no largest number");
  return filled_of(x, m, limit(x, highest));
}
Tensor at_least(const Tensor& x, const Tensor& mask) { return limited(x, mask, false); }
Tensor at_most(const Tensor& x, const Tensor& mask) { return limited(x, mask, true); }

DType summed_type(const Tensor& x, const std::optional<DType>& told) { return told.value_or(is_inexact(x.dtype()) ? x.dtype() : DType::int64); }
Tensor total(const Tensor& x, const Tensor& mask, const Dims& axes, bool keepdim, DType t) { return fn::sum(filled(x, mask, Scalar(int64_t(0))), axes, keepdim, t); }
// How many elements count, int64, reduced axes kept.
Tensor count_of(const Tensor& x, const Tensor& mask, const Dims& axes) {
  const Tensor counted = mask ? cast_to(wide(mask, x), DType::int64) : full_of(Meta(x.sizes(), DType::int64, x.device()), Scalar(int64_t(1)));
  return fn::sum(counted, axes, true);
}
Tensor norm_of(const Tensor& x, const Tensor& mask, const Scalar& order, const std::optional<Dims>& dim, bool keepdim, const std::optional<DType>& t) {
  const Tensor y = filled(x, mask, order.to_double() == -HUGE_VAL ? Scalar(HUGE_VAL) : Scalar(int64_t(0)));
  return fn::vector_norm(y, order, axes_of(dim, x), keepdim, std::optional<DType>(t.value_or(x.dtype())));
}

}  // namespace

Tensor MaskedSum::compose(Inputs in) const { return total(in[0], in[1], axes_of(dim, in[0]), keepdim.value_or(false), summed_type(in[0], dtype)); }
Tensor MaskedProd::compose(Inputs in) const {
  Tensor r = cast_to(filled(in[0], in[1], Scalar(int64_t(1))), summed_type(in[0], dtype));
  const Dims axes = axes_told(dim, in[0]);  // of no axes there is nothing to multiply
  for (int i = axes.n; i-- > 0;) r = fn::prod(r, axes[i], keepdim.value_or(false));
  return r;
}
Tensor MaskedAmax::compose(Inputs in) const {
  const Tensor x = at_least(in[0], in[1]);
  return cast_to(fn::amax(x, axes_told(dim, x), keepdim.value_or(false)), dtype.value_or(in[0].dtype()));
}
Tensor MaskedAmin::compose(Inputs in) const {
  const Tensor x = at_most(in[0], in[1]);
  return cast_to(fn::amin(x, axes_told(dim, x), keepdim.value_or(false)), dtype.value_or(in[0].dtype()));
}
Tensor MaskedMean::compose(Inputs in) const {
  const DType t = dtype.value_or(in[0].dtype());
  check<ValueError>(is_inexact(t), "mean(): the output dtype must be a floating point one. Got: ", name_of(t));
  const Dims axes = axes_of(dim, in[0]);
  const Tensor sum = total(in[0], in[1], axes, keepdim.value_or(false), summed_type(in[0], dtype));
  return sum / fn::reshape(count_of(in[0], in[1], axes), sum.sizes());
}
Tensor MaskedLogsumexp::compose(Inputs in) const {
  const Tensor x = in[1] && is_complex(in[0].dtype()) ? filled(in[0], in[1], limit(in[0], false)) : at_least(in[0], in[1]);
  return cast_to(fn::logsumexp(x, axes_told(dim, in[0]), keepdim.value_or(false)), dtype.value_or(in[0].dtype()));
}

Tensor MaskedCumsum::compose(Inputs in) const { return fn::cumsum(filled(in[0], in[1], Scalar(int64_t(0))), first_axis(dim, in[0]), dtype.value_or(in[0].dtype())); }
Tensor MaskedCumprod::compose(Inputs in) const { return fn::cumprod(filled(in[0], in[1], Scalar(int64_t(1))), first_axis(dim, in[0]), dtype.value_or(in[0].dtype())); }
Tensor MaskedSoftmax::compose(Inputs in) const { return fn::softmax(at_least(in[0], in[1]), first_axis(dim, in[0]), dtype.value_or(in[0].dtype())); }
Tensor MaskedLogSoftmax::compose(Inputs in) const { return fn::log_softmax(at_least(in[0], in[1]), first_axis(dim, in[0]), dtype.value_or(in[0].dtype())); }
Tensor MaskedSoftmin::compose(Inputs in) const { return fn::softmax(-at_most(in[0], in[1]), first_axis(dim, in[0]), dtype.value_or(in[0].dtype())); }

Tensor MaskedArgmax::compose(Inputs in) const {
  return cast_to(fn::argmax(at_least(in[0], in[1]), dim, keepdim.value_or(false)), dtype.value_or(in[0].dtype()));
}
Tensor MaskedArgmin::compose(Inputs in) const {
  return cast_to(fn::argmin(at_most(in[0], in[1]), dim, keepdim.value_or(false)), dtype.value_or(in[0].dtype()));
}

Tensor MaskedNorm::compose(Inputs in) const { return norm_of(in[0], in[1], ord, dim, keepdim.value_or(false), dtype); }
Tensor MaskedNormalize::compose(Inputs in) const {
  const Tensor scale = norm_of(in[0], in[1], ord, dim, true, dtype);
  return filled(in[0], in[1], Scalar(int64_t(0))) / fn::maximum(scale, full_of(Meta({}, scale.dtype(), scale.device()), Scalar(eps)));
}

Tensor MaskedSpread::variance(Inputs in) const {
  check<AssertionError>(!unbiased || !correction, "Only one of unbiased and correction may be given");
  const Tensor& x = in[0];
  const double less = correction ? *correction : unbiased.value_or(true);
  const DType t = dtype.value_or(is_inexact(x.dtype()) ? x.dtype() : DType::float32);
  const Dims axes = axes_of(dim, x);
  Tensor count = count_of(x, in[1], axes);
  const Tensor centred = x - total(x, in[1], axes, true, t) / count;
  const Tensor squares = total(centred * conj(centred), in[1], axes, keepdim.value_or(false), is_inexact(t) ? t : DType::float32);
  count = fn::reshape(count, squares.sizes());
  if (less != 0) count = fn::clamp(cast_to(count, real_type(squares.dtype())) - less, std::optional<Scalar>(Scalar(int64_t(0))));
  return cast_to(squares / count, t);
}
Tensor MaskedVar::compose(Inputs in) const { return variance(in); }
Tensor MaskedStd::compose(Inputs in) const { return fn::sqrt(variance(in)); }

Tensor MaskedMedian::compose(Inputs in) const {
  const bool whole = !is_floating(in[0].dtype());
  const Tensor x = whole ? cast_to(in[0], DType::float32) : in[0];
  const Tensor r = fn::nanmedian(filled(x, in[1], Scalar(std::nan(""))), first_axis(dim, x), keepdim)[0];
  if (!whole) return r;
  return cast_to(fn::check_true(r, fn::logical_not(fn::isnan(r)), Str("masked.median"), Str("a row of integers is masked out"), Str("ValueError")), dtype.value_or(in[0].dtype()));
}
Tensor MaskedLogaddexp::compose(Inputs in) const {
  const Tensor x = at_least(in[0], in[2]), y = at_least(in[1], in[3]);
  return cast_to(fn::logaddexp(x, y), dtype.value_or(in[0].dtype()));
}

static const MaskedOps::Registration ops;

}  // namespace weir
