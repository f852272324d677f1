#include "framework/ops/summary.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/plain.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/vector_norm.h"
#include "framework/ops/view.h"

namespace weir {

Tensor Nanmean::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(is_inexact(x.dtype()), "nanmean(): expected input to have floating point or complex dtype but got ", name_of(x.dtype()));
  check(!dtype || is_inexact(*dtype), "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
        "dtype. Got: ", name_of(dtype.value_or(x.dtype())));
  return fn::nansum(x, dim, keepdim, dtype) / fn::sum(fn::logical_not(fn::isnan(x)), dim, keepdim);
}

Tensor CountNonzero::compose(Inputs in) const {
  const Tensor& x = in[0];
  // Truths of single bytes are added up as they are; wider numbers would first become bytes.
  if (!dim && size_of(x.dtype()) > 1 && !x.is_batched()) return fn::nonzeros_of_all(x);
  return fn::sum(fn::ne(x, num(int64_t(0))), dim);
}

std::array<Meta, 2> ExtremesOfAll::infer(Inputs in) const {
  const Meta one(Dims{}, in[0].dtype(), in[0].device());
  return {one, one};
}

Tensors Aminmax::compose(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(!is_complex(x.dtype()), "aminmax: not implemented for '", name_of(x.dtype()), "'");
  check(dim || x.numel(), "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  Dims axes;
  if (dim) axes.push(*dim);
  else for (int d = 0; d < x.ndim(); d++) axes.push(d);
  if (!dim && is_plain(in)) {
    auto [least, most] = fn::extremes_of_all(x);
    if (!keepdim) return {least, most};
    const Dims ones(x.ndim(), 1);
    return {fn::reshape(least, ones), fn::reshape(most, ones)};
  }
  return {fn::amin(x, axes, keepdim), fn::amax(x, axes, keepdim)};
}

Tensor Dist::compose(Inputs in) const { return fn::vector_norm(in[0] - in[1], p); }

Tensor Renorm::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(p.to_double() > 0, "renorm: non-positive-norm not supported, got p = ", p.to_double());
  check(maxnorm.to_double() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.to_double());
  check(x.ndim() >= 2, "renorm: input needs at least 2 dimensions, got ", x.ndim(), " dimensions");
  const int64_t kept = wrap_dim(dim, x.ndim(), "renorm");
  Dims axes;
  for (int64_t d = 0; d < x.ndim(); d++)
    if (d != kept) axes.push(d);
  const DType wide = is_reduced(x.dtype()) ? DType::float32 : x.dtype();  // half precision has no 1e-7 beside a norm
  const Tensor most = wrapped_number(maxnorm);
  auto norms = [&](const Tensor& t) { return fn::vector_norm(t, p, std::optional<Dims>(axes), true, std::optional<DType>(wide)); };
  const Tensor lengths = norms(detach(x)), within = fn::logical_not(lengths > most);
  if (!is_differentiated(x) && !is_complex(x.dtype()))  // a complex infinity times 1 is another
    return row_major_of(x * fn::where(within, 1.0, cast_to(most / (lengths + 1e-7), x.dtype())));
  // What stays as it is has no part in the norms that are differentiated: those of NaN or zeros would give NaN times zero.
  const Tensor scaled = fn::masked_fill(x, within, 0.0);
  return row_major_of(fn::where(within, x, scaled * cast_to(most / (norms(scaled) + 1e-7), x.dtype())));
}

static const SummaryOps::Registration ops;

}  // namespace weir
