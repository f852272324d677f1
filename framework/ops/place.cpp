#include "framework/ops/place.h"

#include <algorithm>

#include "framework/core/layout.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/plain.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

/// Row-major, as the kernels that read indices want them.
Tensor flat(const Tensor& t) { return contiguous_of(fn::reshape(t, Dims{-1})); }

/// `index` (1-d, int64) along `dim` as a gather index of the slices it names in a tensor of `sizes`.
Tensor slices(const Tensor& index, Dims sizes, int64_t dim) {
  Dims one(sizes.n, 1);
  one[int(dim)] = sizes[int(dim)] = index.numel();
  return fn::expand(fn::reshape(index, one), sizes);
}

/// A sum of `t`'s elements whose gradient is zero, to be added to what depends on `t` with a derivative of zero.
Tensor nothing_of(const Tensor& t) {
  return fn::sum(fn::masked_fill(t, full_of(Meta(t.sizes(), DType::boolean, t.device()), Scalar(true)), num(int64_t(0))), std::nullopt, false, t.dtype());
}

/// RuntimeError where `written` has elements that share memory, or shares it with what is read.
void check_written_apart(const Tensor& written, Inputs read) {
  check_no_repeats(written);
  check_apart(written, read);
}

Dims without(Dims sizes, int64_t dim) {
  if (sizes.n) sizes.erase(int(dim));
  return sizes;
}

}  // namespace

Meta Take::infer(Inputs in) const {
  check(in[1].dtype() == DType::int64, "take(): Expected a long tensor for index, but got ", name_of(in[1].dtype()));
  check<IndexError>(in[0].numel() || !in[1].numel(), "take(): tried to take from an empty tensor");
  return {in[1].sizes(), in[0].dtype(), in[0].device()};
}
Tensors Take::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor dx = zeros_as(s, 0, dy);
  fn::put.inplace(dx, s.input(1), dy, true);
  return {dx, Tensor()};
}

Meta Put::infer(Inputs in) const {
  const Tensor &x = in[0], &index = in[1], &source = in[2];
  check(index.dtype() == DType::int64, "put_(): Expected a long tensor for index, but got ", name_of(index.dtype()));
  check(x.dtype() == source.dtype(), "put_(): self and source expected to have the same dtype, but got self.dtype = ", name_of(x.dtype()),
        " and source.dtype = ", name_of(source.dtype()));
  check<IndexError>(index.numel() == source.numel(), "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
                    source.numel(), ", index.numel() = ", index.numel());
  check<IndexError>(x.numel() || !index.numel(), "put_(): tried to put elements into an empty tensor");
  return with_strides(like(x), x);
}
Tensors Put::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor index = s.input(1);
  Tensors gradients(3);
  if (s.needs(0)) gradients[0] = accumulate ? dy : fn::put(dy, index, zeros_as(s, 2, dy), false);
  if (s.needs(2)) gradients[2] = fn::reshape(fn::take(dy, index), s.input_meta(2).sizes);
  return gradients;
}

Tensor TakeAlongDim::compose(Inputs in) const {
  const Tensor &x = in[0], &index = in[1];
  if (!dim && index.numel() == 0) return fn::gather(fn::view(x, Dims{-1}), int64_t(0), cast_to(fn::view(index, Dims{-1}), DType::int64));
  if (!dim) return fn::gather(fn::view(x, Dims{-1}), int64_t(0), fn::view(index, Dims{-1}));  // raises where rows lie apart, as PyTorch's
  check(index.dtype() == DType::int64, "torch.take_along_dim(): dtype of indices should be Long but got ", name_of(index.dtype()));
  check(x.ndim() == index.ndim(), "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ", x.ndim(),
        " dimensions for input, and ", index.ndim(), " dimensions for indices");
  check<IndexError>(x.ndim() > 0, "Dimension specified as ", *dim, " but tensor has no dimensions");
  const int d = wrap_dim(*dim, x.ndim(), "take_along_dim");
  Dims a = x.sizes(), b = index.sizes();
  a[d] = b[d] = 1;
  a = b = broadcast("take_along_dim", a, b);
  a[d] = x.size(d), b[d] = index.size(d);
  // Any index counts around.
  return fn::gather(fn::expand(x, a), int64_t(d), fn::remainder(fn::expand(index, b), std::max<int64_t>(x.size(d), 1)));
}

Tensor IndexFill::compose(Inputs in) const {
  const Tensor &x = in[0], &index = in[1], &value = in[2];
  check(value.ndim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.ndim(), " dimension(s).");
  check<IndexError>(index.dtype() == DType::int64, "index_fill_(): Expected dtype int64 for index.");
  const int64_t d = wrap_dim(dim, x.ndim(), "index_fill_");
  check(index.ndim() <= 1, "index_fill_: Index has to be a vector/scalar");
  check(is_complex(x.dtype()) || !is_complex(value.dtype()), "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  const int64_t n = x.ndim() ? x.size(d) : 1;
  // Source: PyTorch, which takes an axis out of the tensor to fill along it, and asks for its memory where nothing else is empty.
  check(n > 0 || index.numel() == 0 || std::count(x.sizes().begin(), x.sizes().end(), 0) > 1, "index_fill_: dimension ", d,
        " of size 0 has no place for ", index.numel(), " indices");
  Dims lines(std::max(x.ndim(), 1), 1);
  lines[int(d)] = n;
  check_written(value, x.dtype());
  if (x.numel() == 0) return clone_of(x) + cast_to(nothing_of(value), x.dtype());  // no index can be wrong where nothing is written
  const Tensor none = zeros_of(Meta(Dims{n}, DType::boolean, x.device()));
  const Tensor written = fn::reshape(fn::scatter(none, int64_t(0), fn::check_index(flat(index), n, true, Str("index_fill_")), true), lines);
  const Tensor number = value.has_flag(kWrappedNumber) ? full_of(Meta(Dims{}, x.dtype(), x.device()), item(value)) : cast_to(value, x.dtype());
  return laid_out_as(fn::reshape(fn::where(over_itself ? shared_mask(x, written) : written, number, one_axis(x)), x.sizes()), x);
}

void IndexFill::take_out(Inputs in, const Tensor& out) {
  over_itself = out == in[0];
  if (over_itself && in[1].dtype() == DType::int64 && in[2].ndim() == 0) check_apart(out, in.subspan(1, 1));
}

// In place PyTorch looks at the memory before the shapes.
void IndexCopy::take_out(Inputs in, const Tensor& out) const {
  if (!(out == in[0])) return;
  wrap_dim(dim, in[0].ndim(), "index_copy_");
  check_written_apart(out, in.subspan(1));
}
void Put::take_out(Inputs in, const Tensor& out) const {
  if (out == in[0] && in[1].dtype() == DType::int64 && in[0].dtype() == in[2].dtype() && in[1].numel() == in[2].numel()) check_written_apart(out, in.subspan(1));
}
Tensor IndexCopy::compose(Inputs in) const {
  const Tensor &x = in[0], &index = in[1], &source = in[2];
  const int64_t d = wrap_dim(dim, x.ndim(), "index_copy_");
  check<IndexError>(index.ndim() <= 1, "index_copy_(): Index should have dimension 1 or 0 (got ", index.ndim(), ")");
  check<IndexError>(source.ndim() || index.numel() == 1, "index_copy_(): When source is scalar, index should have one element (got ", index.numel(), ")");
  check<IndexError>(!source.ndim() || !x.ndim() || source.ndim() == x.ndim(), "index_copy_(): When source and destination are not scalars, their "
                    "dimensionality must match. Source dimensionality (", source.ndim(), "), destination dimensionality (", x.ndim(), ")");
  check(index.dtype() == DType::int64, "index_copy_(): Expected a long tensor for index, but got ", name_of(index.dtype()));
  check(x.dtype() == source.dtype(), "index_copy_(): self and source expected to have the same dtype, but got (self) ", name_of(x.dtype()),
        " and (source) ", name_of(source.dtype()));
  auto slice = [&](const Tensor& t) { return t.ndim() ? without(t.sizes(), d) : Dims(); };
  check(slice(x) == slice(source), "index_copy_(): Source/destination tensor must have same slice shapes. Got ", slice(x), " and ", slice(source));
  check<IndexError>(!source.ndim() || source.size(d) == index.numel(), "index_copy_(): Number of indices (", index.numel(),
                    ") should be equal to source.size(dim) (", source.ndim() ? source.size(d) : 0, ")");
  check(x.numel() || !source.numel(), "index_copy_(): index is out of bounds for dimension ", d, " with size 0");
  if (x.numel() == 0) return clone_of(x) + nothing_of(source);  // no index can be wrong where nothing is written
  const Tensor self = one_axis(x);
  const Tensor at = fn::check_index(flat(index), self.size(d), false, Str("index_copy_")), rows = slices(at, self.sizes(), d);
  return fn::reshape(fn::scatter(self, d, rows, fn::reshape(source, rows.sizes())), x.sizes());
}

Tensor MaskedScatter::compose(Inputs in) const {
  const Tensor& source = in[2];
  check(in[1].dtype() == DType::boolean, "masked_scatter_ only supports boolean masks, but got mask with dtype ", name_of(in[1].dtype()));
  check(in[0].dtype() == source.dtype(), "masked_scatter: expected self and source to have same dtypes but got ", name_of(in[0].dtype()), " and ",
        name_of(source.dtype()));
  const Dims sizes = broadcast("masked_scatter", in[0].sizes(), in[1].sizes());
  const Tensor x = fn::expand(in[0], sizes), mask = fn::expand(in[1], sizes);
  if (is_plain(in)) return fn::scatter_by_mask(x, mask, source);
  const Tensor at = fn::mask_positions(mask, source.numel());
  // Nothing is taken; the gradient reaches both. The positions have no say, but a graph keeps what counts them.
  if (source.numel() == 0) return row_major_of(fn::where(mask, fn::where(at >= 0.0, nothing_of(source), x), x));
  return row_major_of(fn::where(mask, fn::index_rows.over(Tensors{flat(source), at}, int64_t(0))[0], x));
}

static const PlaceOps::Registration ops;

}  // namespace weir
