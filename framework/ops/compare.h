// Comparisons, predicates and logic, element by element; results are bool.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

struct Eq : Pointwise<Eq, Rule::compare> {
  static constexpr Signature signature = "eq(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input == other.";
};

struct Ne : Pointwise<Ne, Rule::compare> {
  static constexpr Signature signature = "ne(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input != other.";
};

struct Lt : Pointwise<Lt, Rule::compare> {
  static constexpr Signature signature = "lt(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input < other.";
};

struct Le : Pointwise<Le, Rule::compare> {
  static constexpr Signature signature = "le(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input <= other.";
};

struct Gt : Pointwise<Gt, Rule::compare> {
  static constexpr Signature signature = "gt(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input > other.";
};

struct Ge : Pointwise<Ge, Rule::compare> {
  static constexpr Signature signature = "ge(input: Tensor, other: Tensor | Number) -> Tensor";
  static constexpr auto doc = "input >= other.";
};

struct LogicalAnd : Pointwise<LogicalAnd, Rule::compare> {
  static constexpr Signature signature = "logical_and(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Are both nonzero?";
  static constexpr InplaceRule inplace{.offered = true, .keeps_history = true};
  Meta infer(Inputs in) const;
};

struct LogicalOr : Pointwise<LogicalOr, Rule::compare> {
  static constexpr Signature signature = "logical_or(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Is one nonzero?";
  static constexpr InplaceRule inplace{.offered = true, .keeps_history = true};
  Meta infer(Inputs in) const;
};

struct LogicalXor : Pointwise<LogicalXor, Rule::compare> {
  static constexpr Signature signature = "logical_xor(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Is exactly one nonzero?";
  static constexpr InplaceRule inplace{.offered = true, .keeps_history = true};
  Meta infer(Inputs in) const;
};

struct Isnan : Pointwise<Isnan, Rule::predicate> {
  static constexpr Signature signature = "isnan(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is x NaN?";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{Out::none};
};

// Whole numbers are answered as PyTorch does, by zeros_like and ones_like: in all of the input's strides.
struct Isinf : Pointwise<Isinf, Rule::predicate> {
  static constexpr Signature signature = "isinf(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is x infinite?";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{Out::none};
  Meta infer(Inputs in) const;
};

struct Isfinite : Pointwise<Isfinite, Rule::predicate> {
  static constexpr Signature signature = "isfinite(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is x neither infinite nor NaN?";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{Out::none};
  Meta infer(Inputs in) const;
};

struct Signbit : Pointwise<Signbit, Rule::predicate> {
  static constexpr Signature signature = "signbit(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is the sign bit set?";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{Out::same};
};

struct Isposinf : Pointwise<Isposinf, Rule::predicate> {
  static constexpr Signature signature = "isposinf(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is x +inf?";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{Out::same};
};

struct Isneginf : Pointwise<Isneginf, Rule::predicate> {
  static constexpr Signature signature = "isneginf(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is x -inf?";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr OutRule out{Out::same};
};

struct LogicalNot : Pointwise<LogicalNot, Rule::predicate> {
  static constexpr Signature signature = "logical_not(input: Tensor) -> Tensor";
  static constexpr auto doc = "Is x zero?";
  static constexpr InplaceRule inplace{.offered = true, .keeps_history = true};
};

struct BitwiseNotInt : Pointwise<BitwiseNotInt, Rule::integral> {
  static constexpr Signature signature = "bitwise_not_int(input: Tensor) -> Tensor";
  static constexpr auto doc = "~x for integers.";
  static constexpr Module module = Module::hidden;
};

struct BitwiseNot : Op {
  static constexpr Signature signature = "bitwise_not(input: Tensor) -> Tensor";
  static constexpr auto doc = "~x for integers, logical not for bool.";
  static constexpr OutRule out{Out::same};
  static constexpr InplaceRule inplace{.offered = true};
  Tensor compose(Inputs in) const;
};

/// The family, for registration and for the kernels.
using CompareOps = OpList<Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor,
    Isnan, Isinf, Isfinite, Signbit, Isposinf, Isneginf, LogicalNot, BitwiseNotInt>;

namespace fn {
inline constexpr Fn<Eq> eq;
inline constexpr Fn<Ne> ne;
inline constexpr Fn<Lt> lt;
inline constexpr Fn<Le> le;
inline constexpr Fn<Gt> gt;
inline constexpr Fn<Ge> ge;
inline constexpr Fn<LogicalAnd> logical_and;
inline constexpr Fn<LogicalOr> logical_or;
inline constexpr Fn<LogicalXor> logical_xor;
inline constexpr Fn<Isnan> isnan;
inline constexpr Fn<Isinf> isinf;
inline constexpr Fn<Isfinite> isfinite;
inline constexpr Fn<Signbit> signbit;
inline constexpr Fn<Isposinf> isposinf;
inline constexpr Fn<Isneginf> isneginf;
inline constexpr Fn<LogicalNot> logical_not;
inline constexpr Fn<BitwiseNotInt> bitwise_not_int;
inline constexpr Fn<BitwiseNot> bitwise_not;
}  // namespace fn

}  // namespace weir
