// Splitting into nearly equal parts, or at given places. Source: https://pytorch.org/docs/stable/generated/torch.tensor_split.html
#pragma once
#include "framework/ops/view.h"

namespace weir {

struct TensorSplit : Op {
  static constexpr Signature signature = "tensor_split.sections(input: Tensor, sections: int, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "`sections` views along dim, the first ones larger by one where its size does not divide.";
  int64_t sections, dim;
  static constexpr Fields fields{&TensorSplit::sections, &TensorSplit::dim};
  Tensors compose(Inputs in) const;
};

struct TensorSplitAt : Op {
  static constexpr Signature signature = "tensor_split.indices(input: Tensor, indices: Sequence[int], dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Views along dim that begin at 0 and at each of `indices`, which clamp as in Python's slices.";
  Places indices;
  int64_t dim;
  static constexpr Fields fields{&TensorSplitAt::indices, &TensorSplitAt::dim};
  Tensors compose(Inputs in) const;
};

struct TensorSplitBy : Op {
  static constexpr Signature signature =
      "tensor_split.tensor_indices_or_sections(input: Tensor, tensor_indices_or_sections: Tensor, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "As the other two: by the number in a 0-d int64 tensor, or at the places in a 1-d one, on the CPU.";
  int64_t dim;
  static constexpr Fields fields{&TensorSplitBy::dim};
  Tensors compose(Inputs in) const;
};

struct Hsplit : Op {
  static constexpr Signature signature = "hsplit.int(input: Tensor, sections: int) -> list[Tensor]";
  static constexpr auto doc = "`sections` equal views of the columns (of a vector, elements). RuntimeError where their number does not divide.";
  int64_t sections;
  static constexpr Fields fields{&Hsplit::sections};
  Tensors compose(Inputs in) const;
};
struct HsplitAt : Op {
  static constexpr Signature signature = "hsplit.array(input: Tensor, indices: Sequence[int]) -> list[Tensor]";
  static constexpr auto doc = "Views of the columns (of a vector, elements) that begin at 0 and at each of `indices`.";
  Places indices;
  static constexpr Fields fields{&HsplitAt::indices};
  Tensors compose(Inputs in) const;
};

struct Vsplit : Op {
  static constexpr Signature signature = "vsplit.int(input: Tensor, sections: int) -> list[Tensor]";
  static constexpr auto doc = "`sections` equal views of the rows. RuntimeError where their number does not divide.";
  int64_t sections;
  static constexpr Fields fields{&Vsplit::sections};
  Tensors compose(Inputs in) const;
};
struct VsplitAt : Op {
  static constexpr Signature signature = "vsplit.array(input: Tensor, indices: Sequence[int]) -> list[Tensor]";
  static constexpr auto doc = "Views of the rows that begin at 0 and at each of `indices`.";
  Places indices;
  static constexpr Fields fields{&VsplitAt::indices};
  Tensors compose(Inputs in) const;
};

struct Dsplit : Op {
  static constexpr Signature signature = "dsplit.int(input: Tensor, sections: int) -> list[Tensor]";
  static constexpr auto doc = "`sections` equal views of the slices of axis 2. RuntimeError where their number does not divide.";
  int64_t sections;
  static constexpr Fields fields{&Dsplit::sections};
  Tensors compose(Inputs in) const;
};
struct DsplitAt : Op {
  static constexpr Signature signature = "dsplit.array(input: Tensor, indices: Sequence[int]) -> list[Tensor]";
  static constexpr auto doc = "Views of the slices of axis 2 that begin at 0 and at each of `indices`.";
  Places indices;
  static constexpr Fields fields{&DsplitAt::indices};
  Tensors compose(Inputs in) const;
};

struct UnsafeView : ViewOp {
  static constexpr Signature signature = "unsafe_view(input: Tensor) -> Tensor";
  static constexpr auto doc = "The same memory, which is no view to autograd.";
  static constexpr Module module = Module::hidden;
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct UnsafeSplit : Op {
  static constexpr Signature signature = "unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "split whose parts are no views to autograd; of a conjugate view in memory of its own.";
  int64_t split_size, dim;
  static constexpr Fields fields{&UnsafeSplit::split_size, &UnsafeSplit::dim};
  Tensors compose(Inputs in) const;
};
struct UnsafeSplitWithSizes : Op {
  static constexpr Signature signature = "unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "split_with_sizes whose parts are no views to autograd; of a conjugate view in memory of its own.";
  Places split_sizes;
  int64_t dim;
  static constexpr Fields fields{&UnsafeSplitWithSizes::split_sizes, &UnsafeSplitWithSizes::dim};
  Tensors compose(Inputs in) const;
};
struct UnsafeChunk : Op {
  static constexpr Signature signature = "unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "chunk whose parts are no views to autograd; of a conjugate view in memory of its own.";
  int64_t chunks, dim;
  static constexpr Fields fields{&UnsafeChunk::chunks, &UnsafeChunk::dim};
  Tensors compose(Inputs in) const;
};

using SplitOps = OpList<TensorSplitBy, TensorSplit, TensorSplitAt, Hsplit, HsplitAt, Vsplit, VsplitAt, Dsplit, DsplitAt, UnsafeView,
                        UnsafeSplit, UnsafeSplitWithSizes, UnsafeChunk>;

namespace fn {
inline constexpr Fn<TensorSplit, TensorSplitAt, TensorSplitBy> tensor_split;
inline constexpr Fn<Hsplit, HsplitAt> hsplit;
inline constexpr Fn<Vsplit, VsplitAt> vsplit;
inline constexpr Fn<Dsplit, DsplitAt> dsplit;
inline constexpr Fn<UnsafeView> unsafe_view;
}  // namespace fn

}  // namespace weir
