// Reading and writing at indices of the flattened tensor, of slices, and by a mask. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Take : Op {
  static constexpr Signature signature = "take(input: Tensor, index: Tensor) -> Tensor";
  static constexpr auto doc = "Elements of the flattened input. Shape: as index (int64).";
  static constexpr OutRule out{Out::exact};
  static constexpr Save saves{.inputs = 0b10};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Put : Op {
  static constexpr Signature signature = "put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor";
  static constexpr auto doc = "A copy of input with source written, or added, at flat indices.";
  static constexpr Layouts layouts = Layouts::any;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Save saves{.inputs = 0b10};
  static constexpr OutRule out{Out::none};
  bool accumulate;
  static constexpr Fields fields{&Put::accumulate};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct TakeAlongDim : Op {
  static constexpr Signature signature = "take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor";
  static constexpr auto doc = "gather with broadcasting; over the flattened tensors without dim.";
  static constexpr OutRule out{Out::same};
  std::optional<int64_t> dim;
  static constexpr Fields fields{&TakeAlongDim::dim};
  Tensor compose(Inputs in) const;
};

struct IndexFill : Op {
  static constexpr Signature signature = "index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor";
  static constexpr auto doc = "A copy of input with the slices at index along dim set to value (a number, or 0-d).";
  static constexpr CallRule calling{.writes_number = true};
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  static constexpr OutRule out{Out::none};
  int64_t dim;
  bool over_itself = false;  // in place: as in MaskedFill
  static constexpr Fields fields{&IndexFill::dim};
  void take_out(Inputs in, const Tensor& out);
  Tensor compose(Inputs in) const;
};

struct IndexCopy : Op {
  static constexpr Signature signature = "index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of input with the slices of source at index along dim.";
  static constexpr OutRule out{Out::same};
  static constexpr Autocast autocast = Autocast::promote;
  static constexpr InplaceRule inplace{.offered = true};
  int64_t dim;
  static constexpr Fields fields{&IndexCopy::dim};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct MaskedScatter : Op {
  static constexpr Signature signature = "masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of input with source's elements in order where mask holds.";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct CheckIndex : Op {
  static constexpr Signature signature = "check_index(index: Tensor, size: int, wrap: bool, op: str) -> Tensor";
  static constexpr auto doc = "index, with `wrap` negative entries counted from the end. IndexError, about `op`, outside [0, size), or [-size, size).";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  int64_t size;
  bool wrap;
  Str op;
  static constexpr Fields fields{&CheckIndex::size, &CheckIndex::wrap, &CheckIndex::op};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
};

struct MaskPositions : Op {
  static constexpr Signature signature = "mask_positions(mask: Tensor, available: int) -> Tensor";
  static constexpr auto doc =
      "For each element of a bool mask how many before it hold, row by row, int64. RuntimeError where more hold than are available.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  int64_t available;
  static constexpr Fields fields{&MaskPositions::available};
  Meta infer(Inputs in) const { return {in[0].sizes(), DType::int64, in[0].device()}; }
};

struct ScatterByMask : Op {
  static constexpr Signature signature = "scatter_by_mask(input: Tensor, mask: Tensor, source: Tensor) -> Tensor";
  static constexpr auto doc = "masked_scatter of an input and a mask of the same sizes, row-major, in one pass.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
};

using PlaceOps = OpList<Take, Put, TakeAlongDim, IndexFill, IndexCopy, MaskedScatter, CheckIndex, MaskPositions, ScatterByMask>;

namespace fn {
inline constexpr Fn<Take> take;
inline constexpr Fn<Put> put;
inline constexpr Fn<TakeAlongDim> take_along_dim;
inline constexpr Fn<IndexFill> index_fill;
inline constexpr Fn<IndexCopy> index_copy;
inline constexpr Fn<MaskedScatter> masked_scatter;
inline constexpr Fn<CheckIndex> check_index;
inline constexpr Fn<MaskPositions> mask_positions;
inline constexpr Fn<ScatterByMask> scatter_by_mask;
}  // namespace fn

}  // namespace weir
