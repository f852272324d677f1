// Functions of two or three tensors, element by element. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

/// Whether a factor loses digits beside halves. Source: PyTorch's sums, which hold it in the dtype they add in, and round nothing else on the way.
inline bool rounds_factor(const Scalar& alpha, DType t) { return alpha.is_real() && is_reduced(t) && rounded(alpha.d, t) != alpha.d; }

struct Add : Pointwise<Add, Rule::promote> {
  static constexpr Signature signature = "add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "input + alpha * other.";
  static constexpr CallRule calling{.only_numbers = true};
  Scalar alpha;
  static constexpr Fields fields{&Add::alpha};
  Meta infer(Inputs in) const;
  /// A sum of truths is one, whatever multiple the factor is.
  bool rounds(Inputs in, const Meta& m) const {
    return rounds_factor(alpha, m.dtype) || (m.dtype == DType::boolean && alpha.i != 0 && alpha.i != 1) || Pointwise::rounds(in, m);
  }
  void round(Tensors& in, const Meta& m) {
    if (m.dtype == DType::boolean) alpha = Scalar(alpha.i != 0);
    if (rounds_factor(alpha, m.dtype)) alpha = Scalar(rounded(alpha.d, m.dtype));
    Pointwise::round(in, m);
  }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// Whether minus a whole factor is no int64, so that it stays what it is. Source: PyTorch's sub, which is its add of minus the factor.
inline bool has_no_negative(const Scalar& alpha, DType t) {
  return alpha.is_whole() && alpha.i == std::numeric_limits<int64_t>::min() && is_inexact(t);
}

struct Sub : Pointwise<Sub, Rule::promote> {
  static constexpr Signature signature = "sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "input - alpha * other.";
  static constexpr CallRule calling{.only_numbers = true};
  Scalar alpha;
  static constexpr Fields fields{&Sub::alpha};
  Meta infer(Inputs in) const;
  bool rounds(Inputs in, const Meta& m) const {
    return rounds_factor(alpha, m.dtype) || has_no_negative(alpha, m.dtype) || Pointwise::rounds(in, m);
  }
  void round(Tensors& in, const Meta& m) {
    if (has_no_negative(alpha, m.dtype)) alpha = Scalar(-double(alpha.i));
    if (rounds_factor(alpha, m.dtype)) alpha = Scalar(rounded(alpha.d, m.dtype));
    Pointwise::round(in, m);
  }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Mul : Pointwise<Mul, Rule::promote> {
  static constexpr Signature signature = "mul(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input * other.";
  static constexpr CallRule calling{.only_numbers = true};
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  static uint32_t keeps(Inputs in) { return keeps_last(in); }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Div : Pointwise<Div, Rule::floating> {
  static constexpr Signature signature = "div(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input / other, always true division.";
  static constexpr CallRule calling{.only_numbers = true};
  static constexpr Save saves{.inputs = 0b11};
  static uint32_t keeps(Inputs in) { return keeps_last(in); }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// Whether whole numbers of several dtypes meet, some of which the dtype of the result does not hold; and what they are in it. Sums and products
/// wrap around to the same bits in any width, quotients and shifts do not.
bool mixes_widths(Inputs in, DType result);
void make_one_width(Tensors& in, DType result);

/// An op whose operands wrap around to the result's dtype first. Source: PyTorch's TensorIterator. None of its kernels takes truth values.
template <class T, Rule rule> struct OfOneWidth : Pointwise<T, rule> {
  Meta infer(Inputs in) const {
    const Meta m = Pointwise<T, rule>::infer(in);
    check<NotImplemented>(m.dtype != DType::boolean, NameIn{T::signature.name.data()}, ": not implemented for 'bool'");
    return m;
  }
  bool rounds(Inputs in, const Meta& m) const { return is_inexact(m.dtype) ? mixes_halves(in, m.dtype, T::keeps(in)) : mixes_widths(in, m.dtype); }
  void round(Tensors& in, const Meta& m) { is_inexact(m.dtype) ? make_halves(in, m.dtype, T::keeps(in)) : make_one_width(in, m.dtype); }
};

/// What a kernel that divides makes the quotient of halves of.
void divide_halves(Tensors& in, bool floors);

/// A quotient that becomes a whole number. Source: PyTorch's kernels, which round each step of it to halves, but beside a single number.
template <class T, Rule rule> struct Quotient : OfOneWidth<T, rule> {
  using Base = OfOneWidth<T, rule>;
  static uint32_t keeps(Inputs in) { return keeps_last(in); }
  bool rounds(Inputs in, const Meta& m) const { return in_steps(in, m.dtype) || Base::rounds(in, m); }
  void round(Tensors& in, const Meta& m) {
    Base::round(in, m);
    if (in_steps(in, m.dtype)) divide_halves(in, static_cast<const T*>(this)->floors());
  }

 private:
  static bool in_steps(Inputs in, DType result) { return is_reduced(result) && in[1].numel() > 1; }
};

struct DivMode : Quotient<DivMode, Rule::promote> {
  static constexpr Signature signature = "div.mode(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor";
  static constexpr auto doc = "Division rounded towards zero ('trunc') or down ('floor').";
  static constexpr CallRule calling{.only_numbers = true};
  std::optional<Str> rounding_mode;
  static constexpr Fields fields{&DivMode::rounding_mode};
  bool floors() const { return rounding_mode->v[0] == 'f'; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct FloorDivide : Quotient<FloorDivide, Rule::promote> {
  static constexpr Signature signature = "floor_divide(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Division rounded down.";
  static constexpr OutRule out{.history = OutHistory::kept};
  static constexpr CallRule calling{.only_numbers = true};
  static bool floors() { return true; }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Remainder : OfOneWidth<Remainder, Rule::promote> {
  static constexpr Signature signature = "remainder(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Rest of the division, with the sign of other.";
  static constexpr OutRule out{.no_numbers = 0b1};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Fmod : OfOneWidth<Fmod, Rule::promote> {
  static constexpr Signature signature = "fmod(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Rest of the division, with the sign of input.";
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Pow : Pointwise<Pow, Rule::promote> {
  static constexpr Signature signature = "pow(input: Tensor | Number, exponent: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input ** exponent.";
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b1};
  int root = 0;  // 1 where the exponent is the number 1/2, -1 where it is -1/2
  static int root_of(Inputs in, const Meta& m);
  bool rounds(Inputs in, const Meta& m) const { return root_of(in, m) != 0 || Pointwise::rounds(in, m); }
  void round(Tensors& in, const Meta& m) {
    root = root_of(in, m);
    if (Pointwise::rounds(in, m)) Pointwise::round(in, m);
  }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Maximum : Pointwise<Maximum, Rule::promote> {
  static constexpr Signature signature = "maximum(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "The larger one; NaN if one is.";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Minimum : Pointwise<Minimum, Rule::promote> {
  static constexpr Signature signature = "minimum(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "The smaller one; NaN if one is.";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Fmax : Pointwise<Fmax, Rule::promote> {
  static constexpr Signature signature = "fmax(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "The larger one; NaN only if both are.";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Fmin : Pointwise<Fmin, Rule::promote> {
  static constexpr Signature signature = "fmin(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "The smaller one; NaN only if both are.";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Atan2 : Pointwise<Atan2, Rule::floating> {
  static constexpr Signature signature = "atan2(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Angle of (other, input) in (-pi, pi].";
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Hypot : Pointwise<Hypot, Rule::real> {
  static constexpr Signature signature = "hypot(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "sqrt(input**2 + other**2).";
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Copysign : Pointwise<Copysign, Rule::floating> {
  static constexpr Signature signature = "copysign(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "|input| with the sign of other.";
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Nextafter : Pointwise<Nextafter, Rule::real> {
  static constexpr Signature signature = "nextafter(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "The next representable number towards other.";
  static constexpr Save saves{.inputs = 0b11};
  bool rounds(Inputs, const Meta& m) const { return is_reduced(m.dtype); }  // the kernel takes the steps of float32
  void round(Tensors& in, const Meta& m);
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Logaddexp : Pointwise<Logaddexp, Rule::real> {
  static constexpr Signature signature = "logaddexp(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "log(exp(input) + exp(other)).";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Logaddexp2 : Pointwise<Logaddexp2, Rule::real> {
  static constexpr Signature signature = "logaddexp2(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "log2(2**input + 2**other).";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Xlogy : Pointwise<Xlogy, Rule::floating> {
  static constexpr Signature signature = "xlogy(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input * log(other), 0 where input is 0.";
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Xlog1py : Pointwise<Xlog1py, Rule::floating> {
  static constexpr Signature signature = "xlog1py(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input * log1p(other), 0 where input is 0.";
  static constexpr Module module = Module::special;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Heaviside : Pointwise<Heaviside, Rule::promote> {
  static constexpr Signature signature = "heaviside(input: Tensor, values: Tensor) -> Tensor";
  static constexpr auto doc = "0 below zero, 1 above, values at zero. No gradient is defined.";
  static constexpr OutRule out{Out::same, OutHistory::kept};
  Meta infer(Inputs in) const;
};

struct Lerp : Pointwise<Lerp, Rule::real> {
  static constexpr Signature signature = "lerp(input: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input + weight * (end - input). end has input's dtype, and so has a weight with axes.";
  Meta infer(Inputs in) const;
  static void take_out(Inputs in, const Tensor& out);
  static constexpr Save saves{.inputs = 0b111};
  static uint32_t keeps(Inputs in) { return in[2].has_flag(kWrappedNumber) ? 0b100 : 0; }  // no operand of PyTorch's
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Addcmul : Pointwise<Addcmul, Rule::promote> {
  static constexpr Signature signature = "addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor";
  static constexpr auto doc = "input + value * tensor1 * tensor2.";
  static constexpr Held held = Held::wide;
  static constexpr Save saves{.inputs = 0b110, .factors = true};
  Scalar value;
  static constexpr Fields fields{&Addcmul::value};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Addcdiv : Pointwise<Addcdiv, Rule::real> {
  static constexpr Signature signature = "addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor";
  static constexpr auto doc = "input + value * tensor1 / tensor2.";
  static constexpr Held held = Held::wide;
  static constexpr Save saves{.inputs = 0b110};
  Scalar value;
  static constexpr Fields fields{&Addcdiv::value};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct BitwiseAnd : Pointwise<BitwiseAnd, Rule::integral> {
  static constexpr Signature signature = "bitwise_and(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Bit by bit and.";
  static constexpr OutRule out{.no_numbers = 0b1};
};

struct BitwiseOr : Pointwise<BitwiseOr, Rule::integral> {
  static constexpr Signature signature = "bitwise_or(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Bit by bit or.";
  static constexpr OutRule out{.no_numbers = 0b1};
};

struct BitwiseXor : Pointwise<BitwiseXor, Rule::integral> {
  static constexpr Signature signature = "bitwise_xor(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Bit by bit exclusive or.";
  static constexpr OutRule out{.no_numbers = 0b1};
};

struct ShiftLeft : OfOneWidth<ShiftLeft, Rule::integral> {
  static constexpr Signature signature = "bitwise_left_shift(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input << other.";
  static constexpr OutRule out{.no_numbers = 0b1};
};

struct ShiftRight : OfOneWidth<ShiftRight, Rule::integral> {
  static constexpr Signature signature = "bitwise_right_shift(input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input >> other, keeping the sign.";
  static constexpr OutRule out{.no_numbers = 0b1};
};

struct Gcd : OfOneWidth<Gcd, Rule::integral> {
  static constexpr Signature signature = "gcd(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Greatest common divisor.";
};

struct Lcm : OfOneWidth<Lcm, Rule::integral> {
  static constexpr Signature signature = "lcm(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Least common multiple.";
};

struct Where : Pointwise<Where, Rule::select> {
  static constexpr Signature signature = "where(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input where condition holds, other elsewhere.";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{.takes = Out::same, .no_numbers = 0b110};
  static constexpr Save saves{.inputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Clamp : Pointwise<Clamp, Rule::promote> {
  static constexpr Signature signature = "clamp(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor";
  static constexpr auto doc = "input limited to [min, max].";
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  Meta infer(Inputs in) const;
  std::optional<Scalar> min;
  std::optional<Scalar> max;
  static constexpr Fields fields{&Clamp::min, &Clamp::max};
  DType computes_in(Inputs in) const;  // the limits promote too
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ClampTensor : Pointwise<ClampTensor, Rule::promote> {
  static constexpr Signature signature = "clamp.Tensor(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "input limited to [min, max], element by element.";
  static constexpr Save saves{.inputs = 0b111};
  static constexpr double missing[3] = {0, -__builtin_inf(), __builtin_inf()};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// The family, for registration and for the kernels.
using ArithmeticOps = OpList<Add, Sub, Mul, Div, DivMode, FloorDivide, Remainder, Fmod, Pow, Maximum, Minimum,
    Fmax, Fmin, Atan2, Hypot, Copysign, Nextafter, Logaddexp, Logaddexp2, Xlogy, Xlog1py, Heaviside, Lerp,
    Addcmul, Addcdiv, BitwiseAnd, BitwiseOr, BitwiseXor, ShiftLeft, ShiftRight, Gcd, Lcm, Where, ClampTensor,
    Clamp>;

namespace fn {
inline constexpr Fn<Add> add;
inline constexpr Fn<Sub> sub;
inline constexpr Fn<Mul> mul;
inline constexpr Fn<Div, DivMode> div;
inline constexpr Fn<FloorDivide> floor_divide;
inline constexpr Fn<Remainder> remainder;
inline constexpr Fn<Fmod> fmod;
inline constexpr Fn<Pow> pow;
inline constexpr Fn<Maximum> maximum;
inline constexpr Fn<Minimum> minimum;
inline constexpr Fn<Fmax> fmax;
inline constexpr Fn<Fmin> fmin;
inline constexpr Fn<Atan2> atan2;
inline constexpr Fn<Hypot> hypot;
inline constexpr Fn<Copysign> copysign;
inline constexpr Fn<Nextafter> nextafter;
inline constexpr Fn<Logaddexp> logaddexp;
inline constexpr Fn<Logaddexp2> logaddexp2;
inline constexpr Fn<Xlogy> xlogy;
inline constexpr Fn<Xlog1py> xlog1py;
inline constexpr Fn<Heaviside> heaviside;
inline constexpr Fn<Lerp> lerp;
inline constexpr Fn<Addcmul> addcmul;
inline constexpr Fn<Addcdiv> addcdiv;
inline constexpr Fn<BitwiseAnd> bitwise_and;
inline constexpr Fn<BitwiseOr> bitwise_or;
inline constexpr Fn<BitwiseXor> bitwise_xor;
inline constexpr Fn<ShiftLeft> bitwise_left_shift;
inline constexpr Fn<ShiftRight> bitwise_right_shift;
inline constexpr Fn<Gcd> gcd;
inline constexpr Fn<Lcm> lcm;
inline constexpr Fn<Where> where;
inline constexpr Fn<Clamp, ClampTensor> clamp;
}  // namespace fn

}  // namespace weir
