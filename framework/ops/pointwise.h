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
/// A kernel sees operands of one dtype, `t`. Source: PyTorch's TensorIterator, which casts them to it: to halves, also a number that loses digits.
/// Whether that changes an operand, and what they are then; those of the mask `kept` stay what they are.
bool mixes_halves(Inputs in, DType t, uint32_t kept);
void make_halves(Tensors& in, DType t, uint32_t kept);
/// Source: PyTorch's products and quotients of halves, which read a single element behind the sign in single precision.
inline uint32_t keeps_last(Inputs in) { return in[1].numel() == 1 ? 0b10 : 0; }

/// Whether operands of several dtypes may meet where halves are computed.
template <class T> consteval bool meets_halves(Rule rule) {
  int operands = 0;
  for (int i = 0; i < T::signature.n; i++) operands += is_input(T::signature.params[i].ty);
  return operands > 1 && rule != Rule::integral && rule != Rule::select && rule != Rule::wide;
}

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
  static uint32_t keeps(Inputs) { return 0; }  // the operands that are not cast to halves
  bool rounds(Inputs in, const Meta& m) const requires(meets_halves<Self>(kRule)) { return mixes_halves(in, met(in, m), Self::keeps(in)); }
  void round(Tensors& in, const Meta& m) requires(meets_halves<Self>(kRule)) { make_halves(in, met(in, m), Self::keeps(in)); }
  Meta infer(Inputs in) const {
    const Meta m = pointwise_meta(Self::signature.name.data(), kRule, in);
    if constexpr (Self::held != Held::any)
      Self::fields.apply([&](auto... field) { (check_held(Self::held, static_cast<const Self&>(*this).*field, m.dtype), ...); });
    return m;
  }

 private:
  static DType met(Inputs in, const Meta& result) { return kRule == Rule::compare ? result_type(in) : result.dtype; }
};

}  // namespace weir
