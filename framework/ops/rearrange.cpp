#include "framework/ops/rearrange.h"

#include <algorithm>
#include <cstdlib>

#include "framework/core/warn.h"
#include "framework/op/out.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

template <class View, class... A> Geometry seen(const Tensor& x, const A&... args) {
  const View view = make_op<View>(args...);
  return view.geometry(std::array{x});
}

/// The result's: input's strides, holes between its elements too, unless an element stands for several. Source: PyTorch.
Meta written_meta(const char* view, Inputs in, const Geometry& place) {
  const Tensor& x = in[0];
  check(place.sizes == in[1].sizes(), "expected src to have a size equal to the slice of self, ", view, ". src size = ", in[1].sizes(),
        ", slice size = ", place.sizes);
  warn_of_lost_parts(in[1].dtype(), x.dtype(), in[1].numel());
  Meta m = like(x);
  for (int i = 0; i < x.ndim(); i++)
    if (x.strides()[i] == 0 && x.sizes()[i] > 1) return m;
  m.strides = x.strides();
  return m;
}

}  // namespace

Tensor Fliplr::compose(Inputs in) const {
  check(in[0].ndim() >= 2, "fliplr: Input must be >= 2-d, got ", in[0].ndim(), "-d");
  return fn::flip(in[0], Dims{1});
}
Tensor Flipud::compose(Inputs in) const {
  check(in[0].ndim() >= 1, "flipud: Input must be >= 1-d, got 0-d");
  return fn::flip(in[0], Dims{0});
}

Tensor Rot90::compose(Inputs in) const {
  const Tensor& x = in[0];
  const Dims plane = dims.value_or(Dims{0, 1});
  check(plane.n == 2, "rot90: expected total rotation dims == 2, but got dims = ", plane.n);
  check(x.ndim() >= 2, "rot90: expected total dims >= 2, but got total dims = ", x.ndim());
  const int64_t a = wrap_dim(plane[0], x.ndim(), "rot90"), b = wrap_dim(plane[1], x.ndim(), "rot90");
  check(a != b, "rot90: expected rotation dims to be different, but got dim0 = ", plane[0], " and dim1 = ", plane[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return fn::transpose(fn::flip(x, Dims{b}), a, b);
    case 2: return fn::flip(x, Dims{a, b});
    case 3: return fn::transpose(fn::flip(x, Dims{a}), a, b);
    default: return clone_of(x, MemoryFormat::contiguous);
  }
}

Tensor DiagEmbed::compose(Inputs in) const {
  const Tensor& x = in[0];
  const int rank = x.ndim() + 1;
  const int64_t a = wrap_dim(dim1, rank, "diag_embed"), b = wrap_dim(dim2, rank, "diag_embed");
  check(a != b, "diag_embed: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t length = checked_add(x.size(-1), offset < 0 ? checked_sub(0, offset) : offset);
  Dims sizes = x.sizes();
  sizes.n--;
  sizes.insert(int(std::min(a, b)), length);
  sizes.insert(int(std::max(a, b)), length);
  return fn::diagonal_scatter(fn::expand(zeros_of(Meta(Dims(sizes.n, 1), x.dtype(), x.device())), sizes), x, offset, a, b);
}

Tensor Diag::compose(Inputs in) const {
  check(in[0].ndim() == 1 || in[0].ndim() == 2, "diag(): Supports 1D or 2D tensors. Got ", in[0].ndim(), "D");
  return in[0].ndim() == 1 ? fn::diag_embed(in[0], diagonal) : clone_of(fn::diagonal(in[0], diagonal), MemoryFormat::contiguous);
}
Tensor Diagflat::compose(Inputs in) const { return fn::diag_embed(fn::reshape(in[0], Dims{-1}), offset); }

Geometry DiagonalScatter::place(const Tensor& x) const { return seen<Diagonal>(x, offset, dim1, dim2); }
Meta DiagonalScatter::infer(Inputs in) const { return written_meta("diagonal", in, place(in[0])); }
Tensors DiagonalScatter::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? fn::diagonal_scatter(dy, zeros_as(s, 1, dy), offset, dim1, dim2) : Tensor(),
          s.needs(1) ? fn::diagonal(dy, offset, dim1, dim2) : Tensor()};
}

Geometry SelectScatter::place(const Tensor& x) const { return seen<Select>(x, dim, index); }
Meta SelectScatter::infer(Inputs in) const { return written_meta("select", in, place(in[0])); }
Tensors SelectScatter::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? fn::select_scatter(dy, zeros_as(s, 1, dy), dim, index) : Tensor(), s.needs(1) ? fn::select(dy, dim, index) : Tensor()};
}

Geometry SliceScatter::place(const Tensor& x) const {
  check<IndexError>(x.ndim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  check(step > 0, "slice_scatter: slice step must be positive, got ", step);
  const int64_t n = x.size(dim);
  return seen<Slice>(x, dim, start.value_or(0), end.value_or(n), step);
}
Meta SliceScatter::infer(Inputs in) const { return written_meta("slice", in, place(in[0])); }
Tensors SliceScatter::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? fn::slice_scatter(dy, zeros_as(s, 1, dy), dim, start, end, step) : Tensor(),
          s.needs(1) ? fn::slice(dy, dim, start.value_or(0), end.value_or(dy.size(dim)), step) : Tensor()};
}

// Elements that share memory are copied into memory of their own first. Source: PyTorch's clone_preserve_strides.
Geometry AsStridedScatter::place(const Tensor& x) const { return seen<AsStrided>(x, size, stride, storage_offset); }
Meta AsStridedScatter::infer(Inputs in) const {
  const Geometry g = place(repeats(in[0]) ? unfilled(Meta(in[0].sizes(), in[0].dtype(), in[0].device())) : in[0]);
  for (int i = 0; i < g.sizes.n; i++)
    check(g.strides[i] != 0 || g.sizes[i] < 2, "as_strided_scatter: more than one element of the written-to tensor refers to a single memory location, "
          "by the stride of axis ", i);
  return written_meta("as_strided", in, g);
}
Tensors AsStridedScatter::vjp(const Saved&, const Tensor& dy) const {
  const Tensor g = contiguous_of(dy), window = fn::as_strided(g, size, stride, storage_offset);
  const Tensor dx = zeros_of(Meta(g.sizes(), g.dtype(), g.device()));
  copy_into(fn::as_strided(dx, size, stride, storage_offset), window);
  return {dx, window};
}

Meta UnfoldBackward::infer(Inputs in) const { return {input_sizes, in[0].dtype(), in[0].device()}; }
Tensors UnfoldBackward::vjp(const Saved&, const Tensor& dy) const { return {fn::unfold(dy, dim, size, step)}; }

static const RearrangeOps::Registration ops;

}  // namespace weir
