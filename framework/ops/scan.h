// Running sums of exponentials, differences and integrals along an axis. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Logcumsumexp : Op {
  static constexpr Signature signature = "logcumsumexp(input: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "log of the running sum of exp along dim, without overflow.";
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  int64_t dim;
  static constexpr std::tuple fields{&Logcumsumexp::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Diff : Op {
  static constexpr Signature signature =
      "diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "n-th differences along dim, of input between what is prepended and appended.";
  int64_t n, dim;
  static constexpr std::tuple fields{&Diff::n, &Diff::dim};
  Tensor compose(Inputs in) const;
};

struct TrapezoidX : Op {
  static constexpr Signature signature = "trapezoid.x(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The integral of y along dim over the points x by the trapezoidal rule.";
  static constexpr Out out = Out::none;
  int64_t dim;
  static constexpr std::tuple fields{&TrapezoidX::dim};
  Tensor compose(Inputs in) const;
};

struct Trapezoid : Op {
  static constexpr Signature signature = "trapezoid(y: Tensor, *, dx: Number = 1, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The integral of y along dim over steps dx by the trapezoidal rule.";
  static constexpr Out out = Out::none;
  Scalar dx;
  int64_t dim;
  static constexpr std::tuple fields{&Trapezoid::dx, &Trapezoid::dim};
  Tensor compose(Inputs in) const;
};

struct CumulativeTrapezoidX : Op {
  static constexpr Signature signature = "cumulative_trapezoid.x(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The running integral of y along dim over the points x by the trapezoidal rule.";
  static constexpr Out out = Out::none;
  int64_t dim;
  static constexpr std::tuple fields{&CumulativeTrapezoidX::dim};
  Tensor compose(Inputs in) const;
};

struct CumulativeTrapezoid : Op {
  static constexpr Signature signature = "cumulative_trapezoid(y: Tensor, *, dx: Number = 1, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The running integral of y along dim over steps dx by the trapezoidal rule.";
  static constexpr Out out = Out::none;
  Scalar dx;
  int64_t dim;
  static constexpr std::tuple fields{&CumulativeTrapezoid::dx, &CumulativeTrapezoid::dim};
  Tensor compose(Inputs in) const;
};

using ScanOps = OpList<Logcumsumexp, Diff, TrapezoidX, Trapezoid, CumulativeTrapezoidX, CumulativeTrapezoid>;

namespace fn {
inline constexpr Fn<Logcumsumexp> logcumsumexp;
inline constexpr Fn<Diff> diff;
inline constexpr Fn<TrapezoidX, Trapezoid> trapezoid;
inline constexpr Fn<CumulativeTrapezoidX, CumulativeTrapezoid> cumulative_trapezoid;
}  // namespace fn

}  // namespace weir
