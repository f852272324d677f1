// Bessel and Airy functions, the normal distribution's and Hurwitz's zeta. Source of each: the page of its name under torch.special.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

// PyTorch has no derivatives of these.
template <class Derived, Rule rule> struct Cylinder : Pointwise<Derived, rule> {
  static constexpr Module module = Module::special;
  static constexpr GradientRule gradient{.exists = false};
};

struct AiryAi : Cylinder<AiryAi, Rule::wide> {
  static constexpr Signature signature = "airy_ai(input: Tensor) -> Tensor";
  static constexpr auto doc = "Airy function Ai.";
};
struct BesselJ0 : Cylinder<BesselJ0, Rule::wide> {
  static constexpr Signature signature = "bessel_j0(input: Tensor) -> Tensor";
  static constexpr auto doc = "Bessel function of the first kind of order 0.";
};
struct BesselJ1 : Cylinder<BesselJ1, Rule::wide> {
  static constexpr Signature signature = "bessel_j1(input: Tensor) -> Tensor";
  static constexpr auto doc = "Bessel function of the first kind of order 1.";
};
struct BesselY0 : Cylinder<BesselY0, Rule::wide> {
  static constexpr Signature signature = "bessel_y0(input: Tensor) -> Tensor";
  static constexpr auto doc = "Bessel function of the second kind of order 0; NaN below 0.";
};
struct BesselY1 : Cylinder<BesselY1, Rule::wide> {
  static constexpr Signature signature = "bessel_y1(input: Tensor) -> Tensor";
  static constexpr auto doc = "Bessel function of the second kind of order 1; NaN below 0.";
};
struct BesselK0 : Cylinder<BesselK0, Rule::wide> {
  static constexpr Signature signature = "modified_bessel_k0(input: Tensor) -> Tensor";
  static constexpr auto doc = "Modified Bessel function of the second kind of order 0; NaN below 0.";
};
struct BesselK1 : Cylinder<BesselK1, Rule::wide> {
  static constexpr Signature signature = "modified_bessel_k1(input: Tensor) -> Tensor";
  static constexpr auto doc = "Modified Bessel function of the second kind of order 1; NaN below 0.";
};
struct ScaledBesselK0 : Cylinder<ScaledBesselK0, Rule::wide> {
  static constexpr Signature signature = "scaled_modified_bessel_k0(input: Tensor) -> Tensor";
  static constexpr auto doc = "exp(x) modified_bessel_k0(x).";
};
struct ScaledBesselK1 : Cylinder<ScaledBesselK1, Rule::wide> {
  static constexpr Signature signature = "scaled_modified_bessel_k1(input: Tensor) -> Tensor";
  static constexpr auto doc = "exp(x) modified_bessel_k1(x).";
};

struct BesselI0 : Cylinder<BesselI0, Rule::wide> {
  static constexpr Signature signature = "modified_bessel_i0(input: Tensor) -> Tensor";
  static constexpr auto doc = "Modified Bessel function of the first kind of order 0: i0, without its gradient.";
};
struct BesselI1 : Cylinder<BesselI1, Rule::wide> {
  static constexpr Signature signature = "modified_bessel_i1(input: Tensor) -> Tensor";
  static constexpr auto doc = "Modified Bessel function of the first kind of order 1: i1, without its gradient.";
};
struct SphericalBesselJ0 : Cylinder<SphericalBesselJ0, Rule::wide> {
  static constexpr Signature signature = "spherical_bessel_j0(input: Tensor) -> Tensor";
  static constexpr auto doc = "sin(x) / x, 1 at 0 and 0 at infinity.";
};

struct Ndtr : Pointwise<Ndtr, Rule::floating> {
  static constexpr Signature signature = "ndtr(input: Tensor) -> Tensor";
  static constexpr auto doc = "The normal distribution function.";
  static constexpr Module module = Module::special;
  static constexpr OutRule out{.history = OutHistory::kept};
  static constexpr NewShape new_shape = NewShape::rows;  // a composite in PyTorch, which copies what it computed
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct Zeta : Pointwise<Zeta, Rule::wide> {
  static constexpr Signature signature = "zeta(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Hurwitz's zeta function, the sum of (k + other) ** -input over k >= 0. It has a gradient with respect to other only.";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using BesselOps = OpList<AiryAi, BesselJ0, BesselJ1, BesselY0, BesselY1, BesselK0, BesselK1, ScaledBesselK0, ScaledBesselK1,
                         BesselI0, BesselI1, SphericalBesselJ0, Ndtr, Zeta>;

namespace fn {
inline constexpr Fn<Zeta> zeta;
}  // namespace fn

}  // namespace weir
