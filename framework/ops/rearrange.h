// Turning and mirroring, diagonals, and writes into a copy at the place of a view. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Fliplr : Op {
  static constexpr Signature signature = "fliplr(input: Tensor) -> Tensor";
  static constexpr auto doc = "Axis 1 reversed.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Flipud : Op {
  static constexpr Signature signature = "flipud(input: Tensor) -> Tensor";
  static constexpr auto doc = "Axis 0 reversed.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Rot90 : Op {
  static constexpr Signature signature = "rot90(input: Tensor, k: int = 1, dims: list[int] | None = None) -> Tensor";
  static constexpr auto doc = "Rotated k times by 90 degrees from the first of `dims`, [0, 1] unless told, to the second.";
  static constexpr OutRule out{Out::none};
  int64_t k;
  std::optional<Dims> dims;
  static constexpr Fields fields{&Rot90::k, &Rot90::dims};
  Tensor compose(Inputs in) const;
};

struct DiagEmbed : Op {
  static constexpr Signature signature = "diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor";
  static constexpr auto doc = "The last axis spread over the diagonal of two new axes.";
  static constexpr OutRule out{Out::none};
  int64_t offset, dim1, dim2;
  static constexpr Fields fields{&DiagEmbed::offset, &DiagEmbed::dim1, &DiagEmbed::dim2};
  Tensor compose(Inputs in) const;
};

struct Diag : Op {
  static constexpr Signature signature = "diag(input: Tensor, diagonal: int = 0) -> Tensor";
  static constexpr auto doc = "The diagonal of a matrix, or the matrix with a vector on its diagonal.";
  static constexpr OutRule out{Out::same, OutHistory::kept};
  int64_t diagonal;
  static constexpr Fields fields{&Diag::diagonal};
  Tensor compose(Inputs in) const;
};

struct Diagflat : Op {
  static constexpr Signature signature = "diagflat(input: Tensor, offset: int = 0) -> Tensor";
  static constexpr auto doc = "A matrix with all elements of input on its diagonal.";
  static constexpr OutRule out{Out::none};
  int64_t offset;
  static constexpr Fields fields{&Diagflat::offset};
  Tensor compose(Inputs in) const;
};

// The four writes share their kernel: a copy of input, with src written where the view of the same name would look.
struct DiagonalScatter : Op {
  static constexpr Signature signature = "diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor";
  static constexpr auto doc = "A copy of input with src on its diagonal.";
  static constexpr Notation notation = "move";
  static constexpr OutRule out{Out::none};
  static constexpr Layouts layouts = Layouts::apart;
  int64_t offset, dim1, dim2;
  static constexpr Fields fields{&DiagonalScatter::offset, &DiagonalScatter::dim1, &DiagonalScatter::dim2};
  Geometry place(const Tensor& x) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SelectScatter : Op {
  static constexpr Signature signature = "select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor";
  static constexpr auto doc = "A copy of input with src as its slice `index` along dim.";
  static constexpr Notation notation = "move";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::none};
  static constexpr Layouts layouts = Layouts::apart;
  int64_t dim, index;
  static constexpr Fields fields{&SelectScatter::dim, &SelectScatter::index};
  Geometry place(const Tensor& x) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SliceScatter : Op {
  static constexpr Signature signature =
      "slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | Tensor | None = None, end: int | None = None, step: int = 1) -> Tensor";
  static constexpr auto doc = "A copy of input with src at start:end:step along dim.";
  static constexpr Notation notation = "move";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::same, OutHistory::kept};
  static constexpr Layouts layouts = Layouts::apart;
  int64_t dim;
  std::optional<int64_t> start, end;
  int64_t step;
  static constexpr Fields fields{&SliceScatter::dim, &SliceScatter::start, &SliceScatter::end, &SliceScatter::step};
  Geometry place(const Tensor& x) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct AsStridedScatter : Op {
  static constexpr Signature signature =
      "as_strided_scatter(input: Tensor, src: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> Tensor";
  static constexpr auto doc =
      "A copy of input with src written through a strided window. Gradient: input gets that of the window's elements, and zeros for all "
      "others, as in PyTorch.";
  static constexpr Notation notation = "move";
  static constexpr OutRule out{Out::none};
  static constexpr Layouts layouts = Layouts::apart;
  Dims size, stride;
  std::optional<int64_t> storage_offset;
  static constexpr Fields fields{&AsStridedScatter::size, &AsStridedScatter::stride, &AsStridedScatter::storage_offset};
  Geometry place(const Tensor& x) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct UnfoldBackward : Op {
  static constexpr Signature signature = "unfold_backward(grad_in: Tensor, input_sizes: list[int], dim: int, size: int, step: int) -> Tensor";
  static constexpr auto doc = "The sums of windows where they overlap: what `unfold` along dim, of a tensor of input_sizes, gives back.";
  static constexpr Notation notation = "move";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  Dims input_sizes;
  int64_t dim, size, step;
  static constexpr Fields fields{&UnfoldBackward::input_sizes, &UnfoldBackward::dim, &UnfoldBackward::size, &UnfoldBackward::step};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using RearrangeOps = OpList<Fliplr, Flipud, Rot90, DiagEmbed, Diag, Diagflat, DiagonalScatter, SelectScatter, SliceScatter, AsStridedScatter,
                            UnfoldBackward>;

namespace fn {
inline constexpr Fn<DiagEmbed> diag_embed;
inline constexpr Fn<DiagonalScatter> diagonal_scatter;
inline constexpr Fn<SelectScatter> select_scatter;
inline constexpr Fn<SliceScatter> slice_scatter;
inline constexpr Fn<AsStridedScatter> as_strided_scatter;
inline constexpr Fn<UnfoldBackward> unfold_backward;
}  // namespace fn

}  // namespace weir
