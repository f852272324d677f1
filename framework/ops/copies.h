// Copies of views, row-major and in memory of their own. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct CopyOfView : Op {
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::same, OutHistory::kept};
};

struct AliasCopy : CopyOfView {
  static constexpr Signature signature = "alias_copy(input: Tensor) -> Tensor";
  static constexpr auto doc = "A copy.";
  Tensor compose(Inputs in) const;
};

struct ViewCopy : CopyOfView {
  static constexpr Signature signature = "view_copy(input: Tensor, size: list[int]) -> Tensor";
  static constexpr auto doc = "A copy of the elements in another shape.";
  Dims size;
  static constexpr Fields fields{&ViewCopy::size};
  Tensor compose(Inputs in) const;
};

struct ViewCopyDtype : CopyOfView {
  static constexpr Signature signature = "view_copy.dtype(input: Tensor, dtype: dtype) -> Tensor";
  static constexpr auto doc = "A copy of the bytes as another dtype.";
  DType dtype;
  static constexpr Fields fields{&ViewCopyDtype::dtype};
  bool into_out = false;  // which requires grad where input does, though there is no derivative, as in PyTorch
  void take_out(Inputs, const Tensor&) { into_out = true; }
  Tensor compose(Inputs in) const;
};

struct AsStridedCopy : CopyOfView {
  static constexpr Signature signature =
      "as_strided_copy(input: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> Tensor";
  static constexpr auto doc = "A copy of any geometry over input's storage.";
  Dims size, stride;
  std::optional<int64_t> storage_offset;
  static constexpr Fields fields{&AsStridedCopy::size, &AsStridedCopy::stride, &AsStridedCopy::storage_offset};
  Tensor compose(Inputs in) const;
};

struct DiagonalCopy : CopyOfView {
  static constexpr Signature signature = "diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor";
  static constexpr auto doc = "A copy of `diagonal`.";
  int64_t offset, dim1, dim2;
  static constexpr Fields fields{&DiagonalCopy::offset, &DiagonalCopy::dim1, &DiagonalCopy::dim2};
  Tensor compose(Inputs in) const;
};

struct ExpandCopy : CopyOfView {
  static constexpr Signature signature = "expand_copy(input: Tensor, size: list[int], *, implicit: bool = False) -> Tensor";
  static constexpr auto doc = "A copy of `expand`.";
  Dims size;
  bool implicit;
  static constexpr Fields fields{&ExpandCopy::size, &ExpandCopy::implicit};
  Tensor compose(Inputs in) const;
};

struct PermuteCopy : CopyOfView {
  static constexpr Signature signature = "permute_copy(input: Tensor, dims: list[int]) -> Tensor";
  static constexpr auto doc = "A copy of `permute`.";
  Dims dims;
  static constexpr Fields fields{&PermuteCopy::dims};
  Tensor compose(Inputs in) const;
};

struct SelectCopy : CopyOfView {
  static constexpr Signature signature = "select_copy(input: Tensor, dim: int, index: int) -> Tensor";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr auto doc = "A copy of `select`.";
  int64_t dim, index;
  static constexpr Fields fields{&SelectCopy::dim, &SelectCopy::index};
  Tensor compose(Inputs in) const;
};

struct SliceCopy : CopyOfView {
  static constexpr Signature signature =
      "slice_copy(input: Tensor, dim: int = 0, start: int | Tensor | None = None, end: int | None = None, step: int = 1) -> Tensor";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr auto doc = "A copy of every step-th index from start to end along dim.";
  int64_t dim;
  std::optional<int64_t> start, end;
  int64_t step;
  static constexpr Fields fields{&SliceCopy::dim, &SliceCopy::start, &SliceCopy::end, &SliceCopy::step};
  Tensor compose(Inputs in) const;
};

struct SqueezeCopy : CopyOfView {
  static constexpr Signature signature = "squeeze_copy(input: Tensor, dim: list[int] | int | None = None) -> Tensor";
  static constexpr auto doc = "A copy of `squeeze`.";
  std::optional<Dims> dim;
  static constexpr Fields fields{&SqueezeCopy::dim};
  Tensor compose(Inputs in) const;
};

struct UnsqueezeCopy : CopyOfView {
  static constexpr Signature signature = "unsqueeze_copy(input: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "A copy of `unsqueeze`.";
  int64_t dim;
  static constexpr Fields fields{&UnsqueezeCopy::dim};
  Tensor compose(Inputs in) const;
};

struct TCopy : CopyOfView {
  static constexpr Signature signature = "t_copy(input: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of `t`.";
  Tensor compose(Inputs in) const;
};

struct TransposeCopy : CopyOfView {
  static constexpr Signature signature = "transpose_copy(input: Tensor, dim0: int, dim1: int) -> Tensor";
  static constexpr auto doc = "A copy of `transpose`.";
  int64_t dim0, dim1;
  static constexpr Fields fields{&TransposeCopy::dim0, &TransposeCopy::dim1};
  Tensor compose(Inputs in) const;
};

struct UnfoldCopy : CopyOfView {
  static constexpr Signature signature = "unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Tensor";
  static constexpr auto doc = "A copy of `unfold`.";
  int64_t dimension, size, step;
  static constexpr Fields fields{&UnfoldCopy::dimension, &UnfoldCopy::size, &UnfoldCopy::step};
  Tensor compose(Inputs in) const;
};

struct ViewAsRealCopy : CopyOfView {
  static constexpr Signature signature = "view_as_real_copy(input: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of `view_as_real`.";
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  Tensor compose(Inputs in) const;
};

struct ViewAsComplexCopy : CopyOfView {
  static constexpr Signature signature = "view_as_complex_copy(input: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of `view_as_complex`.";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::exact, OutHistory::refused};
  Tensor compose(Inputs in) const;
};

struct DetachCopy : CopyOfView {
  static constexpr Signature signature = "detach_copy(input: Tensor) -> Tensor";
  static constexpr auto doc = "A copy. It requires grad as input does, and has no derivative, as in PyTorch.";
  static constexpr Notation notation = "move";
  Meta infer(Inputs in) const;
};

struct SplitCopy : CopyOfView {
  static constexpr Signature signature = "split_copy(input: Tensor, split_size: int, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Copies of `split`.";
  static constexpr OutRule out{Out::apart, OutHistory::kept};
  int64_t split_size, dim;
  static constexpr Fields fields{&SplitCopy::split_size, &SplitCopy::dim};
  Tensors compose(Inputs in) const;
};

struct SplitWithSizesCopy : CopyOfView {
  static constexpr Signature signature = "split_with_sizes_copy(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Copies of `split_with_sizes`.";
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  Places split_sizes;
  int64_t dim;
  static constexpr Fields fields{&SplitWithSizesCopy::split_sizes, &SplitWithSizesCopy::dim};
  Tensors compose(Inputs in) const;
};

struct UnbindCopy : CopyOfView {
  static constexpr Signature signature = "unbind_copy(input: Tensor, dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Copies of `unbind`.";
  static constexpr OutRule out{Out::exact, OutHistory::refused};
  int64_t dim;
  static constexpr Fields fields{&UnbindCopy::dim};
  Tensors compose(Inputs in) const;
};

using CopiesOps = OpList<AliasCopy, ViewCopy, ViewCopyDtype, AsStridedCopy, DiagonalCopy, ExpandCopy, PermuteCopy, SelectCopy, SliceCopy, SqueezeCopy,
                         UnsqueezeCopy, TCopy, TransposeCopy, UnfoldCopy, ViewAsRealCopy, ViewAsComplexCopy, DetachCopy, SplitCopy,
                         SplitWithSizesCopy, UnbindCopy>;

}  // namespace weir
