// What all pointwise ops share: result shape, dtype and strides, and the type they compute in.
//
// A pointwise op is a struct over Pointwise<Self, Rule>, one scalar formula in kernels/formulas.h and a gradient.
#pragma once
#include <cmath>

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

/// Which numbers among an op's fields are refused: those beyond the dtype of its tensors (`own`), or beyond what numbers of that dtype are
/// computed in (`wide`), float32 for half precision. Source: c10::Scalar's checked conversion, in PyTorch's kernels.
enum class Held : uint8_t { any, own, wide };
/// RuntimeError unless a tensor of dtype `t` can hold the number: one beyond the largest of `t` is refused, an infinity is not.
double largest_number(DType t);
void check_written(const Scalar& number, DType t);
inline void check_held(Held how, const Scalar& x, DType t) { check_written(x, how == Held::wide && is_reduced(t) ? DType::float32 : t); }
/// Ops whose numbers are real have no kernels for complex tensors, which is told later.
inline void check_held(Held how, double x, DType t) {
  if (!is_complex(t)) check_held(how, x == std::floor(x) && std::fabs(x) < 0x1p63 ? Scalar(int64_t(x)) : Scalar(x), t);
}
template <class T> void check_held(Held how, const std::optional<T>& x, DType t) {
  if (x) check_held(how, *x, t);
}

/// `x` as a number of dtype `t`, which is float16 or bfloat16.
double rounded(double x, DType t);
/// Comparisons see operands of one dtype. Source: PyTorch's TensorIterator, which casts them to halves where one of them is of halves; arithmetic
/// takes a number beside halves with all its digits. Whether that changes one of the operands, and what they are then.
bool mixes_halves(Inputs in);
void make_halves(Tensors& in);

DType default_dtype();
void set_default_dtype(DType t);

/// Promoted dtype of the operands: tensors with dimensions outrank 0-d ones, which outrank Python numbers.
DType result_type(Inputs in);
Dims broadcast(const char* op, const Dims& a, const Dims& b);
DType compute_dtype(const char* op, Rule rule, Inputs in);
Meta pointwise_meta(const char* op, Rule rule, Inputs in);

template <class Self, Rule kRule>
struct Pointwise : Op {
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "pointwise";
  static constexpr Rule rule = kRule;
  static constexpr GradientRule gradient{.exists = kRule != Rule::compare && kRule != Rule::predicate && kRule != Rule::integral};
  static constexpr Held held = Held::any;
  bool rounds(Inputs in, const Meta&) const requires(kRule == Rule::compare) { return mixes_halves(in); }
  void round(Tensors& in, const Meta&) requires(kRule == Rule::compare) { make_halves(in); }
  Meta infer(Inputs in) const {
    const Meta m = pointwise_meta(Self::signature.name.data(), kRule, in);
    if constexpr (Self::held != Held::any)
      std::apply([&](auto... field) { (check_held(Self::held, static_cast<const Self&>(*this).*field, m.dtype), ...); }, Self::fields);
    return m;
  }
};

}  // namespace weir
