// Joining, repeating and laying tensors beside each other. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/factory.h"
#include "framework/ops/index.h"

namespace weir {

struct Hstack : Op {
  static constexpr Signature signature = "hstack(tensors: list[Tensor]) -> Tensor";
  static constexpr auto doc = "Joined along axis 1, vectors along axis 0.";
  static constexpr OutRule out{Out::joined};
  void take_out(Inputs in, const Tensor& out) const { check_joined(in, out); }
  Tensor compose(Inputs in) const;
};

struct Vstack : Op {
  static constexpr Signature signature = "vstack(tensors: list[Tensor]) -> Tensor";
  static constexpr auto doc = "Joined as rows.";
  static constexpr OutRule out{Out::joined};
  void take_out(Inputs in, const Tensor& out) const { check_joined(in, out); }
  Tensor compose(Inputs in) const;
};

struct Dstack : Op {
  static constexpr Signature signature = "dstack(tensors: list[Tensor]) -> Tensor";
  static constexpr auto doc = "Joined along axis 2.";
  static constexpr OutRule out{Out::joined};
  void take_out(Inputs in, const Tensor& out) const { check_joined(in, out); }
  Tensor compose(Inputs in) const;
};

struct ColumnStack : Op {
  static constexpr Signature signature = "column_stack(tensors: list[Tensor]) -> Tensor";
  static constexpr auto doc = "Joined as columns.";
  static constexpr OutRule out{Out::joined};
  void take_out(Inputs in, const Tensor& out) const { check_joined(in, out); }
  Tensor compose(Inputs in) const;
};

struct Atleast : Op {
  static constexpr Signature signature = "atleast(input: Tensor, rank: int) -> Tensor";
  static constexpr auto doc = "input with axes of size 1 added until it has rank (1 to 3): in front, and behind those of a matrix.";
  static constexpr Module module = Module::hidden;
  int64_t rank;
  static constexpr Fields fields{&Atleast::rank};
  Tensor compose(Inputs in) const;
};

struct Tile : Op {
  static constexpr Signature signature = "tile(input: Tensor, *dims: int) -> Tensor";
  static constexpr auto doc = "Repeated `dims` times along each axis, from the last one on.";
  static constexpr OutRule out{Out::none};
  Dims dims;
  static constexpr Fields fields{&Tile::dims};
  Tensor compose(Inputs in) const;
};

struct BlockDiag : Op {
  static constexpr Signature signature = "block_diag(*tensors: Tensor) -> Tensor";
  static constexpr auto doc = "Matrices along the diagonal of a larger one, zeros elsewhere; vectors and numbers count as rows.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::opaque;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct BroadcastTensors : Op {
  static constexpr Signature signature = "broadcast_tensors(*tensors: Tensor) -> list[Tensor]";
  static constexpr auto doc = "All tensors expanded to their common shape.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};

struct BroadcastTo : Op {
  static constexpr Signature signature = "broadcast_to(input: Tensor, size: list[int]) -> Tensor";
  static constexpr auto doc = "input expanded to `size`.";
  static constexpr OutRule out{Out::none};
  Dims size;
  static constexpr Fields fields{&BroadcastTo::size};
  Tensor compose(Inputs in) const;
};

struct Meshgrid : Op {
  static constexpr Signature signature = "meshgrid(*tensors: list[Tensor], indexing: str | None = None) -> list[Tensor]";
  static constexpr auto doc = "A grid per vector, each of the shape of all lengths; indexing 'xy' swaps the first two axes, 'ij' and None do not.";
  static constexpr Module module = Module::function;
  std::optional<Str> indexing;
  static constexpr Fields fields{&Meshgrid::indexing};
  Tensors compose(Inputs in) const;
};

struct CartesianProd : Op {
  static constexpr Signature signature = "cartesian_prod(*tensors: Tensor) -> Tensor";
  static constexpr auto doc = "All tuples of one element per vector, as rows. One vector alone stays as it is.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct CombinationRows : Op {
  static constexpr Signature signature = "combination_rows(n: int, r: int, with_replacement: bool) -> Tensor";
  static constexpr auto doc = "The r-element selections of 0 .. n - 1 in order, as rows. Shape: (count, r), int64.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::hidden;
  int64_t n, r;
  bool with_replacement;
  static constexpr Fields fields{&CombinationRows::n, &CombinationRows::r, &CombinationRows::with_replacement};
  Meta infer(Inputs in) const;
};

struct Combinations : Op {
  static constexpr Signature signature = "combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor";
  static constexpr auto doc = "All r-element selections of a vector, as rows.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  int64_t r;
  bool with_replacement;
  static constexpr Fields fields{&Combinations::r, &Combinations::with_replacement};
  Tensor compose(Inputs in) const;
};

/// What `tril_indices` and `triu_indices` share: the row and column indices of a triangle, in order.
struct TriangleIndices : Factory {
  static constexpr OutRule out{Out::none};
  static constexpr Notation notation = "fill";
  int64_t row, col, offset;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&TriangleIndices::row, &TriangleIndices::col, &TriangleIndices::offset, &TriangleIndices::dtype, &TriangleIndices::device};
  Meta meta(bool upper) const;
  /// The columns [begin, end) of row `r` that belong to the triangle.
  std::pair<int64_t, int64_t> columns(bool upper, int64_t r) const;
};

struct TrilIndices : TriangleIndices {
  static constexpr bool kUpper = false;
  static constexpr Signature signature =
      "tril_indices(row: int, col: int, offset: int = 0, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Row and column indices of a matrix's lower triangle, in order. Shape: (2, count).";
  Meta infer(Inputs) const { return meta(kUpper); }
};

struct TriuIndices : TriangleIndices {
  static constexpr bool kUpper = true;
  static constexpr Signature signature =
      "triu_indices(row: int, col: int, offset: int = 0, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Row and column indices of a matrix's upper triangle, in order. Shape: (2, count).";
  Meta infer(Inputs) const { return meta(kUpper); }
};

struct SplitWithSizes : Op {
  static constexpr Signature signature = "split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]";
  static constexpr auto doc = "Views of the given sizes along dim.";
  Places split_sizes;
  int64_t dim;
  static constexpr Fields fields{&SplitWithSizes::split_sizes, &SplitWithSizes::dim};
  Tensors compose(Inputs in) const;
};

using JoinOps = OpList<Hstack, Vstack, Dstack, ColumnStack, Atleast, Tile, BlockDiag, BroadcastTensors, BroadcastTo, Meshgrid, CartesianProd,
                       CombinationRows, Combinations, TrilIndices, TriuIndices, SplitWithSizes>;

namespace fn {
inline constexpr Fn<Atleast> atleast;
inline constexpr Fn<Meshgrid> meshgrid;
inline constexpr Fn<CombinationRows> combination_rows;
}  // namespace fn

}  // namespace weir
