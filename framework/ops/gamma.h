// The regularised incomplete gamma functions. Source: DLMF 8.2, 8.7, 8.9.
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

using GammaOps = OpList<Igamma, Igammac>;

namespace fn {
inline constexpr Fn<Igamma> igamma;
inline constexpr Fn<Igammac> igammac;
}  // namespace fn

}  // namespace weir
