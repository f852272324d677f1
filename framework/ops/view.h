// View ops: a new geometry over the same storage. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct ViewOp : Op {
  static constexpr Notation notation = "view";
};

struct View : ViewOp {
  static constexpr Signature signature = "view(input: Tensor, *size: int) -> Tensor";
  static constexpr auto doc = "The same elements in another shape, without a copy; -1 is inferred. RuntimeError when strides forbid it.";
  static constexpr Module module = Module::method;
  Dims size;
  static constexpr Fields fields{&View::size};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ViewDtype : ViewOp {
  static constexpr Signature signature = "view.dtype(input: Tensor, dtype: dtype) -> Tensor";
  static constexpr auto doc =
      "The same bytes in another dtype; where its elements are larger or smaller, the last axis shrinks or grows. RuntimeError where "
      "strides or sizes do not allow it.";
  static constexpr Module module = Module::method;
  static constexpr GradientRule gradient{.exists = false};
  DType dtype;
  static constexpr Fields fields{&ViewDtype::dtype};
  Geometry geometry(Inputs in) const;
};

struct Transpose : ViewOp {
  static constexpr Signature signature = "transpose(input: Tensor, dim0: int, dim1: int) -> Tensor";
  static constexpr auto doc = "Two axes exchanged.";
  static constexpr InplaceRule inplace{.offered = true};
  int64_t dim0, dim1;
  static constexpr Fields fields{&Transpose::dim0, &Transpose::dim1};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Swapaxes : Transpose {
  static constexpr Signature signature = "swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor";
};

struct MatrixTranspose : ViewOp {
  static constexpr Signature signature = "t(input: Tensor) -> Tensor";
  static constexpr auto doc = "The transpose of a matrix; a vector or 0-d tensor as it is.";
  static constexpr InplaceRule inplace{.offered = true};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Permute : ViewOp {
  static constexpr Signature signature = "permute(input: Tensor, *dims: int) -> Tensor";
  static constexpr auto doc = "Axes in the given order.";
  Dims dims;
  static constexpr Fields fields{&Permute::dims};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Expand : ViewOp {
  static constexpr Signature signature = "expand(input: Tensor, *size: int, implicit: bool = False) -> Tensor";
  static constexpr auto doc =
      "Axes of size 1 repeated without a copy; -1 keeps a size, new axes come in front. `implicit` changes nothing.";
  static constexpr Module module = Module::method;
  Dims size;
  bool implicit;
  static constexpr Fields fields{&Expand::size, &Expand::implicit};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Select : ViewOp {
  static constexpr Signature signature = "select(input: Tensor, dim: int, index: int) -> Tensor";
  static constexpr auto doc = "One slice along dim, the axis removed.";
  int64_t dim, index;
  static constexpr Fields fields{&Select::dim, &Select::index};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Slice : ViewOp {
  static constexpr Signature signature = "slice(input: Tensor, dim: int, start: int, end: int, step: int = 1) -> Tensor";
  static constexpr auto doc = "Every step-th index from start to end along dim; bounds clamp as in Python.";
  static constexpr Module module = Module::hidden;
  int64_t dim, start, end, step;
  static constexpr Fields fields{&Slice::dim, &Slice::start, &Slice::end, &Slice::step};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Squeeze : ViewOp {
  static constexpr Signature signature = "squeeze(input: Tensor, dim: list[int] | int | None = None) -> Tensor";
  static constexpr auto doc = "Axes of size 1 removed: all, or those named.";
  static constexpr InplaceRule inplace{.offered = true};
  std::optional<Dims> dim;
  static constexpr Fields fields{&Squeeze::dim};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Unsqueeze : ViewOp {
  static constexpr Signature signature = "unsqueeze(input: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "A new axis of size 1 at dim.";
  static constexpr InplaceRule inplace{.offered = true};
  int64_t dim;
  static constexpr Fields fields{&Unsqueeze::dim};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct AsStrided : ViewOp {
  static constexpr Signature signature =
      "as_strided(input: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> Tensor";
  static constexpr auto doc = "Any geometry over input's storage. RuntimeError when it reaches beyond.";
  static constexpr InplaceRule inplace{.offered = true};
  Dims size, stride;
  std::optional<int64_t> storage_offset;
  static constexpr Fields fields{&AsStrided::size, &AsStrided::stride, &AsStrided::storage_offset};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Diagonal : ViewOp {
  static constexpr Signature signature =
      "diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor";
  static constexpr auto doc = "The diagonal of two axes as a new last axis.";
  int64_t offset, dim1, dim2;
  static constexpr Fields fields{&Diagonal::offset, &Diagonal::dim1, &Diagonal::dim2};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Unfold : ViewOp {
  static constexpr Signature signature = "unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor";
  static constexpr auto doc = "All windows of `size` along a dimension as a new last axis.";
  static constexpr Module module = Module::method;
  int64_t dimension, size, step;
  static constexpr Fields fields{&Unfold::dimension, &Unfold::size, &Unfold::step};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// ---- composites over them ------------------------------------------------------------------------------------
struct Reshape : Op {
  static constexpr Signature signature = "reshape(input: Tensor, *shape: int) -> Tensor";
  static constexpr auto doc = "The same elements in another shape: a view where strides allow it, else a copy.";
  Dims shape;
  static constexpr Fields fields{&Reshape::shape};
  Tensor compose(Inputs in) const;
};

struct Flatten : Op {
  static constexpr Signature signature = "flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor";
  static constexpr auto doc = "Axes start_dim to end_dim made one.";
  int64_t start_dim, end_dim;
  static constexpr Fields fields{&Flatten::start_dim, &Flatten::end_dim};
  Tensor compose(Inputs in) const;
};

struct Unflatten : Op {
  static constexpr Signature signature = "unflatten(input: Tensor, dim: int, sizes: list[int]) -> Tensor";
  static constexpr auto doc = "Axis dim split into sizes, one of which may be -1.";
  int64_t dim;
  Dims sizes;
  static constexpr Fields fields{&Unflatten::dim, &Unflatten::sizes};
  Tensor compose(Inputs in) const;
};

struct Narrow : Op {
  static constexpr Signature signature = "narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor";
  static constexpr auto doc = "`length` indices from start along dim.";
  int64_t dim, start, length;
  static constexpr Fields fields{&Narrow::dim, &Narrow::start, &Narrow::length};
  Tensor compose(Inputs in) const;
};

struct NarrowTensor : Op {
  static constexpr Signature signature = "narrow.Tensor(input: Tensor, dim: int, start: Tensor, length: int) -> Tensor";
  static constexpr auto doc = "As narrow, from a 0-d integer tensor on.";
  int64_t dim;
  int64_t length;
  static constexpr Fields fields{&NarrowTensor::dim, &NarrowTensor::length};
  Tensor compose(Inputs in) const;
};

struct Movedim : Op {
  static constexpr Signature signature =
      "movedim(input: Tensor, source: int | list[int], destination: int | list[int]) -> Tensor";
  static constexpr auto doc = "Axes moved from source to destination, the others in order.";
  Dims source, destination;
  static constexpr Fields fields{&Movedim::source, &Movedim::destination};
  Tensor compose(Inputs in) const;
};

struct Unbind : Op {
  static constexpr Signature signature = "unbind(input: Tensor, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "All slices along dim.";
  int64_t dim;
  static constexpr Fields fields{&Unbind::dim};
  Tensors compose(Inputs in) const;
};

struct Split : Op {
  static constexpr Signature signature = "split(input: Tensor, split_size: int, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Views of split_size indices along dim, the last one smaller when it does not divide.";
  static constexpr CallRule calling{.numpy_names = false};
  int64_t split_size, dim;
  static constexpr Fields fields{&Split::split_size, &Split::dim};
  Tensors compose(Inputs in) const;
};

struct SplitSizes : Op {
  static constexpr Signature signature =
      "split.sizes(input: Tensor, split_size: Sequence[int], dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Views of the given sizes along dim; they must sum to its size.";
  static constexpr CallRule calling{.numpy_names = false};
  Places sizes;
  int64_t dim;
  static constexpr Fields fields{&SplitSizes::sizes, &SplitSizes::dim};
  Tensors compose(Inputs in) const;
};

// torch.split calls its tensor so.
struct SplitTensor : Split {
  static constexpr Signature signature = "split.tensor(tensor: Tensor, split_size_or_sections: int, dim: int = 0) -> list[Tensor]";
};

struct SplitTensorSizes : SplitSizes {
  static constexpr Signature signature =
      "split.tensor_sizes(tensor: Tensor, split_size_or_sections: Sequence[int], dim: int = 0) -> list[Tensor]";
};

struct Chunk : Op {
  static constexpr Signature signature = "chunk(input: Tensor, chunks: int, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "At most `chunks` views of equal size along dim, the last one smaller.";
  int64_t chunks, dim;
  static constexpr Fields fields{&Chunk::chunks, &Chunk::dim};
  Tensors compose(Inputs in) const;
};

using ViewOps = OpList<View, ViewDtype, Transpose, Swapaxes, MatrixTranspose, Permute, Expand, Select, Slice, Squeeze, Unsqueeze, AsStrided, Diagonal,
                       Unfold, Reshape, Flatten, Unflatten, Narrow, NarrowTensor, Movedim, Unbind, Split, SplitSizes, SplitTensor,
                       SplitTensorSizes, Chunk>;

namespace fn {
inline constexpr Fn<View, ViewDtype> view;
inline constexpr Fn<Transpose> transpose;
inline constexpr Fn<MatrixTranspose> t;
inline constexpr Fn<Permute> permute;
inline constexpr Fn<Expand> expand;
inline constexpr Fn<Select> select;
inline constexpr Fn<Slice> slice;
inline constexpr Fn<Squeeze> squeeze;
inline constexpr Fn<Unsqueeze> unsqueeze;
inline constexpr Fn<AsStrided> as_strided;
inline constexpr Fn<Diagonal> diagonal;
inline constexpr Fn<Unfold> unfold;
inline constexpr Fn<Reshape> reshape;
inline constexpr Fn<Flatten> flatten;
inline constexpr Fn<Unflatten> unflatten;
inline constexpr Fn<Narrow, NarrowTensor> narrow;
inline constexpr Fn<Movedim> movedim;
inline constexpr Fn<Unbind> unbind;
inline constexpr Fn<Split, SplitSizes> split;
inline constexpr Fn<Chunk> chunk;
}  // namespace fn

/// Sizes with a -1 filled in so that they hold `numel` elements. RuntimeError when they cannot.
Dims infer_size(const char* op, const Dims& sizes, int64_t numel);
/// Strides that show `t` in shape `sizes` without a copy, if there are any.
std::optional<Dims> view_strides(const Tensor& t, const Dims& sizes);

}  // namespace weir
