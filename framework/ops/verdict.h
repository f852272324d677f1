// Questions about tensors that have one answer. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct EqualElements : Op {
  static constexpr Signature signature = "equal_elements(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Are all elements of two tensors of one shape and dtype the same? NaN equals nothing. Stops at the first that differ. Shape: ().";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  Meta infer(Inputs in) const { return {Dims{}, DType::boolean, in[0].device()}; }
};

struct Equal : Op {
  static constexpr Signature signature = "equal(input: Tensor, other: Tensor) -> bool";
  static constexpr auto doc = "Are shapes and elements the same?";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Allclose : Op {
  static constexpr Signature signature =
      "allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool";
  static constexpr auto doc = "Is |input - other| <= atol + rtol |other| for all elements?";
  static constexpr OutRule out{Out::none};
  double rtol, atol;
  bool equal_nan;
  static constexpr Fields fields{&Allclose::rtol, &Allclose::atol, &Allclose::equal_nan};
  Tensor compose(Inputs in) const;
};

using VerdictOps = OpList<EqualElements, Equal, Allclose>;

}  // namespace weir
