// The regularised incomplete gamma functions, and how draws of gamma and Dirichlet distributions move with their concentrations. Source: DLMF 8.2,
// 8.7, 8.9.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

struct Igamma : Pointwise<Igamma, Rule::real> {
  static constexpr Signature signature = "igamma(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "P(input, other), the lower function over gamma(input). It has a gradient with respect to other only.";
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Igammac : Pointwise<Igammac, Rule::real> {
  static constexpr Signature signature = "igammac(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Q(input, other) = 1 - P(input, other). It has a gradient with respect to other only.";
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// A draw x moves with a concentration a so that the distribution function F(x; a) stays: dx/da = -(dF/da) / (dF/dx), without further derivatives.
// Source: Figurnov et al. 2018.
struct StandardGammaGrad : Pointwise<StandardGammaGrad, Rule::real> {
  static constexpr Signature signature = "_standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor";
  static constexpr auto doc = "How draws `output` of rate 1 move with their concentrations `input`.";
  static constexpr Module module = Module::function;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct DirichletGrad : Pointwise<DirichletGrad, Rule::real> {
  static constexpr Signature signature = "_dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor";
  static constexpr auto doc = "How shares x move with their concentrations alpha, of which there are `total`, over 1 - x.";
  static constexpr Module module = Module::function;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using GammaOps = OpList<Igamma, Igammac, StandardGammaGrad, DirichletGrad>;

namespace fn {
inline constexpr Fn<Igamma> igamma;
inline constexpr Fn<Igammac> igammac;
inline constexpr Fn<StandardGammaGrad> standard_gamma_grad;
inline constexpr Fn<DirichletGrad> dirichlet_grad;
}  // namespace fn

}  // namespace weir
