// Joining, indexing and sorting. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/scatter.h"

namespace weir {

/// TypeError where an out= cannot hold what `tensors` are joined to, which PyTorch looks at before their shapes.
void check_joined(Inputs tensors, const Tensor& out);

struct Cat : Op {
  static constexpr Signature signature =
      "cat(tensors: list[Tensor], dim: int = 0) -> Tensor";
  static constexpr auto doc = "Tensors joined along dim; dtypes promote, empty 1-d tensors are skipped.";
  static constexpr Notation notation = "move";
  static constexpr Layouts layouts = Layouts::apart;
  static constexpr OutRule out{Out::joined};
  static constexpr Autocast autocast = Autocast::promote;
  int64_t dim;
  static constexpr Fields fields{&Cat::dim};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Stack : Op {
  static constexpr Signature signature =
      "stack(tensors: list[Tensor], dim: int = 0) -> Tensor";
  static constexpr auto doc = "Tensors of one shape joined along a new axis.";
  static constexpr OutRule out{Out::joined};
  int64_t dim;
  static constexpr Fields fields{&Stack::dim};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct Flip : Op {
  static constexpr Signature signature =
      "flip(input: Tensor, *dims: int) -> Tensor";
  static constexpr auto doc = "Order reversed along dims.";
  static constexpr Notation notation = "move";
  static constexpr OutRule out{Out::none};
  static constexpr Layouts layouts = Layouts::apart;
  Dims dims;
  static constexpr Fields fields{&Flip::dims};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Roll : Op {
  static constexpr Signature signature =
      "roll(input: Tensor, shifts: int | list[int], dims: int | list[int] = []) -> Tensor";
  static constexpr auto doc = "Elements shifted around along dims (flattened when none is named).";
  static constexpr OutRule out{Out::none};
  Dims shifts;
  Dims dims;
  static constexpr Fields fields{&Roll::shifts, &Roll::dims};
  Tensor compose(Inputs in) const;
};

struct Repeat : Op {
  static constexpr Signature signature =
      "repeat(input: Tensor, *repeats: int) -> Tensor";
  static constexpr auto doc = "input tiled repeats times along each axis; new axes come in front.";
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::method;
  Dims repeats;
  static constexpr Fields fields{&Repeat::repeats};
  Tensor compose(Inputs in) const;
};

struct IndexSelect : Op {
  static constexpr Signature signature =
      "index_select(input: Tensor, dim: int, index: Tensor) -> Tensor";
  static constexpr auto doc = "The slices of input at index (1-d) along dim.";
  static constexpr Notation notation = "gather";
  static constexpr OutRule out{Out::exact};
  static constexpr Save saves{.inputs = 0b10};
  int64_t dim;
  static constexpr Fields fields{&IndexSelect::dim};
  Meta infer(Inputs in) const;
  void take_out(Inputs in, const Tensor& out) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct IndexAdd : Op {
  static constexpr Signature signature =
      "index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "A copy of input with alpha * source added at index (1-d) along dim.";
  static constexpr Notation notation = "scatter";
  static constexpr Save saves{.inputs = 0b10};
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::exact};
  int64_t dim;
  Scalar alpha;
  static constexpr Fields fields{&IndexAdd::dim, &IndexAdd::alpha};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct IndexRows : Op {
  static constexpr Signature signature =
      "index_rows(input: Tensor, indices: list[Tensor], lead: int) -> Tensor";
  static constexpr auto doc = "input[indices] for as many leading axes as there are int64 indices of one shape. Of the other axes `lead` come before the "
                              "indices' own in the result, which is laid out in the order of input's strides and of the indices'.";
  static constexpr Notation notation = "gather";
  static constexpr Layouts layouts = Layouts::apart;
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11111110};
  int64_t lead;
  static constexpr Fields fields{&IndexRows::lead};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct IndexPutRows : Op {
  static constexpr Signature signature =
      "index_put_rows(input: Tensor, values: Tensor, indices: list[Tensor], accumulate: bool) -> Tensor";
  static constexpr auto doc = "input with values written, or added, at leading indices.";
  static constexpr Notation notation = "scatter";
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11111100};
  static constexpr Layouts layouts = Layouts::any;
  bool accumulate;
  static constexpr Fields fields{&IndexPutRows::accumulate};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MaskedFill : Op {
  static constexpr Signature signature =
      "masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor";
  static constexpr auto doc = "value where mask holds, input elsewhere; value does not change the dtype.";
  static constexpr CallRule calling{.writes_number = true};
  static constexpr OutRule out{Out::none};
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  bool over_itself = false;  // in place: elements that share memory are filled where the mask of any of them holds
  void take_out(Inputs in, const Tensor& out) { over_itself = out == in[0]; }
  Tensor compose(Inputs in) const;
};

struct MaskedSelect : Op {
  static constexpr Signature signature =
      "masked_select(input: Tensor, mask: Tensor) -> Tensor";
  static constexpr auto doc = "The elements where mask holds, as a 1-d tensor.";
  static constexpr OutRule out{Out::exact};
  Tensor compose(Inputs in) const;
};

struct Sort : Op {
  static constexpr Signature signature =
      "sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "Elements in order along dim, equal ones in input's order, NaN as the largest.";
  static constexpr Notation notation = "along dim";
  static constexpr Save saves{.outputs = 0b10};
  int64_t dim;
  bool descending;
  std::optional<bool> stable;
  static constexpr Fields fields{&Sort::dim, &Sort::descending, &Sort::stable};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Topk : Op {
  static constexpr Signature signature =
      "topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "The k largest (or smallest) elements along dim, in order if `sorted`.";
  static constexpr Notation notation = "along dim";
  static constexpr Save saves{.outputs = 0b10};
  int64_t k;
  int64_t dim;
  bool largest;
  bool sorted;
  static constexpr Fields fields{&Topk::k, &Topk::dim, &Topk::largest, &Topk::sorted};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Embedding : Op {
  static constexpr Signature signature =
      "embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor";
  static constexpr auto doc = "Rows of weight (num, dim) at indices. Shape: indices' shape + (dim,). padding_idx gets no gradient.";
  static constexpr Notation notation = "gather";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::none};
  static constexpr Save saves{.inputs = 0b10};
  int64_t padding_idx;
  bool scale_grad_by_freq;
  bool sparse;
  static constexpr Fields fields{&Embedding::padding_idx, &Embedding::scale_grad_by_freq, &Embedding::sparse};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct EmbeddingBackward : Op {
  static constexpr Signature signature =
      "embedding_backward(grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Tensor";
  static constexpr auto doc = "Gradient of embedding's weight.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b10};
  int64_t num_weights;
  int64_t padding_idx;
  bool scale_grad_by_freq;
  static constexpr Fields fields{&EmbeddingBackward::num_weights, &EmbeddingBackward::padding_idx, &EmbeddingBackward::scale_grad_by_freq};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using IndexOps = OpList<Cat, Stack, Flip, Roll, Repeat, IndexSelect, IndexAdd, IndexRows,
                        IndexPutRows, MaskedFill, MaskedSelect, Sort, Topk, Embedding, EmbeddingBackward>;

namespace fn {
inline constexpr Fn<Cat> cat;
inline constexpr Fn<Stack> stack;
inline constexpr Fn<Flip> flip;
inline constexpr Fn<Roll> roll;
inline constexpr Fn<Repeat> repeat;
inline constexpr Fn<IndexSelect> index_select;
inline constexpr Fn<IndexAdd> index_add;
inline constexpr Fn<IndexRows> index_rows;
inline constexpr Fn<IndexPutRows> index_put_rows;
inline constexpr Fn<MaskedFill> masked_fill;
inline constexpr Fn<MaskedSelect> masked_select;
inline constexpr Fn<Sort> sort;
inline constexpr Fn<Topk> topk;
inline constexpr Fn<Embedding> embedding;
inline constexpr Fn<EmbeddingBackward> embedding_backward;
}  // namespace fn

/// Python's x[indices]: an undefined entry keeps its axis; bool entries count as their nonzero coordinates.
Tensor index(const Tensor& x, const Tensors& indices);
/// x[indices] = values, or += with accumulate; values of x's dtype broadcast, and one number of any goes where one mask holds.
/// Works through views and is recorded as in-place.
void index_put(const Tensor& x, const Tensors& indices, const Tensor& values, bool accumulate);

/// RuntimeError where a number, or that in a tensor of one element, is to be written as one of dtype `t` and lies beyond its range. Floating
/// types have infinities, and a negative whole number wraps in an unsigned type. Source: c10::overflows.
void check_written(const Tensor& number, DType t);

/// The mask, for a fill of `x` in place, of elements that share memory: each is filled where the mask of any of them holds.
Tensor shared_mask(const Tensor& x, const Tensor& mask);

}  // namespace weir
