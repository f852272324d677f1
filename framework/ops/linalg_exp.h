// The exponential of matrices. Source: https://pytorch.org/docs/stable/generated/torch.linalg.matrix_exp.html
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

struct MatrixExpParts : LinalgOp {
  static constexpr Signature signature = "matrix_exp_parts(A: Tensor) -> Tensor";
  static constexpr auto doc = "The exponential of square matrices of a type that LAPACK has. Shape: as A. NaN where A is not finite.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Save saves{.inputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct MatrixExp : LinalgOp {
  static constexpr Signature signature = "linalg_matrix_exp(A: Tensor) -> Tensor";
  static constexpr auto doc = "The exponential of square matrices of any floating or complex dtype. Shape: as A.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};
struct OldMatrixExp : LinalgOp {
  static constexpr Signature signature = "matrix_exp(input: Tensor) -> Tensor";
  static constexpr auto doc = "linalg.matrix_exp.";
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

using LinalgExpOps = OpList<MatrixExpParts, MatrixExp, OldMatrixExp>;

namespace fn {
inline constexpr Fn<MatrixExpParts> matrix_exp_parts;
inline constexpr Fn<MatrixExp> matrix_exp;
}  // namespace fn

}  // namespace weir
