#include "framework/ops/order.h"

#include <cmath>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/scatter.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

enum Kinds { all, no_bool };

// `copied`: PyTorch enters no loop, and takes any dtype.
void check_ordered(const char* op, const Tensor& x, Kinds kinds, bool copied) {
  check<NotImplemented>(copied || (!is_complex(x.dtype()) && (kinds == all || x.dtype() != DType::boolean)), "\"", op, "_cpu\" not implemented for '",
                        name_of(x.dtype()), "'");
}

std::array<Meta, 2> pair_of(const Tensor& x, const Dims& sizes) {
  return {Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
}

// Of nothing PyTorch does not look at dim.
std::array<Meta, 2> running_meta(const char* op, const Tensor& x, int64_t dim) {
  if (x.numel()) wrap_dim(dim, x.ndim(), op);
  check_ordered(op, x, all, x.numel() == 0 || x.ndim() == 0);
  return pair_of(x, x.sizes());
}

std::array<Meta, 2> picked_meta(const char* op, const Tensor& x, int64_t dim, bool keepdim, Kinds kinds, bool copied) {
  int d = wrap_dim(dim, x.ndim(), op);
  check<IndexError>(x.ndim() == 0 || x.sizes()[d] > 0, op, "(): Expected reduction dim ", d, " to have non-zero size.");
  check_ordered(op, x, kinds, copied);
  return pair_of(x, reduced_sizes(x.sizes(), x.ndim() ? axis_bit(d) : 0, keepdim));
}

// Source: PyTorch's evenly_distribute_backward: all elements equal to the chosen one share its gradient.
Tensors shared(const Saved& s, const Tensor& dy) {
  Tensor x = s.input(0), y = s.output();
  Tensor chosen = fn::logical_or(fn::eq(x, y), fn::logical_and(fn::isnan(x), fn::isnan(y)));
  return {fn::where(chosen, dy / fn::sum(chosen), 0.0)};
}

Tensor whole(Tensor t) { return cast_to(t, DType::int64); }

// Quantiles `q` of the last, sorted axis, where NaN come last: one of them is the answer where there is one, or where there is
// nothing else. Shape: (*, len(q)).
Tensor interpolated(const Tensor& sorted, const Tensor& q, std::string_view how, bool ignore_nan) {
  int64_t n = sorted.size(-1);
  Tensor nan = fn::isnan(detach(sorted));
  Tensor rank = ignore_nan ? fn::clamp(cast_to(num(n - 1) - fn::sum(nan, Dims{-1}, true), q.dtype()), Scalar(0.0)) * q
                           : fn::where(fn::any(nan, Dims{-1}, true), double(n - 1), q * double(n - 1));
  if (how == "lower") rank = fn::floor(rank);
  if (how == "higher") rank = fn::ceil(rank);
  if (how == "nearest") rank = fn::round(rank);
  Tensor below = whole(rank), low = gather_of(sorted, -1, below);
  if (how != "linear" && how != "midpoint") return low;
  Tensor high = gather_of(sorted, -1, whole(fn::ceil(rank)));
  return fn::lerp(low, high, how == "linear" ? rank - below : full_of(rank.meta(), Scalar(0.5)));
}

Tensor quantile_of(const char* op, const Tensor& x, Tensor q, std::optional<int64_t> dim, bool keepdim, std::string_view how, bool ignore_nan) {
  check(how == "linear" || how == "lower" || how == "higher" || how == "midpoint" || how == "nearest", op,
        "() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", how);
  check(x.dtype() == DType::float32 || x.dtype() == DType::float64, op, "() input tensor must be either float or double dtype");
  check(x.numel() > 0, op, "() input tensor must be non-empty");
  check(q.ndim() <= 1, op, "() q must be a scalar or 1D tensor");
  bool number = q.has_flag(kWrappedNumber);
  check(number || q.dtype() == x.dtype(), op, "() q tensor must be same dtype as the input tensor");
  if (number) q = cast_to(fn::clone(q), x.dtype());
  int64_t d = dim ? wrap_dim(*dim, x.ndim(), op) : 0;
  q = fn::check_range(q, 0.0, 1.0, "quantile() q values");
  bool one_axis = dim && x.ndim();
  Tensor rows = one_axis ? fn::transpose(fn::unsqueeze(x, int64_t(-1)), d, int64_t(-1)) : fn::reshape(x, Dims{-1});
  Tensor r = interpolated(fn::sort(rows, int64_t(-1))[0], fn::reshape(q, Dims{-1}), how, ignore_nan);
  if (one_axis && !keepdim) r = fn::squeeze(r, Dims{d});
  for (int i = 0; !one_axis && keepdim && i < x.ndim(); i++) r = fn::unsqueeze(r, int64_t(0));
  return q.ndim() ? fn::movedim(r, Dims{-1}, Dims{0}) : fn::squeeze(r, Dims{-1});
}

}  // namespace

std::array<Meta, 2> Cummax::infer(Inputs in) const { return running_meta("cummax", in[0], dim); }
Tensors Cummax::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, true, true); }
std::array<Meta, 2> Cummin::infer(Inputs in) const { return running_meta("cummin", in[0], dim); }
Tensors Cummin::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, true, true); }

std::array<Meta, 2> Kthvalue::infer(Inputs in) const {
  auto metas = picked_meta("kthvalue", in[0], dim, keepdim, no_bool, in[0].ndim() == 0);
  check(k >= 1 && k <= (in[0].ndim() ? in[0].size(dim) : 1), "kthvalue(): selected number k out of range for dimension ", dim);
  return metas;
}
Tensors Kthvalue::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, keepdim); }

Meta Median::infer(Inputs in) const {
  check_ordered("median", in[0], no_bool, in[0].numel() == 0);
  return {Dims{}, in[0].dtype(), in[0].device()};
}
Tensors Median::vjp(const Saved& s, const Tensor& dy) const { return shared(s, dy); }
std::array<Meta, 2> MedianDim::infer(Inputs in) const { return picked_meta("median", in[0], dim, keepdim, no_bool, false); }
Tensors MedianDim::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, keepdim); }
Meta Nanmedian::infer(Inputs in) const {
  check_ordered("median", in[0], no_bool, in[0].numel() == 0);
  return {Dims{}, in[0].dtype(), in[0].device()};
}
Tensors Nanmedian::vjp(const Saved& s, const Tensor& dy) const { return shared(s, dy); }
std::array<Meta, 2> NanmedianDim::infer(Inputs in) const { return picked_meta("median", in[0], dim, keepdim, no_bool, false); }
Tensors NanmedianDim::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, keepdim); }
std::array<Meta, 2> ModeValue::infer(Inputs in) const { return picked_meta("mode", in[0], dim, keepdim, all, in[0].numel() == 0 || in[0].ndim() == 0); }
Tensors ModeValue::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, keepdim); }

Tensor Argsort::compose(Inputs in) const { return fn::sort(in[0], dim, descending)[1]; }
Tensor ArgsortStable::compose(Inputs in) const { return fn::sort(in[0], dim, descending, stable)[1]; }
// Source: PyTorch, whose sort would have a history for the values, which nobody sees.
void ArgsortStable::take_out(Inputs in, const Tensor&) const {
  check(!is_differentiated(in[0]), "sort(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
}
Tensor Msort::compose(Inputs in) const { return fn::sort(in[0], int64_t(0))[0]; }
Tensor Quantile::compose(Inputs in) const { return quantile_of("quantile", in[0], in[1], dim, keepdim, interpolation.view(), false); }
Tensor Nanquantile::compose(Inputs in) const { return quantile_of("nanquantile", in[0], in[1], dim, keepdim, interpolation.view(), true); }

static const OrderOps::Registration ops;

}  // namespace weir
