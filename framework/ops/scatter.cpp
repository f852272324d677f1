#include "framework/ops/scatter.h"

#include <algorithm>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/pad.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// gather and scatter walk index's shape; it may not reach beyond the others except along dim.
void check_along(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  if (index.numel()) check_index_type(op, index);
  check(!src || self.dtype() == src->dtype(), op, "(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  int n = std::max(self.ndim(), 1);
  check(std::max(index.ndim(), 1) == n, op, "(): Index tensor must have the same number of dimensions as self tensor");
  int d = wrap_dim(dim, self.ndim(), op);
  auto extent = [](const Tensor& t, int i) { return t.ndim() ? t.size(i) : 1; };  // a 0-d tensor counts as one of one
  for (int i = 0; i < index.ndim(); i++)
    check(i == d || index.sizes()[i] <= extent(self, i), op, "(): Expected index ", index.sizes(), " to be no larger than self ",
          self.sizes(), " apart from dimension ", d);
  if (!src) return;
  // A source of fewer axes is an IndexError only when no axis before is too short. Source: scatter_shape_check.
  for (int i = 0; i < index.ndim(); i++)
    check(index.sizes()[i] <= extent(*src, i), op, "(): Expected index ", index.sizes(), " to be no larger than src ",
          src->sizes());
  check(std::max(src->ndim(), 1) == n, op, "(): Index tensor must have the same number of dimensions as src tensor");
}

void check_reduce(const char* op, const Tensor& x, std::string_view reduce) {
  bool numbers = reduce == "sum" || reduce == "prod", order = reduce == "amax" || reduce == "amin";
  check<NotImplemented>(numbers || !order || !is_complex(x.dtype()), "\"", op, "_cpu_reduce_", reduce, "\" not implemented for '", name_of(x.dtype()), "'");
  check<NotImplemented>(reduce != "mean" || x.dtype() != DType::boolean, "\"", op, "_cpu_reduce_mean\" not implemented for 'bool'");
}

// The part of src that index's shape reaches.
Tensor reached(const Tensor& src, const Dims& sizes) {
  Tensor r = src;
  for (int d = 0; d < sizes.n; d++)
    if (r.sizes()[d] != sizes[d]) r = fn::narrow(r, int64_t(d), int64_t(0), sizes[d]);
  return r;
}
// Its gradient as one of all of src.
Tensor widened(const Tensor& g, const Dims& sizes) {
  if (g.sizes() == sizes) return g;
  Dims pad;
  for (int d = sizes.n; d-- > 0;) pad.push(0), pad.push(sizes[d] - g.sizes()[d]);
  return fn::constant_pad_nd(g, pad);
}

struct Gradients { Tensor self, src; };

// Source: PyTorch's scatter_reduce_backward.
Gradients reduce_gradients(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& result, const Tensor& dy,
                           std::string_view how, bool include_self) {
  Gradients g;
  auto at = [&](const Tensor& t) { return fn::gather(t, dim, index); };
  auto add = [&](const Tensor& t, const Tensor& s) { return fn::scatter_add(t, dim, index, s); };
  Meta m = like(self);
  m.dtype = dy.dtype();
  if (how == "sum") {
    g = {dy, at(dy)};
  } else if (how == "mean") {
    Tensor count = add(full_of(m, Scalar(include_self ? 1.0 : 0.0)), full_of(Meta(index.sizes(), dy.dtype(), dy.device()), Scalar(1.0)));
    Tensor share = dy / fn::masked_fill(count, fn::eq(count, num(0.0)), 1.0);
    g = {share, at(share)};
  } else if (how == "prod") {
    Tensor filled = fn::masked_fill(self, fn::eq(self, num(0.0)), 1.0), zero = fn::eq(src, num(0.0));
    Tensor zeros = at(add(zeros_of(m), cast_to(zero, dy.dtype()))), alone = fn::logical_and(zero, fn::eq(zeros, num(1.0)));
    Tensor others = fn::scatter_reduce(self, dim, index, fn::masked_fill(src, alone, 1.0), how, include_self);
    g.self = dy * fn::scatter_reduce(filled, dim, index, src, how, include_self) / filled;
    g.src = fn::where(alone, at(dy * others), at(dy * result) / fn::masked_fill(src, zero, 1.0));
  } else {
    Tensor own = cast_to(fn::eq(self, result), dy.dtype()), theirs = cast_to(fn::eq(src, at(result)), dy.dtype());
    Tensor share = dy / add(own, theirs);
    g = {own * share, theirs * at(share)};
  }
  if (!include_self) g.self = fn::scatter(g.self, dim, index, 0);
  return g;
}

Tensors reduce_vjp(const Saved& s, const Tensor& dy, int64_t dim, Tensor index, Tensor src, std::string_view how, bool include_self) {
  const Dims given = src.sizes(), own = s.input(0).sizes();
  src = one_axis(src), index = one_axis(index);
  // Where nothing is scattered a product is divided by itself all the same, which of infinity leaves NaN, as in PyTorch.
  const Tensor part = index.numel() ? reached(src, index.sizes()) : zeros_of(Meta(index.sizes(), src.dtype(), src.device()));
  const Gradients g = reduce_gradients(one_axis(s.input(0)), dim, index, part, one_axis(s.output()), one_axis(dy), how, include_self);
  const Tensor to_src = index.numel() ? widened(g.src, src.sizes()) : zeros_of(like(src));
  return {fn::reshape(g.self, own), Tensor(), fn::reshape(to_src, given)};
}

// Raises unless source has a slice of input's shape along dim for every index. Source: PyTorch's index_func_meta_impl.
void check_slices(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  int d = wrap_dim(dim, self.ndim(), op);
  check<IndexError>(index.ndim() <= 1, op, "(): Index is supposed to be a vector, but got dim: ", index.ndim());
  check_index_type(op, index);
  check(self.dtype() == source.dtype(), op, "(): self (", name_of(self.dtype()), ") and source (", name_of(source.dtype()),
        ") must have the same scalar type");
  check(d == 0 || d < source.ndim(), op, "(): Indexing dim ", d, " is out of bounds of the source tensor with dim ", source.ndim());
  check<IndexError>(source.ndim() || index.numel() == 1, "Dimension specified as ", d, " but tensor has no dimensions");
  int64_t slices = source.ndim() ? source.sizes()[d] : 1;
  check(index.numel() == slices, op, "(): Number of indices (", index.numel(), ") should be equal to source.size(dim): (", slices,
        "), for dim: ", d);
  Dims kept = self.sizes(), given = source.sizes();
  if (self.ndim() && source.ndim()) kept.erase(d), given.erase(d);
  check(kept == given, "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
        self.sizes(), " source.shape = ", source.sizes());
}

}  // namespace

Tensors put_back(const Saved& s, const Tensor& dy, int64_t dim, bool keepdim, bool often) {
  if (!dy || s.input_meta(0).sizes.n == 0) return {dy};
  const Tensor fresh = zeros_as(s, 0, dy);
  if (fresh.numel() == 0) return {fresh};
  const Tensor values = keepdim ? dy : fn::unsqueeze(dy, dim), places = keepdim ? s.output(1) : fn::unsqueeze(s.output(1), dim);
  if (often) return {scatter_add_of(fresh, dim, places, values)};
  fn::scatter.inplace(fresh, dim, places, values);
  return {fresh};
}

Meta Gather::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "gather");
  check_along("gather", in[0], dim, in[1], nullptr);
  return {in[1].sizes(), in[0].dtype(), in[0].device()};
}
Tensors Gather::vjp(const Saved& s, const Tensor& dy) const {
  return {scatter_add_of(zeros_as(s, 0, dy), dim, s.input(1), dy), Tensor()};
}

Meta Scatter::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "scatter");
  check_along("scatter", in[0], dim, in[1], &in[2]);
  return like(in[0]);
}
Tensors Scatter::vjp(const Saved& s, const Tensor& dy) const {
  Tensor index = s.input(1);
  return {s.needs(0) ? fn::scatter(dy, dim, index, 0) : Tensor(), Tensor(),
          s.needs(2) ? fn::gather(dy, dim, index) : Tensor()};
}
Meta ScatterValue::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "scatter");
  check_along("scatter", in[0], dim, in[1], nullptr);
  if (in[1].numel()) check_held(Held::own, value, in[0].dtype());
  return like(in[0]);
}
Tensors ScatterValue::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::scatter(dy, dim, s.input(1), 0), Tensor()};
}
static void check_word(const Str& reduce) {
  check(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply.");
}
Meta ScatterSrcReduced::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "scatter");
  check_along("scatter", in[0], dim, in[1], &in[2]);
  check_word(reduce);
  warn_once("scatter with reduce and a tensor is deprecated: use scatter_reduce in its place.");
  return like(in[0]);
}
Meta ScatterValueReduced::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "scatter");
  check_along("scatter", in[0], dim, in[1], nullptr);
  check_word(reduce);
  if (in[1].numel()) check_held(Held::own, value, in[0].dtype());
  return like(in[0]);
}

Meta ScatterAdd::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "scatter_add");
  check_along("scatter_add", in[0], dim, in[1], &in[2]);
  return like(in[0]);
}
Tensors ScatterAdd::vjp(const Saved& s, const Tensor& dy) const {
  return {dy, Tensor(), s.needs(2) ? fn::gather(dy, dim, s.input(1)) : Tensor()};
}

Meta ScatterReduce::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "scatter");
  const std::string_view how = reduction();
  check(how == "sum" || how == "prod" || how == "mean" || how == "amax" || how == "amin",
        "reduce argument must be either sum, prod, mean, amax or amin, got ", how);
  if (in[1].numel()) check_index_type("scatter", in[1]);
  check_along("scatter", in[0], dim, in[1], &in[2]);
  if (in[1].numel() || how == "mean") check_reduce("scatter_gather_tensor", in[0], how);  // a mean divides also where nothing was added
  return like(in[0]);
}
Tensors ScatterReduce::vjp(const Saved& s, const Tensor& dy) const {
  return reduce_vjp(s, dy, dim, s.input(1), s.input(2), reduction(), include_self);
}

Meta IndexReduce::infer(Inputs in) const {
  check(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce.view(), ".");
  check_slices("index_reduce_", in[0], dim, in[1], in[2]);
  warn_once("index_reduce() is in beta and the API may change at any time.");
  const DType t = in[0].dtype();  // Source: PyTorch, whose kernel for one axis, and its loop over slices, take different dtypes
  check<NotImplemented>(in[0].ndim() > 1 || (t != DType::boolean && !is_complex(t)), "\"index_func_\" not implemented for '", name_of(t), "'");
  check<NotImplemented>(include_self || t != DType::boolean, "\"index_reduce_func_exclude_input_init\" not implemented for 'Bool'");
  if (in[1].numel()) check_reduce("index_reduce_func", in[0], reduce.view() == "mean" && is_complex(t) ? "sum" : reduce.view());
  return like(in[0]);
}
Tensors IndexReduce::vjp(const Saved& s, const Tensor& dy) const {
  Tensor index = s.input(1), source = s.input(2);
  if (!source.ndim()) return reduce_vjp(s, dy, dim, index, source, reduce.view(), include_self);
  Dims sizes(source.ndim(), 1);
  int d = wrap_dim(dim, source.ndim(), "index_reduce");
  sizes[d] = index.numel();
  return reduce_vjp(s, dy, d, fn::expand(fn::reshape(index, sizes), source.sizes()), source, reduce.view(), include_self);
}

static const ScatterOps::Registration ops;

}  // namespace weir
