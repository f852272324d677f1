// Running extremes, elements by their rank, and quantiles. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Cummax : Op {
  static constexpr Signature signature = "cummax(input: Tensor, dim: int) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "Running maximum along dim and where it stands; the last of equal ones counts, and NaN from the first on.";
  static constexpr Notation notation = "along dim";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.outputs = 0b10};
  int64_t dim;
  static constexpr Fields fields{&Cummax::dim};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Cummin : Op {
  static constexpr Signature signature = "cummin(input: Tensor, dim: int) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "Running minimum along dim and where it stands; the last of equal ones counts, and NaN from the first on.";
  static constexpr Notation notation = "along dim";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.outputs = 0b10};
  int64_t dim;
  static constexpr Fields fields{&Cummin::dim};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Kthvalue : Op {
  static constexpr Signature signature =
      "kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "The k-th smallest element along dim, counted from 1, and its index. NaN is the largest.";
  static constexpr Notation notation = "reduce dim";
  static constexpr OutRule out{Out::exact};
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.outputs = 0b10};
  int64_t k, dim;
  bool keepdim;
  static constexpr Fields fields{&Kthvalue::k, &Kthvalue::dim, &Kthvalue::keepdim};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Median : Op {
  static constexpr Signature signature = "median(input: Tensor) -> Tensor";
  static constexpr auto doc = "The lower median of all elements, NaN where there is one; equal ones share the gradient.";
  static constexpr Notation notation = "reduce";
  static constexpr OutRule out{Out::none};
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MedianDim : Op {
  static constexpr Signature signature =
      "median.dim(input: Tensor, dim: int, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "The lower median along dim and its index; the first NaN where there is one.";
  static constexpr Notation notation = "reduce dim";
  static constexpr Save saves{.outputs = 0b10};
  int64_t dim;
  bool keepdim;
  static constexpr Fields fields{&MedianDim::dim, &MedianDim::keepdim};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Nanmedian : Op {
  static constexpr Signature signature = "nanmedian(input: Tensor) -> Tensor";
  static constexpr auto doc = "The lower median of what is not NaN; equal ones share the gradient.";
  static constexpr Notation notation = "reduce";
  static constexpr OutRule out{Out::none};
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NanmedianDim : Op {
  static constexpr Signature signature =
      "nanmedian.dim(input: Tensor, dim: int, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "The lower median along dim of what is not NaN, and its index.";
  static constexpr Notation notation = "reduce dim";
  static constexpr Save saves{.outputs = 0b10};
  int64_t dim;
  bool keepdim;
  static constexpr Fields fields{&NanmedianDim::dim, &NanmedianDim::keepdim};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ModeValue : Op {
  static constexpr Signature signature =
      "mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "The most frequent element along dim, the smallest of equally frequent ones, and its last index.";
  static constexpr Notation notation = "reduce dim";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.outputs = 0b10};
  int64_t dim;
  bool keepdim;
  static constexpr Fields fields{&ModeValue::dim, &ModeValue::keepdim};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Argsort : Op {
  static constexpr Signature signature = "argsort(input: Tensor, dim: int = -1, descending: bool = False) -> Tensor";
  static constexpr auto doc = "The indices that sort along dim.";
  static constexpr OutRule out{Out::none};
  int64_t dim;
  bool descending;
  static constexpr Fields fields{&Argsort::dim, &Argsort::descending};
  Tensor compose(Inputs in) const;
};

struct ArgsortStable : Op {
  static constexpr Signature signature =
      "argsort.stable(input: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor";
  static constexpr auto doc = "The indices that sort along dim; equal elements stay in input's order in any case.";
  static constexpr OutRule out{Out::exact};
  bool stable;
  int64_t dim;
  bool descending;
  static constexpr Fields fields{&ArgsortStable::stable, &ArgsortStable::dim, &ArgsortStable::descending};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct Msort : Op {
  static constexpr Signature signature = "msort(input: Tensor) -> Tensor";
  static constexpr auto doc = "Sorted along the first axis.";
  static constexpr OutRule out{Out::same};
  Tensor compose(Inputs in) const;
};

struct Quantile : Op {
  static constexpr Signature signature =
      "quantile(input: Tensor, q: Tensor | Number, dim: int | None = None, keepdim: bool = False, *, interpolation: str = 'linear') -> Tensor";
  static constexpr auto doc = "The q-th quantiles over dim; an axis of q's length comes in front. NaN where there is one.";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  std::optional<int64_t> dim;
  bool keepdim;
  Str interpolation;
  static constexpr Fields fields{&Quantile::dim, &Quantile::keepdim, &Quantile::interpolation};
  Tensor compose(Inputs in) const;
};

struct Nanquantile : Op {
  static constexpr Signature signature =
      "nanquantile(input: Tensor, q: Tensor | Number, dim: int | None = None, keepdim: bool = False, *, interpolation: str = 'linear') -> Tensor";
  static constexpr auto doc = "quantile of what is not NaN.";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  std::optional<int64_t> dim;
  bool keepdim;
  Str interpolation;
  static constexpr Fields fields{&Nanquantile::dim, &Nanquantile::keepdim, &Nanquantile::interpolation};
  Tensor compose(Inputs in) const;
};

using OrderOps = OpList<Cummax, Cummin, Kthvalue, Median, MedianDim, Nanmedian, NanmedianDim, ModeValue, Argsort, ArgsortStable, Msort, Quantile,
                        Nanquantile>;

namespace fn {
inline constexpr Fn<Cummax> cummax;
inline constexpr Fn<Cummin> cummin;
inline constexpr Fn<Kthvalue> kthvalue;
inline constexpr Fn<Median, MedianDim> median;
inline constexpr Fn<Nanmedian, NanmedianDim> nanmedian;
inline constexpr Fn<ModeValue> mode;
inline constexpr Fn<Argsort, ArgsortStable> argsort;
inline constexpr Fn<Msort> msort;
inline constexpr Fn<Quantile> quantile;
inline constexpr Fn<Nanquantile> nanquantile;
}  // namespace fn

}  // namespace weir
