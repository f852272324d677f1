#include "framework/ops/complex.h"

#include "framework/core/warn.h"
#include "framework/graph/trace.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/unary.h"

namespace weir {
using namespace fn;
namespace {

Geometry same(const Tensor& x) { return {x.sizes(), x.strides(), x->offset}; }

// Each number as two of half its size: a last axis of 2.
Geometry as_parts(const Geometry& x, DType dtype) {
  Geometry g = x;
  for (int64_t& s : g.strides) s = checked_mul(s, 2);
  g.sizes.push(2), g.strides.push(1);
  g.offset = checked_mul(g.offset, 2);
  g.dtype = real_type(dtype);
  return g;
}

Tensor part(const Tensor& x, int64_t i) { return select(view_as_real(x), int64_t(-1), i); }

}  // namespace

Tensor conj(const Tensor& t) { return is_complex(t.dtype()) ? fn::_conj(t) : t; }

Geometry Conj::geometry(Inputs in) const {
  Geometry g = same(in[0]);
  if (is_complex(in[0].dtype())) g.marks = kConj;
  return g;
}
Tensors Conj::vjp(const Saved&, const Tensor& dy) const { return {conj(dy)}; }

Geometry NegView::geometry(Inputs in) const {
  Geometry g = same(in[0]);
  g.marks = kNeg;
  return g;
}
Tensors NegView::vjp(const Saved&, const Tensor& dy) const { return {-dy}; }

Geometry ViewAsReal::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check(is_complex(x.dtype()), "view_as_real is only supported for complex tensors");
  check(!x.has_flag(kConj), "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
        "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.");
  return as_parts(same(x), x.dtype());
}
Tensors ViewAsReal::vjp(const Saved&, const Tensor& dy) const {
  return {view_as_complex(contiguous_of(dy))};
}

Geometry ViewAsComplex::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check(x.dtype() == DType::float16 || x.dtype() == DType::float32 || x.dtype() == DType::float64, "view_as_complex is only supported for half, float and double tensors, "
        "but got a tensor of scalar type: ", name_of(x.dtype()));
  check(x.ndim() > 0 && x.sizes().back() == 2, "view_as_complex: Tensor must have a last dimension of size 2");
  check(x.strides().back() == 1, "view_as_complex: Tensor must have a last dimension with stride 1");
  graph::check_place_is_known(x, "view_as_complex asks for the place of");
  check(x->offset % 2 == 0, "view_as_complex: Tensor must have a storage_offset divisible by 2");
  Geometry g = same(x);
  g.sizes.n--, g.strides.n--;
  g.offset /= 2;
  for (int i = 0; i < g.sizes.n; i++) {
    check(g.strides[i] % 2 == 0 || g.sizes[i] == 1, "view_as_complex: Tensor must have a stride divisible by 2 for all but last dimension");
    g.strides[i] /= 2;
  }
  g.dtype = complex_type(x.dtype());
  return g;
}
Tensors ViewAsComplex::vjp(const Saved&, const Tensor& dy) const { return {view_as_real(fn::resolve_conj(dy))}; }

Tensors Conjugate::vjp(const Saved&, const Tensor& dy) const { return {fn::conjugate(dy)}; }

// The part of the gradient across the number's direction, over its length. Source: PyTorch's sgn_backward.
Tensors Sgn::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0);
  if (!is_complex(x.dtype())) return {zeros_of(dy.meta())};
  // Source: PyTorch's sgn_backward.
  Tensor length = abs(x), direction = s.output(0);
  return {where(fn::eq(length, num(0.0)), num(0.0), (dy - direction * direction * conj(dy)) / (2.0 * length))};
}

Meta Angle::infer(Inputs in) const {
  Meta m = pointwise_meta("angle(", Rule::floating, in);
  if (is_complex(m.dtype)) return {m.sizes, real_type(m.dtype), m.device};  // row-major, as in PyTorch
  return m;
}
Tensors Angle::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0);
  if (!is_complex(x.dtype())) return {zeros_of(dy.meta())};
  Tensor turned = x * wrapped_number(Scalar(std::complex<double>(0, 1))), length = abs(x);
  return {where(fn::eq(length, num(0.0)), num(0.0), dy * (turned / length / length))};
}

namespace {

Meta joined_meta(const char* op, Inputs in) {
  auto holds = [](DType t) { return t == DType::float16 || t == DType::float32 || t == DType::float64; };
  check(holds(in[0].dtype()) && holds(in[1].dtype()), op, ": Expected both inputs to be Half, Float or Double tensors but got ",
        name_of(in[0].dtype()), " and ", name_of(in[1].dtype()));
  check(in[0].dtype() == in[1].dtype(), op, ": Expected object of scalar type ", name_of(in[0].dtype()), " but got scalar type ",
        name_of(in[1].dtype()), " for second argument");
  Meta m = pointwise_meta(op, Rule::real, in);
  m.dtype = complex_type(in[0].dtype());
  return m;
}

}  // namespace

Meta Complex::infer(Inputs in) const { return joined_meta("complex", in); }
Tensors Complex::vjp(const Saved&, const Tensor& dy) const {
  if (!is_complex(dy.dtype())) return {dy, zeros_of(dy.meta())};
  return {real(dy), imag(dy)};
}

Meta Polar::infer(Inputs in) const {
  const Meta m = joined_meta("polar", in);
  check<NotImplemented>(m.dtype != DType::complex32, "polar: not implemented for float16");
  return m;
}
// Source: PyTorch's formula, by which the gradient of a negative `abs` is that of its absolute value.
Tensors Polar::vjp(const Saved& s, const Tensor& dy) const {
  Tensor y = s.output(), turned = y * wrapped_number(Scalar(std::complex<double>(0, 1)));
  return {real(conj(dy) * sgn(y)), real(conj(dy) * turned)};
}
Tensor ConjLazy::compose(Inputs in) const { return conj(in[0]); }
Tensor ConjPhysical::compose(Inputs in) const { return is_complex(in[0].dtype()) ? laid_out_as(fn::conjugate(in[0]), in[0]) : in[0]; }
Tensor ResolveConj::compose(Inputs in) const { return in[0].has_flag(kConj) ? clone_of(in[0]) : in[0]; }
Tensor ResolveNeg::compose(Inputs in) const { return in[0].has_flag(kNeg) ? clone_of(in[0]) : in[0]; }
Tensor Real::compose(Inputs in) const { return is_complex(in[0].dtype()) ? part(in[0].has_flag(kConj) ? conj(in[0]) : in[0], 0) : in[0]; }
Tensor Imag::compose(Inputs in) const {
  check(is_complex(in[0].dtype()), "imag is not implemented for tensors with non-complex dtypes.");
  if (in[0].has_flag(kConj)) return fn::_neg_view(part(conj(in[0]), 1));
  return part(in[0], 1);
}
Tensor Isreal::compose(Inputs in) const {
  if (!is_complex(in[0].dtype())) {
    Meta m = Clone().infer(in);  // laid out as the input
    m.dtype = DType::boolean;
    return full_of(m, Scalar(true));
  }
  return fn::eq(imag(in[0]), num(0.0));
}
Tensor Adjoint::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() != 1, "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  if (x.ndim() == 0) warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().");
  return conj(x.ndim() == 0 ? x : transpose(x, int64_t(-2), int64_t(-1)));
}

Tensor shown_as(const Tensor& whole, const Geometry& view) {
  Tensor t = whole;
  auto strided = [](const Tensor& x, const Geometry& g) {
    return as_strided(x, g.sizes, g.strides, std::optional<int64_t>(g.offset));
  };
  DType dtype = view.dtype.value_or(whole.dtype());
  if (dtype == whole.dtype()) t = strided(t, view);
  else if (is_complex(dtype)) t = view_as_complex(strided(t, as_parts(view, dtype)));
  else t = strided(view_as_real(t), view);
  if (view.marks & kConj) t = conj(t);
  return view.marks & kNeg ? fn::_neg_view(t) : t;
}

static const ComplexPointwise::Registration pointwise;
static const ComplexFamily::Registration ops;

}  // namespace weir
