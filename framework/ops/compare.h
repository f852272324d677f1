// Comparisons and logic, element by element; results are bool.
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
  static constexpr bool keeps_history = true;
};

struct LogicalOr : Pointwise<LogicalOr, Rule::compare> {
  static constexpr Signature signature = "logical_or(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Is one nonzero?";
  static constexpr bool keeps_history = true;
};

struct LogicalXor : Pointwise<LogicalXor, Rule::compare> {
  static constexpr Signature signature = "logical_xor(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Is exactly one nonzero?";
  static constexpr bool keeps_history = true;
};

struct BitwiseNot : Op {
  static constexpr Signature signature = "bitwise_not(input: Tensor) -> Tensor";
  static constexpr auto doc = "~x for integers, logical not for bool.";
  static constexpr Out out = Out::same;
  static constexpr bool inplace = true;
  Tensor compose(Inputs in) const;
};

/// The family, for registration and for the kernels.
using CompareOps = OpList<Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor>;

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
inline constexpr Fn<BitwiseNot> bitwise_not;
}  // namespace fn

}  // namespace weir
