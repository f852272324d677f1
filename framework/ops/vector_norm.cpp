#include "framework/ops/vector_norm.h"

#include <algorithm>
#include <cmath>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/activation.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/straight_through.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

constexpr const char* kName = "linalg.vector_norm";

// A norm, or its gradient, with the reduced axes back in their places.
Tensor restored(Tensor t, AxisSet axes, bool keepdim, int ndim) {
  for (int d = 0; d < ndim && !keepdim; d++)
    if (axes >> d & 1) t = fn::unsqueeze(t, int64_t(d));
  return t;
}

// Complex numbers whose parts went through dtype `t`, in a dtype that has absolute values.
Tensor wide_complex(const Tensor& x, DType t) {
  if (t == DType::float64) return cast_to(x, DType::complex128);
  return t == DType::float16 ? cast_to(cast_to(x, DType::complex32), DType::complex64) : x;
}

}  // namespace

Tensor widened_for_norm(const char* op, const Tensor& x, DType dtype) {
  check(is_inexact(dtype), op, ": dtype should be floating point or complex, but got ", name_of(dtype));
  check(is_complex(x.dtype()) || !is_complex(dtype), op, ": dtype should be real for real inputs, but got ", name_of(dtype));
  check(promote_types(x.dtype(), dtype) == dtype, op, ": the dtype of the input (", name_of(x.dtype()),
        ") should be convertible without narrowing to the specified dtype (", name_of(dtype), ")");
  return cast_to(x, dtype);
}

Meta PowerNorm::infer(Inputs in) const {
  return {reduced_sizes(in[0].sizes(), reduced_axes(kName, dim, in[0].ndim()), keepdim), in[0].dtype(), in[0].device()};
}

// Source: PyTorch's norm_backward.
Tensors PowerNorm::vjp(const Saved& s, const Tensor& dy) const {
  if (p == 0) {  // none, not zeros, but what is saved must not have been written to: as in PyTorch
    s.output();
    return {};
  }
  Tensor x = s.input(0);
  AxisSet axes = reduced_axes(kName, dim, x.ndim());
  Tensor norm = restored(s.output(), axes, keepdim, x.ndim()), g = restored(dy, axes, keepdim, x.ndim());
  Tensor size = fn::abs(x);
  auto to = [](const Tensor& t, double by) { return fn::pow(t, by); };
  if (p < 1) return {fn::masked_fill(fn::sgn(x) * to(size, p - 1), fn::eq(x, num(0.0)), 0.0) * g * to(norm, 1 - p)};
  Tensor scaled = p < 2 ? fn::sgn(x) * to(size, p - 1) : x * to(size, p - 2);
  return {scaled * fn::masked_fill(g / to(norm, p - 1), fn::eq(norm, num(0.0)), 0.0)};
}

Tensor PowerSum::compose(Inputs in) const {
  const std::optional<Dims> axes = dim && !dim->empty() ? dim : std::nullopt;
  const AxisSet mask = reduced_axes("linalg._powsum", axes, in[0].ndim());
  bool single = true;  // of which PyTorch casts the number first, and takes its size then
  for (int d = 0; d < in[0].ndim(); d++) single = single && (!(mask >> d & 1) || in[0].sizes()[d] == 1);
  const bool sizes_only = dtype && is_floating(*dtype) && is_complex(in[0].dtype()) && !single;
  const Tensor x = !dtype ? in[0] : sizes_only ? cast_to(fn::abs(wide_complex(in[0], *dtype)), *dtype) : cast_to(in[0], *dtype);
  check<NotImplemented>(is_inexact(x.dtype()), "linalg._powsum: not implemented for '", name_of(x.dtype()), "'");
  const Tensor size = fn::abs(x), wide = in_single(size);
  const Tensor r = cast_to(fn::sum(fn::pow(wide, ord.to_double()), axes, keepdim), size.dtype());
  return is_differentiated(in[0]) ? fn::underived(detach(r), Tensors{in[0]}, Str("linalg__powsum")) : r;
}

namespace {
Tensor extreme(const Tensor& size, double p, const Dims& axes, bool keepdim) {
  auto reduced = [&](const Tensor& x, bool keep) { return p > 0 ? fn::amax(x, axes, keep) : fn::amin(x, axes, keep); };
  if (!is_differentiated(size)) return reduced(size, keepdim);
  const Tensor norm = fn::extreme_of(reduced(detach(size), true), size);
  return keepdim ? norm : fn::squeeze(norm, axes);
}
}  // namespace

Tensor VectorNorm::compose(Inputs in) const {
  Tensor x = in[0];
  check(is_inexact(x.dtype()), kName, ": Expected a floating point or complex tensor as input. Got ", name_of(x.dtype()));
  if (dtype) x = widened_for_norm(kName, x, *dtype);
  const double p = ord.to_double();
  AxisSet mask = reduced_axes(kName, dim && !dim->empty() ? dim : std::nullopt, x.ndim());
  Dims axes;
  for (int d = 0; d < x.ndim(); d++)
    if (mask >> d & 1) axes.push(d);
  // Source: PyTorch, whose norm of single numbers is their size, whatever the power, but has the gradient of a norm.
  bool single = p != 0 && x.numel() > 0 && x.ndim() > 0 && x.dtype() != DType::complex32 && !is_differentiated(x);
  for (int64_t d : axes) single &= x.sizes()[int(d)] == 1;
  if (single) return row_major_of(keepdim ? fn::abs(x) : fn::squeeze(fn::abs(x), axes));
  if (p == 2) return fn::norm2(x, axes, keepdim);
  // Powers are beyond them where the norm is not.
  if (is_reduced(x.dtype())) return cast_to(fn::vector_norm(cast_to(x, DType::float32), ord, axes, keepdim), x.dtype());
  if (x.dtype() == DType::complex32) return cast_to(fn::vector_norm(cast_to(x, DType::complex64), ord, axes, keepdim), DType::float16);
  if (is_complex(x.dtype()) || x.ndim() == 0 || std::isinf(p) || p == 1) {
    // Source: PyTorch, which compares single elements with zero in their own dtype.
    if (p == 0 && (x.ndim() > 0 || !dim || dim->empty()) && std::all_of(axes.begin(), axes.end(), [&](int64_t d) { return x.sizes()[int(d)] == 1; }))
      warn_of_lost_parts(x.dtype(), real_type(x.dtype()), x.numel());
    Tensor size = fn::abs(x);
    if (x.ndim() == 0) return p == 0 || std::isnan(p) ? fn::power_norm(size, p, axes, keepdim) : size;
    bool empty = false;
    for (int64_t d : axes) empty |= x.sizes()[int(d)] == 0;
    check(!empty || !std::isinf(p), kName, " cannot compute the ", p, " norm on an empty tensor because the operation does not have an identity");
    if (std::isinf(p)) return extreme(size, p, axes, keepdim);
    if (p == 1) return fn::sum(size, axes, keepdim);
    x = size;
  }
  bool empty = false;
  for (int64_t d : axes) empty |= x.sizes()[int(d)] == 0;
  if (empty && std::isnan(p)) return fn::power_norm(x, 2.0, axes, keepdim);  // of nothing there is no NaN, as in PyTorch
  check(!empty || p >= 0, kName, " cannot compute the ", p, " norm on an empty tensor because the operation does not have an identity");
  return fn::power_norm(x, p, axes, keepdim);
}

Tensor PairwiseDistance::compose(Inputs in) const {
  return fn::vector_norm(in[0] - in[1] + eps, Scalar(p), Dims{-1}, keepdim);
}

Tensor CosineSimilarity::compose(Inputs in) const {
  const Dims sizes = broadcast("cosine_similarity", in[0].sizes(), in[1].sizes());
  const Tensor both[2] = {fn::expand(in[0], sizes), fn::expand(in[1], sizes)};  // first, so that a tensor without axes has its say in the dtype
  const DType type = result_type(both);
  check(is_floating(type), "expected common dtype to be floating point, yet common dtype is ", name_of(type));
  check_held(Held::wide, eps, type);
  check(eps >= 0, "eps must be non-negative, got: ", eps);
  auto unit = [&](const Tensor& t) {  // in its own precision
    Tensor x = is_floating(t.dtype()) ? t : cast_to(t, type), norm = fn::norm2(x, Dims{dim}, true), fixed = detach(norm);
    // As in PyTorch, the clamp passes the gradient of the norm, which may be infinite.
    return x / (norm + fn::clamp(std::min(eps, largest_number(x.dtype())) - fixed, Scalar(0.0)));
  };
  return fn::sum(unit(both[0]) * unit(both[1]), Dims{dim});
}

static const VectorNormOps::Registration ops;

}  // namespace weir
