// Complex numbers: their parts, their conjugates, and the views that show one as the other. Source of each: the PyTorch page
// of its name.
//
// A conjugate or negative view marks its tensor (kConj, kNeg) and copies nothing. The door resolves such inputs for kernels,
// so that no kernel knows of the marks.
#pragma once
#include "framework/ops/pointwise.h"
#include "framework/ops/view.h"

namespace weir {

struct Conj : ViewOp {
  static constexpr Signature signature = "_conj(input: Tensor) -> Tensor";
  static constexpr auto doc = "The conjugate as a view that is marked as such.";
  static constexpr Module module = Module::method;
  static constexpr GradientRule gradient{.holomorphic = false};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct NegView : ViewOp {
  static constexpr Signature signature = "_neg_view(input: Tensor) -> Tensor";
  static constexpr auto doc = "-x as a view that is marked as such.";
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ViewAsReal : ViewOp {
  static constexpr Signature signature = "view_as_real(input: Tensor) -> Tensor";
  static constexpr auto doc = "Complex numbers of shape (*) as their parts (*, 2), without a copy. RuntimeError for real tensors and "
      "unresolved conjugates.";
  static constexpr Module module = Module::function;
  static constexpr GradientRule gradient{.holomorphic = false};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ViewAsComplex : ViewOp {
  static constexpr Signature signature = "view_as_complex(input: Tensor) -> Tensor";
  static constexpr auto doc = "Pairs (*, 2) of float32 or float64 as complex numbers (*), without a copy. RuntimeError when the "
      "strides forbid it.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr GradientRule gradient{.holomorphic = false};
  Geometry geometry(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Conjugate : Pointwise<Conjugate, Rule::promote> {
  static constexpr Signature signature = "conjugate(input: Tensor) -> Tensor";
  static constexpr auto doc = "The conjugate, computed.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.holomorphic = false};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Sgn : Pointwise<Sgn, Rule::promote> {
  static constexpr Signature signature = "sgn(input: Tensor) -> Tensor";
  static constexpr auto doc = "x / |x|, 0 at 0: for real numbers the sign.";
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  static constexpr GradientRule gradient{.holomorphic = false};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Angle : Pointwise<Angle, Rule::floating> {
  static constexpr Signature signature = "angle(input: Tensor) -> Tensor";
  static constexpr auto doc = "The angle in radians, real: of a negative number pi, of other real ones 0.";
  static constexpr Save saves{.inputs = 0b1};
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr GradientRule gradient{.holomorphic = false};
  Meta infer(Inputs in) const;
  DType computes_in(Inputs in) const { return compute_dtype("angle(", Rule::floating, in); }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Complex : Op {
  static constexpr Signature signature = "complex(real: Tensor, imag: Tensor) -> Tensor";
  static constexpr auto doc = "real + imag i, of float32 or float64 tensors of one dtype that broadcast.";
  static constexpr OutRule out{Out::exact};
  static constexpr Layouts layouts = Layouts::apart;
  static constexpr Notation notation = "pointwise";
  static constexpr GradientRule gradient{.holomorphic = false};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Polar : Op {
  static constexpr Signature signature = "polar(abs: Tensor, angle: Tensor) -> Tensor";
  static constexpr auto doc = "abs * exp(angle i), of float32 or float64 tensors of one dtype that broadcast.";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::same};
  static constexpr Notation notation = "pointwise";
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Save saves{.outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// ---- composites over them ------------------------------------------------------------------------------------
struct ConjLazy : Op {
  static constexpr Signature signature = "conj(input: Tensor) -> Tensor";
  static constexpr auto doc = "The conjugate: a marked view of a complex tensor, a real one itself.";
  Tensor compose(Inputs in) const;
};

struct ConjPhysical : Op {
  static constexpr Signature signature = "conj_physical(input: Tensor) -> Tensor";
  static constexpr auto doc = "The conjugate, computed; a real tensor itself.";
  static constexpr OutRule out{Out::same, OutHistory::kept};
  static constexpr InplaceRule inplace{.offered = true};
  Tensor compose(Inputs in) const;
};

struct ResolveConj : Op {
  static constexpr Signature signature = "resolve_conj(input: Tensor) -> Tensor";
  static constexpr auto doc = "input itself, or where it is marked as a conjugate a copy that is not.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct ResolveNeg : Op {
  static constexpr Signature signature = "resolve_neg(input: Tensor) -> Tensor";
  static constexpr auto doc = "input itself, or where it is marked as a negative a copy that is not.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Real : Op {
  static constexpr Signature signature = "real(input: Tensor) -> Tensor";
  static constexpr auto doc = "The real parts as a view; a real tensor itself.";
  Tensor compose(Inputs in) const;
};

struct Imag : Op {
  static constexpr Signature signature = "imag(input: Tensor) -> Tensor";
  static constexpr auto doc = "The imaginary parts as a view. RuntimeError for real tensors.";
  Tensor compose(Inputs in) const;
};

struct Isreal : Op {
  static constexpr Signature signature = "isreal(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is the imaginary part zero? Shape: as input, bool.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Adjoint : Op {
  static constexpr Signature signature = "adjoint(input: Tensor) -> Tensor";
  static constexpr auto doc = "The conjugate transpose of the last two axes, as a view.";
  Tensor compose(Inputs in) const;
};

using ComplexPointwise = OpList<Conjugate, Sgn, Angle>;
using ComplexFamily = OpList<Conj, NegView, ViewAsReal, ViewAsComplex, Complex, Polar, ConjLazy, ConjPhysical, ResolveConj, ResolveNeg, Real,
                             Imag, Isreal, Adjoint>;

/// The geometry of `view` shown in `whole`, which lies as the tensor does that it was taken from: other strides, another
/// dtype, marks.
Tensor shown_as(const Tensor& whole, const Geometry& view);

namespace fn {
inline constexpr Fn<Conjugate> conjugate;
inline constexpr Fn<Conj> _conj;
inline constexpr Fn<NegView> _neg_view;
inline constexpr Fn<ViewAsReal> view_as_real;
inline constexpr Fn<ViewAsComplex> view_as_complex;
inline constexpr Fn<ConjPhysical> conj_physical;
inline constexpr Fn<Sgn> sgn;
inline constexpr Fn<Angle> angle;
inline constexpr Fn<Complex> complex;
inline constexpr Fn<Polar> polar;
// conj is in functional.h: real tensors pass through it.
inline constexpr Fn<ResolveConj> resolve_conj;
inline constexpr Fn<ResolveNeg> resolve_neg;
inline constexpr Fn<Real> real;
inline constexpr Fn<Imag> imag;
inline constexpr Fn<Isreal> isreal;
inline constexpr Fn<Adjoint> adjoint;
}  // namespace fn

}  // namespace weir
