// Checks of values, as ops: their kernels look, and raise before anything that depends on them is written.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct CheckRange : Op {
  static constexpr Signature signature = "check_range(input: Tensor, low: float, high: float, what: str) -> Tensor";
  static constexpr auto doc = "A copy of input. RuntimeError, about `what`, unless every element lies in [low, high]; NaN does not.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  double low, high;
  Str what;
  static constexpr Fields fields{&CheckRange::low, &CheckRange::high, &CheckRange::what};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
  Tensors vjp(const Saved&, const Tensor& dy) const { return {dy}; }
};

struct CheckNotNegative : Op {
  static constexpr Signature signature = "check_not_negative(input: Tensor, what: str, error: str) -> Tensor";
  static constexpr auto doc = "A copy of input. `error`, RuntimeError or ValueError, about `what`, where an element is below zero; NaN is not.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  Str what, error;
  static constexpr Fields fields{&CheckNotNegative::what, &CheckNotNegative::error};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
  Tensors vjp(const Saved&, const Tensor& dy) const { return {dy}; }
};

struct CheckNonzero : Op {
  static constexpr Signature signature = "check_nonzero(input: Tensor, what: str) -> Tensor";
  static constexpr auto doc = "A copy of input. RuntimeError, about `what`, where an element is zero.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  Str what;
  static constexpr Fields fields{&CheckNonzero::what};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
  Tensors vjp(const Saved&, const Tensor& dy) const { return {dy}; }
};

struct CheckNumber : Op {
  static constexpr Signature signature = "check_number(input: Tensor, dtype: dtype) -> Tensor";
  static constexpr auto doc = "A copy of input. RuntimeError unless its one number can be written into a tensor of `dtype`, by the rules of fill_.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  DType dtype;
  static constexpr Fields fields{&CheckNumber::dtype};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
};

struct CheckTrue : Op {
  static constexpr Signature signature = "check_true(input: Tensor, condition: Tensor, op: str, what: str, error: str = 'RuntimeError') -> Tensor";
  static constexpr auto doc = "A copy of input. `error`, RuntimeError or ValueError, that in `op` there is `what`, unless all of a boolean condition holds.";
  static constexpr Module module = Module::hidden;
  Str op, what, error;
  static constexpr Fields fields{&CheckTrue::op, &CheckTrue::what, &CheckTrue::error};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
  Tensors vjp(const Saved&, const Tensor& dy) const { return {dy, Tensor()}; }
};

struct Underived : Op {
  static constexpr Signature signature = "underived(input: Tensor, sources: list[Tensor], op: str) -> Tensor";
  static constexpr auto doc = "A copy of input, the result of `op`, that requires grad where a source does: RuntimeError when a gradient is asked for.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  Str op;
  static constexpr Fields fields{&Underived::op};
  Meta infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using CheckOps = OpList<CheckRange, CheckNotNegative, CheckNonzero, CheckNumber, CheckTrue, Underived>;

namespace fn {
inline constexpr Fn<CheckRange> check_range;
inline constexpr Fn<CheckNotNegative> check_not_negative;
inline constexpr Fn<CheckNonzero> check_nonzero;
inline constexpr Fn<CheckNumber> check_number;
inline constexpr Fn<CheckTrue> check_true;
inline constexpr Fn<Underived> underived;
}  // namespace fn

}  // namespace weir
