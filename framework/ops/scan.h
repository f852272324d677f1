// Running sums of exponentials, gradients of running products, differences and integrals along an axis. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Logcumsumexp : Op {
  static constexpr Signature signature = "logcumsumexp(input: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "log of the running sum of exp along dim, without overflow.";
  static constexpr Notation notation = "along dim";
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  int64_t dim;
  static constexpr Fields fields{&Logcumsumexp::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct CumprodBackward : Op {
  static constexpr Signature signature = "cumprod_backward(grad: Tensor, input: Tensor, output: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "Gradient of cumprod along dim in one pass, by a recurrence that divides by nothing.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  int64_t dim;
  static constexpr Fields fields{&CumprodBackward::dim};
  Meta infer(Inputs in) const;
};

struct ProdBackward : Op {
  static constexpr Signature signature = "prod_backward(grad: Tensor, input: Tensor, dim: int, of_all: bool) -> Tensor";
  static constexpr auto doc = "Gradient of prod: grad, of size 1 along dim, times the product of each element's neighbours along dim. of_all: no axis was named.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  int64_t dim;
  bool of_all;
  static constexpr Fields fields{&ProdBackward::dim, &ProdBackward::of_all};
  Meta infer(Inputs in) const;
};

struct Diff : Op {
  static constexpr Signature signature =
      "diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "n-th differences along dim, of input between what is prepended and appended.";
  static constexpr NewShape new_shape = NewShape::as_made;
  int64_t n, dim;
  static constexpr Fields fields{&Diff::n, &Diff::dim};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct TrapezoidX : Op {
  static constexpr Signature signature = "trapezoid.x(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The integral of y along dim over the points x by the trapezoidal rule.";
  static constexpr OutRule out{Out::none};
  int64_t dim;
  static constexpr Fields fields{&TrapezoidX::dim};
  Tensor compose(Inputs in) const;
};

struct Trapezoid : Op {
  static constexpr Signature signature = "trapezoid(y: Tensor, *, dx: Number = 1, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The integral of y along dim over steps dx by the trapezoidal rule.";
  static constexpr OutRule out{Out::none};
  Scalar dx;
  int64_t dim;
  static constexpr Fields fields{&Trapezoid::dx, &Trapezoid::dim};
  Tensor compose(Inputs in) const;
};

struct CumulativeTrapezoidX : Op {
  static constexpr Signature signature = "cumulative_trapezoid.x(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The running integral of y along dim over the points x by the trapezoidal rule.";
  static constexpr OutRule out{Out::none};
  int64_t dim;
  static constexpr Fields fields{&CumulativeTrapezoidX::dim};
  Tensor compose(Inputs in) const;
};

struct CumulativeTrapezoid : Op {
  static constexpr Signature signature = "cumulative_trapezoid(y: Tensor, *, dx: Number = 1, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The running integral of y along dim over steps dx by the trapezoidal rule.";
  static constexpr OutRule out{Out::none};
  Scalar dx;
  int64_t dim;
  static constexpr Fields fields{&CumulativeTrapezoid::dx, &CumulativeTrapezoid::dim};
  Tensor compose(Inputs in) const;
};

using ScanOps = OpList<Logcumsumexp, CumprodBackward, ProdBackward, Diff, TrapezoidX, Trapezoid, CumulativeTrapezoidX, CumulativeTrapezoid>;

namespace fn {
inline constexpr Fn<Logcumsumexp> logcumsumexp;
inline constexpr Fn<CumprodBackward> cumprod_backward;
inline constexpr Fn<ProdBackward> prod_backward;
inline constexpr Fn<Diff> diff;
inline constexpr Fn<TrapezoidX, Trapezoid> trapezoid;
inline constexpr Fn<CumulativeTrapezoidX, CumulativeTrapezoid> cumulative_trapezoid;
}  // namespace fn

}  // namespace weir
