// Orthogonal polynomials by their three-term recurrences.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Recurrence : Op {
  static constexpr Signature signature = "recurrence(x: Tensor, first: Tensor, n: Tensor, kind: str) -> Tensor";
  static constexpr auto doc = "p_n(x), element by element, from p_0 = 1 and p_1 = first; first itself where n < 2. All of one shape and dtype, float32 or float64; "
                              "n holds integers. kind: chebyshev, hermite_h, hermite_he, laguerre or legendre. Source: Abramowitz and Stegun 22.7.";
  static constexpr Module module = Module::hidden;
  static constexpr bool differentiable = false;
  Str kind;
  static constexpr std::tuple fields{&Recurrence::kind};
  Meta infer(Inputs in) const;
};

using RecurrenceOps = OpList<Recurrence>;

}  // namespace weir
