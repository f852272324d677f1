// Covariance and correlation. Source: https://pytorch.org/docs/stable/generated/torch.cov.html
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Cov : Op {
  static constexpr Signature signature =
      "cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor";
  static constexpr auto doc =
      "The covariance matrix of the rows, which are variables, over the columns, which are observations: so many times each (fweights), "
      "of a weight each (aweights). Shape: (variables, variables), () for one. RuntimeError for negative weights and those that sum to 0.";
  static constexpr OutRule out{Out::none};
  int64_t correction;
  static constexpr Fields fields{&Cov::correction};
  Tensor compose(Inputs in) const;
};

struct Corrcoef : Op {
  static constexpr Signature signature = "corrcoef(input: Tensor) -> Tensor";
  static constexpr auto doc = "The correlation matrix of the rows, in [-1, 1]. Shape: (rows, rows), () for one.";
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

using StatisticsOps = OpList<Cov, Corrcoef>;

namespace fn {
inline constexpr Fn<Cov> cov;
inline constexpr Fn<Corrcoef> corrcoef;
}  // namespace fn

}  // namespace weir
