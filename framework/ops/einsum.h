// Sums of products by labels of axes.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// What stands for a sign of an equation among its labels; letters are 0 to 51, A to Z and a to z.
enum EinsumSign : int64_t { kEllipsis = -1, kNextOperand = -2, kArrow = -3 };

struct Einsum : Op {
  static constexpr Signature signature = "einsum_labels(tensors: list[Tensor], labels: Sequence[int]) -> Tensor";
  static constexpr auto doc =
      "Sums of products named by labels, from left to right through batched matrix products. An equation of any length is its labels, letters as 0 to 51, with "
      "-1 for '...', -2 for ',' and -3 for '->'. RuntimeError for one that does not fit.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  Places labels;
  static constexpr Fields fields{&Einsum::labels};
  Tensor compose(Inputs in) const;
};

using EinsumOps = OpList<Einsum>;

namespace fn {
inline constexpr Fn<Einsum> einsum_labels;
}  // namespace fn

}  // namespace weir
