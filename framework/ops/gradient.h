// Slopes of samples along axes by central differences. Source: https://pytorch.org/docs/stable/generated/torch.gradient.html
#pragma once
#include "framework/op/call.h"

namespace weir {

/// What the three have in common: the axes, all when None, and how the ends are taken.
struct Slopes : Op {
  static constexpr Module module = Module::function;
  std::optional<Dims> dim;
  int64_t edge_order;
};

struct Gradient : Slopes {
  static constexpr Signature signature =
      "gradient(input: Tensor, *, spacing: Number | None = None, dim: list[int] | int | None = None, edge_order: int = 1) -> list[Tensor]";
  static constexpr auto doc = "Central differences along each axis, one-sided at the ends: a tensor like input per axis, all a step of `spacing` apart.";
  std::optional<Scalar> spacing;
  static constexpr Fields fields{&Gradient::spacing, &Gradient::dim, &Gradient::edge_order};
  Tensors compose(Inputs in) const;
};

struct GradientSteps : Slopes {
  static constexpr Signature signature =
      "gradient.steps(input: Tensor, *, spacing: list[float], dim: list[int] | int | None = None, edge_order: int = 1) -> list[Tensor]";
  static constexpr auto doc = "As gradient, with a step for each axis.";
  Floats spacing;
  static constexpr Fields fields{&GradientSteps::spacing, &GradientSteps::dim, &GradientSteps::edge_order};
  Tensors compose(Inputs in) const;
};

struct GradientPoints : Slopes {
  static constexpr Signature signature =
      "gradient.points(input: Tensor, *, spacing: list[Tensor], dim: list[int] | int | None = None, edge_order: int = 1) -> list[Tensor]";
  static constexpr auto doc = "As gradient, at the points of a vector for each axis, of the axis's length.";
  static constexpr Fields fields{&GradientPoints::dim, &GradientPoints::edge_order};
  Tensors compose(Inputs in) const;
};

using GradientOps = OpList<Gradient, GradientPoints, GradientSteps>;  // points first: a 0-d tensor passes for a number

namespace fn {
inline constexpr Fn<Gradient> gradient;
}  // namespace fn

}  // namespace weir
