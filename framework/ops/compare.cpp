#include "framework/ops/compare.h"

#include "framework/core/layout.h"

namespace weir {
namespace {

Meta finiteness(const char* op, Inputs in) {
  const Meta m = pointwise_meta(op, Rule::predicate, in);
  return is_inexact(in[0].dtype()) ? m : with_strides(m, in[0]);
}

Meta truth(const char* op, Inputs in) {
  check<NotImplemented>(result_type(in) != DType::complex32, NameIn{op}, ": not implemented for 'complex32'");  // of halves and complex numbers
  return pointwise_meta(op, Rule::compare, in);
}

}  // namespace

Meta LogicalAnd::infer(Inputs in) const { return truth("logical_and", in); }
Meta LogicalOr::infer(Inputs in) const { return truth("logical_or", in); }
Meta LogicalXor::infer(Inputs in) const { return truth("logical_xor", in); }
// Source: PyTorch, which asks real and imaginary parts, with gaps between them, and joins the answers.
Meta Isinf::infer(Inputs in) const {
  Meta m = finiteness("isinf", in);
  if (!is_complex(in[0].dtype())) return m;
  Dims strides = in[0].strides();
  for (int64_t& s : strides) s *= 2;
  m.strides = dense_strides(in[0].sizes(), std::array{strides});
  return m;
}
Meta Isfinite::infer(Inputs in) const { return finiteness("isfinite", in); }

Tensor operator>(const Tensor& a, const Tensor& b) { return fn::gt(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return fn::lt(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return fn::ge(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return fn::le(a, b); }

Tensor BitwiseNot::compose(Inputs in) const {
  return in[0].dtype() == DType::boolean ? fn::logical_not(in[0]) : fn::bitwise_not_int(in[0]);
}

static const CompareOps::Registration ops;
static const Register<BitwiseNot> more;

}  // namespace weir
