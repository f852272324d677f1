// Reductions and norms as formulas over other ops. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Nanmean : Op {
  static constexpr Signature signature =
      "nanmean(input: Tensor, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Mean over dim of what is not NaN.";
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Nanmean::dim, &Nanmean::keepdim, &Nanmean::dtype};
  Tensor compose(Inputs in) const;
};

struct CountNonzero : Op {
  static constexpr Signature signature = "count_nonzero(input: Tensor, dim: list[int] | int | None = None) -> Tensor";
  static constexpr auto doc = "How many elements over dim are not zero, int64.";
  static constexpr OutRule out{Out::none};
  std::optional<Dims> dim;
  static constexpr Fields fields{&CountNonzero::dim};
  Tensor compose(Inputs in) const;
};

struct Aminmax : Op {
  static constexpr Signature signature = "aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> (min: Tensor, max: Tensor)";
  static constexpr auto doc = "(min, max) over one axis or all.";
  static constexpr OutRule out{Out::exact};
  std::optional<int64_t> dim;
  bool keepdim;
  static constexpr Fields fields{&Aminmax::dim, &Aminmax::keepdim};
  Tensors compose(Inputs in) const;
};

struct ExtremesOfAll : Op {
  static constexpr Signature signature = "extremes_of_all(input: Tensor) -> (min: Tensor, max: Tensor)";
  static constexpr auto doc = "The smallest and the largest of all elements, in one pass. NaN is both.";
  static constexpr Notation notation = "reduce";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  std::array<Meta, 2> infer(Inputs in) const;
};

struct NonzerosOfAll : Op {
  static constexpr Signature signature = "nonzeros_of_all(input: Tensor) -> Tensor";
  static constexpr auto doc = "How many of all elements are not zero, int64.";
  static constexpr Notation notation = "reduce";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  Meta infer(Inputs in) const { return {Dims{}, DType::int64, in[0].device()}; }
};

struct Dist : Op {
  static constexpr Signature signature = "dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor";
  static constexpr auto doc = "p-norm of input - other.";
  static constexpr OutRule out{Out::none};
  Scalar p;
  static constexpr Fields fields{&Dist::p};
  Tensor compose(Inputs in) const;
};

struct Renorm : Op {
  static constexpr Signature signature = "renorm(input: Tensor, p: Number, dim: int, maxnorm: Number) -> Tensor";
  static constexpr auto doc = "Slices along dim scaled down to a p-norm of at most maxnorm.";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  Scalar p;
  int64_t dim;
  Scalar maxnorm;
  static constexpr Fields fields{&Renorm::p, &Renorm::dim, &Renorm::maxnorm};
  Tensor compose(Inputs in) const;
};

using SummaryOps = OpList<Nanmean, CountNonzero, Aminmax, ExtremesOfAll, NonzerosOfAll, Dist, Renorm>;

namespace fn {
inline constexpr Fn<ExtremesOfAll> extremes_of_all;
inline constexpr Fn<NonzerosOfAll> nonzeros_of_all;
}  // namespace fn

}  // namespace weir
