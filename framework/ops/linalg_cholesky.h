// Cholesky and LDL factors, and systems of triangular matrices. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

struct CholeskyEx : LinalgOp {
  static constexpr Signature signature =
      "linalg_cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> (L: Tensor, info: Tensor)";
  static constexpr auto doc =
      "L with A = L L^H (U with A = U^H U when `upper`), and the order of the first leading minor that is not positive-definite, or 0; "
      "L is unfinished then. One triangle of A is read. LinAlgError for such a minor when check_errors.";
  static constexpr Notation notation = "matrices";
  static constexpr Save saves{.outputs = 0b1};
  static constexpr GradientRule gradient{.holomorphic = false, .outputs = 0b1};
  bool upper, check_errors;
  static constexpr Fields fields{&CholeskyEx::upper, &CholeskyEx::check_errors};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct CholeskyInverse : LinalgOp {
  static constexpr Signature signature = "cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor";
  static constexpr auto doc = "The inverse of A from its Cholesky factor. Shape: as input.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::torch;
  static constexpr OutRule out{Out::cast};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  bool upper;
  static constexpr Fields fields{&CholeskyInverse::upper};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct CholeskyApply : LinalgOp {
  static constexpr Signature signature = "cholesky_apply(B: Tensor, L: Tensor, upper: bool) -> Tensor";
  static constexpr auto doc = "X with A X = B for A's Cholesky factor L of the same batch. Shape: as B.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b10, .outputs = 0b1};
  bool upper;
  static constexpr Fields fields{&CholeskyApply::upper};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct TriangularApply : LinalgOp {
  static constexpr Signature signature =
      "triangular_apply(A: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool) -> Tensor";
  static constexpr auto doc = "X with A X = B (X A = B without `left`) for triangular A of B's batch, of which the other half is not read.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  bool upper, left, unitriangular;
  static constexpr Fields fields{&TriangularApply::upper, &TriangularApply::left, &TriangularApply::unitriangular};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LdlFactorEx : LinalgOp {
  static constexpr Signature signature =
      "linalg_ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> (LD: Tensor, pivots: Tensor, info: Tensor)";
  static constexpr auto doc = "Factors L D L^T (L D L^H when hermitian) of symmetric matrices in LAPACK's packed form, from the lower triangle. No gradient.";
  static constexpr Notation notation = "matrices";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr GradientRule gradient{.holomorphic = false, .outputs = 0b1};
  static constexpr OutRule out{.history = OutHistory::kept};
  bool hermitian, check_errors;
  static constexpr Fields fields{&LdlFactorEx::hermitian, &LdlFactorEx::check_errors};
  std::array<Meta, 3> infer(Inputs in) const;
};

struct LdlApply : LinalgOp {
  static constexpr Signature signature = "ldl_apply(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> Tensor";
  static constexpr auto doc = "X with A X = B for A in ldl_factor's form, all of one batch. No gradient.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  bool hermitian;
  static constexpr Fields fields{&LdlApply::hermitian};
  Meta infer(Inputs in) const;
};

// ---- composites ----------------------------------------------------------------------------------------------
struct Cholesky : LinalgOp {
  static constexpr Signature signature = "linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor";
  static constexpr auto doc = "cholesky_ex's factor. LinAlgError unless A is positive-definite.";
  bool upper;
  static constexpr Fields fields{&Cholesky::upper};
  Tensor compose(Inputs in) const;
};
struct OldCholesky : LinalgOp {
  static constexpr Signature signature = "cholesky(input: Tensor, upper: bool = False) -> Tensor";
  static constexpr auto doc = "The Cholesky factor: the form before torch.linalg.";
  static constexpr Module module = Module::torch;
  static constexpr OutRule out{Out::cast};
  static constexpr NewShape new_shape = NewShape::rows;
  bool upper;
  static constexpr Fields fields{&OldCholesky::upper};
  Tensor compose(Inputs in) const;
};
struct CholeskySolve : LinalgOp {
  static constexpr Signature signature = "cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor";
  static constexpr auto doc = "X with A X = input, for A's Cholesky factor input2.";
  static constexpr Module module = Module::torch;
  static constexpr OutRule out{Out::cast};
  static constexpr NewShape new_shape = NewShape::rows;
  bool upper;
  static constexpr Fields fields{&CholeskySolve::upper};
  Tensor compose(Inputs in) const;
};
struct SolveTriangular : LinalgOp {
  static constexpr Signature signature =
      "linalg_solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor";
  static constexpr auto doc = "X with A X = B (X A = B without `left`) for triangular A, of which the other half is not read.";
  static constexpr Autocast autocast = Autocast::unchanged;
  bool upper, left, unitriangular;
  static constexpr Fields fields{&SolveTriangular::upper, &SolveTriangular::left, &SolveTriangular::unitriangular};
  Tensor compose(Inputs in) const;
};
struct TriangularSolve : LinalgOp {
  static constexpr Signature signature =
      "triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> "
      "(solution: Tensor, cloned_coefficient: Tensor)";
  static constexpr auto doc = "(X, A) with A X = input for triangular A, or A^T X = input.";
  static constexpr Module module = Module::torch;
  bool upper, transpose, unitriangular;
  static constexpr Fields fields{&TriangularSolve::upper, &TriangularSolve::transpose, &TriangularSolve::unitriangular};
  Tensors compose(Inputs in) const;
};
struct LdlFactor : LinalgOp {
  static constexpr Signature signature = "linalg_ldl_factor(A: Tensor, *, hermitian: bool = False) -> (LD: Tensor, pivots: Tensor)";
  static constexpr auto doc = "ldl_factor_ex without info.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  bool hermitian;
  static constexpr Fields fields{&LdlFactor::hermitian};
  Tensors compose(Inputs in) const;
};
struct LdlSolve : LinalgOp {
  static constexpr Signature signature =
      "linalg_ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "X with A X = B for A in ldl_factor's form. No gradient.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  bool hermitian;
  static constexpr Fields fields{&LdlSolve::hermitian};
  Tensor compose(Inputs in) const;
};

using LinalgCholeskyOps = OpList<CholeskyEx, CholeskyInverse, CholeskyApply, TriangularApply, LdlFactorEx, LdlApply, Cholesky, OldCholesky,
                                 CholeskySolve, SolveTriangular, TriangularSolve, LdlFactor, LdlSolve>;

namespace fn {
inline constexpr Fn<CholeskyEx> cholesky_ex;
inline constexpr Fn<CholeskyInverse> cholesky_inverse;
inline constexpr Fn<CholeskyApply> cholesky_apply;
inline constexpr Fn<TriangularApply> triangular_apply;
inline constexpr Fn<LdlFactorEx> ldl_factor_ex;
inline constexpr Fn<LdlApply> ldl_apply;
inline constexpr Fn<Cholesky> cholesky;
inline constexpr Fn<SolveTriangular> solve_triangular;
}  // namespace fn

}  // namespace weir
