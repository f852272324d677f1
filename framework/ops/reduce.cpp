#include "framework/ops/reduce.h"

#include <algorithm>
#include <cmath>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/known.h"
#include "framework/ops/scan.h"
#include "framework/ops/scatter.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

AxisSet reduced_axes(const char* op, const std::optional<Dims>& dim, int ndim) {
  if (!dim || dim->empty()) return first_axes(ndim);
  AxisSet mask = 0;
  for (int64_t d : *dim) {
    int k = wrap_dim(d, ndim, op);
    check(!(mask >> k & 1), op, ": dim ", k, " appears multiple times in the list of dims");
    mask |= axis_bit(k);
  }
  return ndim ? mask : 0;
}

Dims reduced_sizes(const Dims& sizes, AxisSet axes, bool keepdim) {
  Dims out;
  for (int i = 0; i < sizes.n; i++) {
    if (!(axes >> i & 1)) out.push(sizes[i]);
    else if (keepdim) out.push(1);
  }
  return out;
}

namespace {

DType sum_type(const std::optional<DType>& asked, const Tensor& x) {
  const DType have = x.dtype();
  if (asked) warn_of_lost_parts(have, *asked, x.numel());
  return asked ? *asked : is_inexact(have) ? have : DType::int64;
}

Meta reduced(const char* op, const Tensor& x, const std::optional<Dims>& dim, bool keepdim, DType t) {
  return {reduced_sizes(x.sizes(), reduced_axes(op, dim, x.ndim()), keepdim), t, x.device()};
}

// A reduced tensor with the reduced axes back as 1, so that it broadcasts against the input.
Tensor restore(const Tensor& t, const std::optional<Dims>& dim, bool keepdim, int ndim) {
  if (keepdim || ndim == 0) return t;
  AxisSet axes = reduced_axes("reduce", dim, ndim);
  Dims sizes;
  for (int i = 0, k = 0; i < ndim; i++) sizes.push(axes >> i & 1 ? 1 : t.sizes()[k++]);
  return reshape(t, sizes);
}

Tensor spread(const Saved& s, const Tensor& dy, const std::optional<Dims>& dim, bool keepdim) {
  const Dims& sizes = s.input_meta(0).sizes;
  return expand(restore(dy, dim, keepdim, sizes.n), sizes);
}

void check_not_empty(const char* op, const Tensor& x, AxisSet axes) {
  for (int i = 0; i < x.ndim(); i++)
    check<IndexError>(!(axes >> i & 1) || x.sizes()[i] > 0, op, "(): Expected reduction dim ", i, " to have non-zero size.");
}

Meta extreme_meta(const char* op, const Tensor& x, const std::optional<Dims>& dim, bool keepdim) {
  if (x.numel() == 0) {
    check(dim && !dim->empty(), op, "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
          "with the 'dim' argument.");
    for (int64_t d : *dim) check_not_empty(op, x, axis_bit(wrap_dim(d, x.ndim(), op)));  // before it matters whether they repeat
  }
  AxisSet axes = reduced_axes(op, dim, x.ndim());
  return {reduced_sizes(x.sizes(), axes, keepdim), x.dtype(), x.device()};
}

Tensors extreme_vjp(const Saved& s, const Tensor& dy, const std::optional<Dims>& dim, bool keepdim) {
  Tensor x = s.input(0);
  Tensor equal = fn::eq(x, restore(s.output(), dim, keepdim, x.ndim()));
  Dims all = dim.value_or(Dims{});
  if (all.empty()) for (int i = 0; i < x.ndim(); i++) all.push(i);
  Tensor count = x.ndim() ? sum(equal, all, true) : sum(equal);
  return {cast_to(equal, dy.dtype()) * (restore(dy, dim, keepdim, x.ndim()) / count)};
}

// Source: PyTorch's evenly_distribute_backward; unlike that of amax, NaN counts as equal to NaN.
Tensors chosen_vjp(const Saved& s, const Tensor& dy) {
  Tensor x = s.input(0), y = s.output();
  Tensor chosen = fn::logical_or(fn::eq(x, y), fn::logical_and(isnan(x), isnan(y)));
  return {where(chosen, dy / sum(chosen), num(0.0))};
}

Meta arg_meta(const char* op, const Tensor& x, std::optional<int64_t> dim, bool keepdim) {
  std::optional<Dims> dims;
  if (dim) dims = Dims{*dim};
  check(!is_complex(x.dtype()), op, "(): does not support complex input");
  check(x.dtype() != DType::boolean, op, "(): does not support bool input");
  AxisSet axes = reduced_axes(op, dims, x.ndim());
  if (dim) check_not_empty(op, x, axes);
  else check<IndexError>(x.numel() > 0, op, "(): Expected reduction dim to be specified for input.numel() == 0. "
                         "Specify the reduction dim with the 'dim' argument.");
  return {reduced_sizes(x.sizes(), axes, keepdim), DType::int64, x.device()};
}

std::array<Meta, 2> with_index_meta(const char* op, const Tensor& x, int64_t dim, bool keepdim) {
  AxisSet axes = reduced_axes(op, Dims{dim}, x.ndim());
  check_not_empty(op, x, axes);
  Dims sizes = reduced_sizes(x.sizes(), axes, keepdim);
  return {Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
}

Tensor truth(const Tensor& x) { return x.dtype() == DType::boolean ? x : fn::ne(x, num(int64_t(0))); }

// any and all are max and min of truth; over nothing they are False and True.
Tensor truth_reduce(const char* op, const Tensor& x, const std::optional<Dims>& dim, bool keepdim, bool any) {
  DType out = x.dtype() == DType::uint8 ? DType::uint8 : DType::boolean;
  AxisSet axes = dim && dim->empty() ? 0 : reduced_axes(op, dim, x.ndim());  // no axes named: none, unlike sum
  Dims sizes = reduced_sizes(x.sizes(), axes, keepdim), list;
  if (x.numel() == 0) return full_of(Meta(sizes, out, x.device()), Scalar(!any));
  for (int i = 0; i < x.ndim(); i++)
    if (axes >> i & 1) list.push(i);
  Tensor t = truth(x);
  if (list.empty()) return fn::clone(cast_to(t, out), std::optional(MemoryFormat::contiguous));
  return cast_to(any ? amax(t, list, keepdim) : amin(t, list, keepdim), out);
}

}  // namespace

Tensor sum_to(const Tensor& t, const Dims& sizes) {
  if (t.sizes() == sizes) return t;
  int lead = t.ndim() - sizes.n;
  Dims axes;
  for (int i = 0; i < lead; i++) axes.push(i);
  for (int i = 0; i < sizes.n; i++)
    if (sizes[i] == 1 && t.sizes()[lead + i] != 1) axes.push(lead + i);
  Tensor r = axes.empty() ? t : sum(t, axes, true);
  return r.ndim() == sizes.n ? r : reshape(r, sizes);
}

Meta Sum::infer(Inputs in) const { return reduced("sum", in[0], dim, keepdim, sum_type(dtype, in[0])); }
Tensors Sum::vjp(const Saved& s, const Tensor& dy) const { return {spread(s, dy, dim, keepdim)}; }

Meta Nansum::infer(Inputs in) const {
  const Meta m = reduced("nansum", in[0], dim, keepdim, sum_type(dtype, in[0]));
  check(!is_complex(in[0].dtype()), "nansum on CPU does not support complex inputs");
  check<NotImplemented>(!is_complex(m.dtype), "\"nansum_cpu\" not implemented for '", name_of(m.dtype), "'");
  return m;
}
void Nansum::take_out(Inputs in, const Tensor& out) {
  check<NotImplemented>(!is_inexact(in[0].dtype()) || is_inexact(out.dtype()), "\"nansum_cpu\" not implemented for '", name_of(out.dtype()), "'");
}
Tensors Nansum::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0);
  return {where(isnan(x), num(0.0), spread(s, dy, dim, keepdim))};
}

Meta Mean::infer(Inputs in) const {
  DType t = dtype.value_or(in[0].dtype());
  warn_of_lost_parts(in[0].dtype(), t, in[0].numel());
  check(is_inexact(t), "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
        "dtype. Got: ", name_of(t));
  return reduced("mean", in[0], dim, keepdim, t);
}
void Mean::take_out(Inputs in, const Tensor& out) const {
  check(dim || keepdim || can_cast(in[0].dtype(), out.dtype()), "mean: input types can't be cast to the desired output type ", name_of(out.dtype()));
}
Tensors Mean::vjp(const Saved& s, const Tensor& dy) const {
  const Dims& sizes = s.input_meta(0).sizes;
  double n = double(sizes.product()) / std::max<double>(1, double(dy.numel()));
  return {spread(s, dy / n, dim, keepdim)};
}

Meta Prod::infer(Inputs in) const { return {Dims{}, sum_type(dtype, in[0]), in[0].device()}; }
// dy times the product of the others, also where elements are zero: from both sides along dim. By ops where it is differentiated itself.
static Tensor prod_gradient(const Tensor& dy, const Tensor& x, int64_t dim, bool of_all = false) {
  if (!mode.grad) return fn::prod_backward(dy, x, dim, of_all);
  Dims ones = x.sizes();
  int d = wrap_dim(dim, x.ndim(), "prod");
  int64_t n = x.sizes()[d];
  ones[d] = 1;
  Tensor one = full_of(Meta(ones, x.dtype(), x.device()), Scalar(1.0));
  auto exclusive = [&](const Tensor& t) {
    Tensor shifted = cat_of({one, slice(t, int64_t(d), int64_t(0), n - 1, int64_t(1))}, d);
    return fn::cumprod(shifted, int64_t(d));
  };
  const Tensor gradient = dy * (exclusive(x) * flip_of(exclusive(flip_of(x, Dims{d})), Dims{d}));
  if (!is_inexact(x.dtype())) return gradient;
  // Where no element is zero PyTorch divides the product by each, of which an infinite one leaves NaN beside infinities.
  const Tensor known = detach(x), whole = fn::prod(known, int64_t(d), true);
  const Tensor lost = fn::logical_and(fn::logical_not(fn::isfinite(whole)), fn::logical_not(fn::any(fn::eq(known, num(0.0)))));
  return where(lost, dy * (whole / where(lost, x, num(1.0))), gradient);
}
// Complex numbers of which a real product was asked are multiplied by their real parts.
static Tensor factors_of(const Tensor& x, const Tensor& dy) { return is_complex(x.dtype()) && !is_complex(dy.dtype()) ? cast_to(x, dy.dtype()) : x; }
Tensors Prod::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = factors_of(s.input(0), dy);
  if (x.numel() == 0) return {x * 0.0};
  Tensor flat = reshape(x, Dims{-1});
  return {reshape(prod_gradient(reshape(dy, Dims{1}), flat, 0, true), x.sizes())};
}
Meta ProdDim::infer(Inputs in) const { return reduced("prod", in[0], Dims{dim}, keepdim, sum_type(dtype, in[0])); }
Tensors ProdDim::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = factors_of(s.input(0), dy);
  if (x.ndim() == 0) return {dy};
  if (x.numel() == 0) return {x * 0.0};
  return {prod_gradient(restore(dy, Dims{dim}, keepdim, x.ndim()), x, dim)};
}

Meta Norm2::infer(Inputs in) const {
  check(is_inexact(in[0].dtype()), "norm2: expected a floating point or complex tensor, got ", name_of(in[0].dtype()));
  return reduced("norm2", in[0], dim, keepdim, real_type(in[0].dtype()));
}
Tensors Norm2::vjp(const Saved& s, const Tensor& dy) const {
  int n = s.input(0).ndim();
  Tensor y = restore(s.output(0), dim, keepdim, n), zero = fn::eq(y, num(0.0));
  // x / |x| before dy: dy / |x| of halves may be beyond them. Its own slope at zero, where it has none, is NaN.
  return {restore(dy, dim, keepdim, n) * where(zero, num(0.0), s.input(0) / y)};
}
Meta Amax::infer(Inputs in) const { return extreme_meta("amax", in[0], dim, keepdim); }
Tensors Amax::vjp(const Saved& s, const Tensor& dy) const { return extreme_vjp(s, dy, dim, keepdim); }
Meta Amin::infer(Inputs in) const { return extreme_meta("amin", in[0], dim, keepdim); }
Tensors Amin::vjp(const Saved& s, const Tensor& dy) const { return extreme_vjp(s, dy, dim, keepdim); }
Meta Argmax::infer(Inputs in) const { return arg_meta("argmax", in[0], dim, keepdim); }
Meta Argmin::infer(Inputs in) const { return arg_meta("argmin", in[0], dim, keepdim); }
std::array<Meta, 2> MaxDim::infer(Inputs in) const { return with_index_meta("max", in[0], dim, keepdim); }
Tensors MaxDim::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, keepdim); }
std::array<Meta, 2> MinDim::infer(Inputs in) const { return with_index_meta("min", in[0], dim, keepdim); }
Tensors MinDim::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, keepdim); }
Meta MaxAll::infer(Inputs in) const { return extreme_meta("max", in[0], Dims{}, false); }
Tensors MaxAll::vjp(const Saved& s, const Tensor& dy) const { return chosen_vjp(s, dy); }
Meta MinAll::infer(Inputs in) const { return extreme_meta("min", in[0], Dims{}, false); }
Tensors MinAll::vjp(const Saved& s, const Tensor& dy) const { return chosen_vjp(s, dy); }
Tensor MaxOther::compose(Inputs in) const { return maximum(in[0], in[1]); }
Tensor MinOther::compose(Inputs in) const { return fn::minimum(in[0], in[1]); }
Tensor Any::compose(Inputs in) const { return truth_reduce("any", in[0], dim, keepdim, true); }
Tensor All::compose(Inputs in) const { return truth_reduce("all", in[0], dim, keepdim, false); }
Tensor Logsumexp::compose(Inputs in) const {
  Tensor x = is_inexact(in[0].dtype()) ? in[0] : cast_to(in[0], default_dtype());
  reduced_axes("logsumexp", dim, x.ndim());
  if (x.ndim() == 0 && !is_complex(x.dtype())) return x * 1.0;
  const bool as_reals = into_reals && is_complex(x.dtype());
  check(dim.n > 0 || keepdim || x.ndim() == 0 || x.numel() == 0, "logsumexp: expected keepdim=True where dim names no axis, which stands for all ", x.ndim(), " of them");
  if (x.numel() == 0) return log(sum(exp(as_reals ? fn::real(x) : x), dim, keepdim));
  Tensor r;
  {
    GradMode off(false);
    Tensor top = amax(fn::real(x), dim, true);
    top = where(abs(top) < std::numeric_limits<double>::infinity(), top, num(0.0));
    const Tensor terms = sum(exp(x - top), dim, true);
    if (as_reals) warn_of_lost_parts(x.dtype(), real_type(x.dtype()), terms.numel());
    r = log(as_reals ? fn::real(terms) : terms) + top;
  }
  if (is_differentiated(x)) r = fn::logsumexp_of(x, r);
  return keepdim ? r : squeeze(r, std::optional<Dims>(dim.empty() ? std::optional<Dims>() : dim));
}

static Meta running_meta(const char* op, const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  wrap_dim(dim, x.ndim(), op);
  const bool nothing = x.ndim() == 0 || x.numel() == 0;  // to add up, which PyTorch asks first
  check<NotImplemented>(nothing || !dtype || *dtype != DType::boolean, "\"", op, "_out_cpu\" not implemented for 'Bool'");
  return {x.sizes(), sum_type(dtype, x), x.device()};
}

Meta Cumsum::infer(Inputs in) const { return running_meta("cumsum", in[0], dim, dtype); }
Tensors Cumsum::vjp(const Saved&, const Tensor& dy) const {
  if (dy.ndim() == 0) return {dy};
  return {flip_of(cumsum(flip_of(dy, Dims{dim}), dim), Dims{dim})};
}
Meta Cumprod::infer(Inputs in) const { return running_meta("cumprod", in[0], dim, dtype); }
// The gradient of cumprod as sums of products that leave one element out, which can be differentiated where it is zero. Source:
// PyTorch's cumprod_backward, which also takes n steps there.
static Tensor cumprod_gradient(const Tensor& x, const Tensor& dy, int64_t d) {
  Dims ones = x.sizes();
  const int64_t n = ones[d];
  ones[d] = 1;
  Tensor before = full_of(Meta(ones, x.dtype(), x.device()), Scalar(1.0));
  const Tensor one = before;
  Tensors parts;
  for (int64_t k = 0; k < n; k++) {
    Tensor left_out = one;
    if (k + 1 < n) left_out = cat_of({one, fn::cumprod(slice(x, d, k + 1, n, int64_t(1)), d)}, int(d));
    parts.push_back(sum(slice(dy, d, k, n, int64_t(1)) * before * left_out, Dims{d}, true));
    before = before * slice(x, d, k, k + 1, int64_t(1));
  }
  return cat_of(parts, int(d));
}

Tensors Cumprod::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), y = s.output();
  if (x.ndim() == 0 || x.size(dim) == 1) return {dy};
  // Source: PyTorch, which divides the sums of a real product of complex numbers by the complex ones.
  if (is_complex(x.dtype()) && !is_complex(y.dtype())) {
    const Tensor sums = flip_of(cumsum(flip_of(cast_to(dy, x.dtype()) * y, Dims{dim}), dim), Dims{dim});
    return {sums / fn::conjugate(x)};
  }
  if (!mode.grad) return {fn::cumprod_backward(dy, x, y, dim)};
  if (x.numel() && (x.is_batched() || item(fn::any(logical_not(x))).to<bool>()))
    return {cumprod_gradient(x, dy, wrap_dim(dim, x.ndim(), "cumprod"))};
  // reverse cumsum of dy * y, divided by x; elements after a zero need the product without it.
  auto back = [&](const Tensor& t) { return flip_of(cumsum(flip_of(t, Dims{dim}), dim), Dims{dim}); };
  Tensor zero = logical_not(x), safe = where(zero, num(1.0), x);
  Tensor zeros_before = cumsum(cast_to(zero, DType::int64), dim);
  Tensor none = fn::eq(zeros_before, num(int64_t(0))), first = fn::logical_and(zero, fn::eq(zeros_before, num(int64_t(1))));
  Tensor open = fn::cumprod(safe, dim);                      // products as if the zeros were ones
  Tensor upto = fn::le(zeros_before, num(int64_t(1)));       // positions that see at most one zero
  Tensor normal = back(where(none, dy * y, num(0.0))) / safe;
  Tensor at_zero = back(where(upto, dy * open, num(0.0))) ;
  return {where(none, normal, where(first, at_zero, num(0.0)))};
}

static const ReduceOps::Registration ops;

}  // namespace weir
