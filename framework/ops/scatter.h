// Gathering, and scattering with or without a reduction. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Gather : Op {
  static constexpr Signature signature =
      "gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor";
  static constexpr auto doc = "input's elements at index along dim. Shape: as index (int64).";
  static constexpr Notation notation = "gather";
  static constexpr OutRule out{Out::exact};
  static constexpr Save saves{.inputs = 0b10};
  int64_t dim;
  bool sparse_grad;
  static constexpr Fields fields{&Gather::dim, &Gather::sparse_grad};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Scatter : Op {
  static constexpr Signature signature =
      "scatter(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of input with src written at index along dim.";
  static constexpr Notation notation = "scatter";
  static constexpr Save saves{.inputs = 0b10};
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::exact};
  int64_t dim;
  static constexpr Fields fields{&Scatter::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ScatterValue : Op {
  static constexpr Signature signature =
      "scatter.value(input: Tensor, dim: int, index: Tensor, value: Number) -> Tensor";
  static constexpr auto doc = "A copy of input with value written at index along dim.";
  static constexpr Notation notation = "scatter";
  static constexpr Save saves{.inputs = 0b10};
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::exact};
  int64_t dim;
  Scalar value;
  static constexpr Fields fields{&ScatterValue::dim, &ScatterValue::value};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// The forms of scatter with `reduce`, which have no derivative, as in PyTorch.
struct ScatterReduced : Op {
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  int64_t dim;
};

struct ScatterSrcReduced : ScatterReduced {
  static constexpr Signature signature = "scatter.reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor";
  static constexpr auto doc = "input with src's elements added to, or multiplied with, those at index along dim; reduce: add or multiply.";
  static constexpr Notation notation = "scatter";
  Str reduce;
  static constexpr Fields fields{&ScatterSrcReduced::dim, &ScatterSrcReduced::reduce};
  Meta infer(Inputs in) const;
};

struct ScatterValueReduced : ScatterReduced {
  static constexpr Signature signature = "scatter.value_reduce(input: Tensor, dim: int, index: Tensor, value: Number, *, reduce: str) -> Tensor";
  static constexpr auto doc = "input with value added to, or multiplied with, the elements at index along dim; reduce: add or multiply.";
  static constexpr Notation notation = "scatter";
  Scalar value;
  Str reduce;
  static constexpr Fields fields{&ScatterValueReduced::dim, &ScatterValueReduced::value, &ScatterValueReduced::reduce};
  Meta infer(Inputs in) const;
};

struct ScatterAdd : Op {
  static constexpr Signature signature =
      "scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of input with src added at index along dim.";
  static constexpr Notation notation = "scatter";
  static constexpr Save saves{.inputs = 0b10};
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::exact};
  int64_t dim;
  static constexpr Fields fields{&ScatterAdd::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ScatterReduce : Op {
  static constexpr Signature signature =
      "scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor";
  static constexpr auto doc =
      "input reduced with src's elements at index along dim; reduce: sum, prod, mean, amax (or max) or amin (or min). Without "
      "include_self the old value at a place that is hit does not count.";
  static constexpr Notation notation = "scatter";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.inputs = 0b111, .outputs = 0b1};
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::exact};
  int64_t dim;
  Str reduce;
  bool include_self;
  static constexpr Fields fields{&ScatterReduce::dim, &ScatterReduce::reduce, &ScatterReduce::include_self};
  /// `reduce` by one name for each reduction: "max" is "amax", "min" is "amin".
  std::string_view reduction() const { return reduce == "max" ? "amax" : reduce == "min" ? "amin" : reduce.view(); }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct IndexReduce : Op {
  static constexpr Signature signature =
      "index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor";
  static constexpr auto doc = "input's slices at index (1-d) along dim reduced with source's; reduce: prod, mean, amax or amin.";
  static constexpr Notation notation = "scatter";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.inputs = 0b111, .outputs = 0b1};
  static constexpr InplaceRule inplace{.offered = true, .apart = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr OutRule out{Out::exact};
  int64_t dim;
  Str reduce;
  bool include_self;
  static constexpr Fields fields{&IndexReduce::dim, &IndexReduce::reduce, &IndexReduce::include_self};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using ScatterOps = OpList<Gather, Scatter, ScatterValue, ScatterSrcReduced, ScatterValueReduced, ScatterAdd, ScatterReduce, IndexReduce>;

namespace fn {
inline constexpr Fn<Gather> gather;
inline constexpr Fn<Scatter, ScatterValue> scatter;
inline constexpr Fn<ScatterAdd> scatter_add;
inline constexpr Fn<ScatterReduce> scatter_reduce;
inline constexpr Fn<IndexReduce> index_reduce;
}  // namespace fn

/// The gradient of values that an op picked along `dim`, without that axis unless `keepdim`: it goes to their places, which are the op's output 1
/// and differ but where an op picks one `often`.
Tensors put_back(const Saved& s, const Tensor& dy, int64_t dim, bool keepdim, bool often = false);

}  // namespace weir
