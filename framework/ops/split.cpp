#include "framework/ops/split.h"

#include <algorithm>

#include "framework/graph/trace.h"
#include "framework/ops/complex.h"

namespace weir {
namespace {

constexpr int64_t kMostSections = int64_t(1) << 26;  // views, of which each takes some hundred bytes

int axis_of(const Tensor& x, int64_t dim) {
  check(x.ndim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", x.ndim(), " dims");
  return wrap_dim(dim, x.ndim(), "tensor_split");
}

Tensors into(const Tensor& x, int64_t sections, int64_t dim) {
  const int d = axis_of(x, dim);
  check(sections > 0, "number of sections must be larger than 0, got ", sections);
  check(sections <= kMostSections, "tensor_split: ", sections, " sections are more than memory holds");
  const int64_t size = x.sizes()[d], least = size / sections, larger = size % sections;
  Tensors parts;
  for (int64_t i = 0, start = 0; i < sections; i++) {
    const int64_t length = least + (i < larger);
    parts.push_back(fn::slice(x, int64_t(d), start, start + length));
    start += length;
  }
  return parts;
}

Tensors at(const Tensor& x, const Places& places, int64_t dim) {
  const int d = axis_of(x, dim);
  Tensors parts;
  int64_t start = 0;
  for (int64_t end : places) {
    parts.push_back(fn::slice(x, int64_t(d), start, end));
    start = end;
  }
  parts.push_back(fn::slice(x, int64_t(d), start, x.sizes()[d]));
  return parts;
}

// hsplit, vsplit and dsplit: the axis they split, of a tensor of at least so many.
struct Axis {
  const char* op;
  int least, dim;
  int of(const Tensor& x) const {
    check(x.ndim() >= least, "torch.", op, " requires a tensor with at least ", least, " dimension", least > 1 ? "s" : "", ", but got a tensor with ",
          x.ndim(), " dimensions!");
    return std::min(dim, x.ndim() - 1);
  }
  Tensors equal_parts(const Tensor& x, int64_t sections) const {
    const int d = of(x);
    check(sections != 0 && x.sizes()[d] % sections == 0, "torch.", op, " attempted to split along dimension ", d, ", but the size of the dimension ",
          x.sizes()[d], " is not divisible by the split_size ", sections, "!");
    return into(x, sections, d);
  }
};
constexpr Axis kColumns{"hsplit", 1, 1}, kRows{"vsplit", 2, 0}, kDepth{"dsplit", 3, 2};

Tensors unwatched(Tensors parts) {
  for (Tensor& part : parts) part = fn::unsafe_view(part);
  return parts;
}

}  // namespace

Tensors TensorSplit::compose(Inputs in) const { return into(in[0], sections, dim); }
Tensors TensorSplitAt::compose(Inputs in) const { return at(in[0], indices, dim); }

Tensors TensorSplitBy::compose(Inputs in) const {
  const Tensor &x = in[0], &where = in[1];
  check(x.ndim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", x.ndim(), " dims");
  check(where.device().type == DeviceType::cpu, "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
        name_of(where.device().type));
  check(where.dtype() == DType::int64, "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ", name_of(where.dtype()));
  check(where.ndim() <= 1, "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with ",
        where.ndim(), " dims");
  if (where.ndim() == 0) return into(x, graph::number_of(where).to_int(), dim);
  std::vector<int64_t> places(size_t(where.numel()));
  for (size_t i = 0; i < places.size(); i++) places[i] = graph::number_of(fn::select(where, int64_t(0), int64_t(i))).to_int();
  return at(x, Places(places.data(), int64_t(places.size())), dim);
}

Tensors Hsplit::compose(Inputs in) const { return kColumns.equal_parts(in[0], sections); }
Tensors HsplitAt::compose(Inputs in) const { return at(in[0], indices, kColumns.of(in[0])); }
Tensors Vsplit::compose(Inputs in) const { return kRows.equal_parts(in[0], sections); }
Tensors VsplitAt::compose(Inputs in) const { return at(in[0], indices, kRows.of(in[0])); }
Tensors Dsplit::compose(Inputs in) const { return kDepth.equal_parts(in[0], sections); }
Tensors DsplitAt::compose(Inputs in) const { return at(in[0], indices, kDepth.of(in[0])); }

Geometry UnsafeView::geometry(Inputs in) const {
  const Tensor& x = in[0];
  return {.sizes = x.sizes(), .strides = x.strides(), .offset = x->offset, .unwatched = true};
}
Tensors UnsafeView::vjp(const Saved&, const Tensor& dy) const { return {dy}; }

Tensors UnsafeSplit::compose(Inputs in) const { return unwatched(fn::split(fn::resolve_conj(in[0]), split_size, dim)); }
Tensors UnsafeSplitWithSizes::compose(Inputs in) const { return unwatched(fn::split(fn::resolve_conj(in[0]), split_sizes, dim)); }
Tensors UnsafeChunk::compose(Inputs in) const { return unwatched(fn::chunk(fn::resolve_conj(in[0]), chunks, dim)); }

static const SplitOps::Registration ops;

}  // namespace weir
