// Tensors in another's shape or dtype, and names for what changes little. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct ViewAs : Op {
  static constexpr Signature signature = "view_as(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "input.view(other.shape).";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct ReshapeAs : Op {
  static constexpr Signature signature = "reshape_as(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "input.reshape(other.shape).";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct ExpandAs : Op {
  static constexpr Signature signature = "expand_as(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "input.expand(other.shape).";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct TypeAs : Op {
  static constexpr Signature signature = "type_as(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "input in other's dtype; input itself where it has it.";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Ravel : Op {
  static constexpr Signature signature = "ravel(input: Tensor) -> Tensor";
  static constexpr auto doc = "All elements as a vector; a view where they lie row by row.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Positive : Op {
  static constexpr Signature signature = "positive(input: Tensor) -> Tensor";
  static constexpr auto doc = "input itself. RuntimeError for bool.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct SumToSize : Op {
  static constexpr Signature signature = "sum_to_size(input: Tensor, *size: int) -> Tensor";
  static constexpr auto doc = "Summed over axes until it has the given size, which broadcasts to input's.";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Dims size;
  static constexpr Fields fields{&SumToSize::size};
  Tensor compose(Inputs in) const;
};

struct NarrowCopy : Op {
  static constexpr Signature signature = "narrow_copy(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor";
  static constexpr auto doc = "A row-major copy of `narrow`.";
  static constexpr OutRule out{Out::same};
  int64_t dim, start, length;
  static constexpr Fields fields{&NarrowCopy::dim, &NarrowCopy::start, &NarrowCopy::length};
  Tensor compose(Inputs in) const;
};

using AlikeOps = OpList<ViewAs, ReshapeAs, ExpandAs, TypeAs, Ravel, Positive, SumToSize, NarrowCopy>;

}  // namespace weir
