// What all pointwise ops share: result shape, dtype and strides, and the type they compute in.
//
// A pointwise op is a struct over Pointwise<Self, Rule>, one scalar formula in kernels/formulas.h and a gradient.
#pragma once
#include "framework/op/call.h"
#include "framework/ops/functional.h"

namespace weir {

/// How operand dtypes give the type computed in and the result's dtype. Source: PyTorch's type promotion.
enum class Rule : uint8_t {
  promote,    // computes in and returns the promoted type
  real,       // as promote, numbers with fractions only: integers raise
  floating,   // integers and bool become the default float type
  integral,   // bool and integers only
  compare,    // computes in the promoted type, returns bool
  predicate,  // computes in the input's type, returns bool
  select,     // input 0 is a condition; the others promote
  wide,       // as floating, float32 and float64 only: half precision and complex numbers raise
};

DType default_dtype();
void set_default_dtype(DType t);

/// Promoted dtype of the operands: tensors with dimensions outrank 0-d ones, which outrank Python numbers.
DType result_type(Inputs in);
Dims broadcast(const char* op, const Dims& a, const Dims& b);
DType compute_dtype(const char* op, Rule rule, Inputs in);
Meta pointwise_meta(const char* op, Rule rule, Inputs in);

template <class Self, Rule kRule>
struct Pointwise : Op {
  static constexpr bool inplace = true, any_layout = true;
  static constexpr const char* notation = "pointwise";
  static constexpr Rule rule = kRule;
  static constexpr bool differentiable = kRule != Rule::compare && kRule != Rule::predicate && kRule != Rule::integral;
  Meta infer(Inputs in) const { return pointwise_meta(Self::signature.name.data(), kRule, in); }
};

}  // namespace weir
