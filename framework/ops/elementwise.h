// Element by element, as formulas over other ops. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct ClampMinTensor : Op {
  static constexpr Signature signature = "clamp_min.Tensor(input: Tensor, min: Tensor) -> Tensor";
  static constexpr auto doc = "max(input, min), element by element.";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Save saves{.inputs = 0b1};
  Tensor compose(Inputs in) const;
};

struct ClampMin : Op {
  static constexpr Signature signature = "clamp_min(input: Tensor, min: Number) -> Tensor";
  static constexpr auto doc = "max(input, min).";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  Scalar min;
  static constexpr Fields fields{&ClampMin::min};
  Tensor compose(Inputs in) const;
};

struct ClampMaxTensor : Op {
  static constexpr Signature signature = "clamp_max.Tensor(input: Tensor, max: Tensor) -> Tensor";
  static constexpr auto doc = "min(input, max), element by element.";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Save saves{.inputs = 0b1};
  Tensor compose(Inputs in) const;
};

struct ClampMax : Op {
  static constexpr Signature signature = "clamp_max(input: Tensor, max: Number) -> Tensor";
  static constexpr auto doc = "min(input, max).";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  Scalar max;
  static constexpr Fields fields{&ClampMax::max};
  Tensor compose(Inputs in) const;
};

struct Rsub : Op {
  static constexpr Signature signature = "rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "other - alpha * input.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Scalar alpha;
  static constexpr Fields fields{&Rsub::alpha};
  Tensor compose(Inputs in) const;
};

struct FloatPower : Op {
  static constexpr Signature signature = "float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input ** exponent in float64, or complex128 where one is complex.";
  static constexpr CallRule calling{.writes_number = true};
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  Tensor compose(Inputs in) const;
};

struct Ldexp : Op {
  static constexpr Signature signature = "ldexp(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "input * 2 ** other.";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Save saves{.inputs = 0b1};
  Tensor compose(Inputs in) const;
};

struct Frexp : Op {
  static constexpr Signature signature = "frexp(input: Tensor) -> (mantissa: Tensor, exponent: Tensor)";
  static constexpr auto doc = "input = mantissa * 2 ** exponent, |mantissa| in [0.5, 1) and exponent int32; 0, NaN and infinities are their own mantissa.";
  static constexpr Notation notation = "elements";
  static constexpr GradientRule gradient{.outputs = 0b1};
  static constexpr Save saves{.outputs = 0b10};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Mvlgamma : Op {
  static constexpr Signature signature = "mvlgamma(input: Tensor, p: int) -> Tensor";
  static constexpr auto doc = "Log of the multivariate gamma function of dimension p.";
  static constexpr InplaceRule inplace{.offered = true};
  int64_t p;
  static constexpr Fields fields{&Mvlgamma::p};
  Tensor compose(Inputs in) const;
};

struct Isclose : Op {
  static constexpr Signature signature =
      "isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor";
  static constexpr auto doc = "|input - other| <= atol + rtol |other|, element by element.";
  static constexpr OutRule out{Out::none};
  double rtol, atol;
  bool equal_nan;
  static constexpr Fields fields{&Isclose::rtol, &Isclose::atol, &Isclose::equal_nan};
  Tensor compose(Inputs in) const;
};

using ElementwiseOps = OpList<ClampMinTensor, ClampMin, ClampMaxTensor, ClampMax, Rsub, FloatPower, Ldexp, Frexp, Mvlgamma, Isclose>;

}  // namespace weir
