// Variance and standard deviation, alone and beside the mean. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Over `dim`, which names each axis once; the composites below fill it in.
struct VarMeanForward : Op {
  static constexpr Signature signature =
      "var_mean_forward(input: Tensor, dim: list[int], correction: float, keepdim: bool, whole: bool) -> (var: Tensor, mean: Tensor)";
  static constexpr auto doc =
      "(sum |x - mean|^2 / max(0, n - correction), mean) over dim, summed in float64. As PyTorch's running mean, the mean is NaN after an "
      "infinity that is not the last element. whole: nobody named the axes.";
  static constexpr Notation notation = "reduce dim";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Save saves{.inputs = 0b1};
  Dims dim;
  double correction;
  bool keepdim, whole;
  static constexpr Fields fields{&VarMeanForward::dim, &VarMeanForward::correction, &VarMeanForward::keepdim, &VarMeanForward::whole};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
  /// Of x for a gradient of the variance, if there is one.
  Tensors spread_back(const Saved& s, const Tensor& dvar) const;
};

struct StdMeanForward : VarMeanForward {
  static constexpr Signature signature =
      "std_mean_forward(input: Tensor, dim: list[int], correction: float, keepdim: bool, whole: bool) -> (std: Tensor, mean: Tensor)";
  static constexpr auto doc = "var_mean_forward with the root of the variance, which a dtype holds where it does not hold the variance.";
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// The three ways to say what is reduced and by how much the count is corrected.
struct ByCorrection : Op {
  void take_out(Inputs in, const Tensor& out) const;
  std::optional<Dims> dim;
  std::optional<Scalar> correction;
  bool keepdim;
  static constexpr Fields fields{&ByCorrection::dim, &ByCorrection::correction, &ByCorrection::keepdim};
  std::array<Tensor, 2> both(const char* op, const Tensor& x) const;
};
struct ByUnbiased : Op {
  void take_out(Inputs in, const Tensor& out) const;
  bool unbiased;
  static constexpr Fields fields{&ByUnbiased::unbiased};
  std::array<Tensor, 2> both(const char* op, const Tensor& x) const;
};
struct ByDimUnbiased : Op {
  void take_out(Inputs in, const Tensor& out) const;
  std::optional<Dims> dim;
  bool unbiased, keepdim;
  static constexpr Fields fields{&ByDimUnbiased::dim, &ByDimUnbiased::unbiased, &ByDimUnbiased::keepdim};
  std::array<Tensor, 2> both(const char* op, const Tensor& x) const;
};

struct Var : ByCorrection {
  static constexpr Signature signature =
      "var(input: Tensor, dim: int | list[int] | None = None, *, correction: Number | None = 1, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Variance over dim, divided by max(0, n - correction).";
  Tensor compose(Inputs in) const;
};
struct VarUnbiased : ByUnbiased {
  static constexpr Signature signature = "var.unbiased(input: Tensor, unbiased: bool) -> Tensor";
  static constexpr auto doc = "Variance of all elements, with or without Bessel's correction.";
  Tensor compose(Inputs in) const;
};
struct VarDimUnbiased : ByDimUnbiased {
  static constexpr Signature signature =
      "var.dim_unbiased(input: Tensor, dim: int | list[int] | None, unbiased: bool = True, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Variance over dim, with or without Bessel's correction.";
  Tensor compose(Inputs in) const;
};

struct Std : ByCorrection {
  static constexpr Signature signature =
      "std(input: Tensor, dim: int | list[int] | None = None, *, correction: Number | None = 1, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "The root of var. Its gradient is 0 where it is 0.";
  Tensor compose(Inputs in) const;
};
struct StdUnbiased : ByUnbiased {
  static constexpr Signature signature = "std.unbiased(input: Tensor, unbiased: bool) -> Tensor";
  static constexpr auto doc = "The root of var of all elements, with or without Bessel's correction.";
  Tensor compose(Inputs in) const;
};
struct StdDimUnbiased : ByDimUnbiased {
  static constexpr Signature signature =
      "std.dim_unbiased(input: Tensor, dim: int | list[int] | None, unbiased: bool = True, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "The root of var over dim, with or without Bessel's correction.";
  Tensor compose(Inputs in) const;
};

struct VarMean : ByCorrection {
  static constexpr Signature signature =
      "var_mean(input: Tensor, dim: int | list[int] | None = None, *, correction: Number | None = 1, keepdim: bool = False) -> list[Tensor]";
  static constexpr auto doc = "(var, mean) over dim.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};
struct VarMeanUnbiased : ByUnbiased {
  static constexpr Signature signature = "var_mean.unbiased(input: Tensor, unbiased: bool) -> list[Tensor]";
  static constexpr auto doc = "(var, mean) of all elements, with or without Bessel's correction.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};
struct VarMeanDimUnbiased : ByDimUnbiased {
  static constexpr Signature signature =
      "var_mean.dim_unbiased(input: Tensor, dim: int | list[int] | None, unbiased: bool = True, keepdim: bool = False) -> list[Tensor]";
  static constexpr auto doc = "(var, mean) over dim, with or without Bessel's correction.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};

struct StdMean : ByCorrection {
  static constexpr Signature signature =
      "std_mean(input: Tensor, dim: int | list[int] | None = None, *, correction: Number | None = 1, keepdim: bool = False) -> list[Tensor]";
  static constexpr auto doc = "(std, mean) over dim.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};
struct StdMeanUnbiased : ByUnbiased {
  static constexpr Signature signature = "std_mean.unbiased(input: Tensor, unbiased: bool) -> list[Tensor]";
  static constexpr auto doc = "(std, mean) of all elements, with or without Bessel's correction.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};
struct StdMeanDimUnbiased : ByDimUnbiased {
  static constexpr Signature signature =
      "std_mean.dim_unbiased(input: Tensor, dim: int | list[int] | None, unbiased: bool = True, keepdim: bool = False) -> list[Tensor]";
  static constexpr auto doc = "(std, mean) over dim, with or without Bessel's correction.";
  static constexpr Module module = Module::function;
  Tensors compose(Inputs in) const;
};

using DeviationOps = OpList<VarMeanForward, StdMeanForward, VarUnbiased, VarDimUnbiased, Var, StdUnbiased, StdDimUnbiased, Std, VarMeanUnbiased,
                            VarMeanDimUnbiased, VarMean, StdMeanUnbiased, StdMeanDimUnbiased, StdMean>;

namespace fn {
inline constexpr Fn<VarMeanForward> var_mean_forward;
inline constexpr Fn<StdMeanForward> std_mean_forward;
inline constexpr Fn<Var, VarUnbiased, VarDimUnbiased> var;
inline constexpr Fn<Std, StdUnbiased, StdDimUnbiased> std;
}  // namespace fn

}  // namespace weir
