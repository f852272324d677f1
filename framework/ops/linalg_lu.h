// LU factors, and what is solved through them: systems, inverses, determinants. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

// ---- kernel ops ----------------------------------------------------------------------------------------------
struct LuFactorEx : LinalgOp {
  static constexpr Signature signature =
      "linalg_lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> (LU: Tensor, pivots: Tensor, info: Tensor)";
  static constexpr auto doc =
      "L below the diagonal and U above in one matrix; the rows exchanged, from 1, int32; the place of the first zero on U's diagonal, "
      "or 0. Shapes: as A, (*, min(m, n)), (*). LinAlgError for a zero when check_errors.";
  static constexpr Notation notation = "matrices";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Save saves{.outputs = 0b11};
  static constexpr GradientRule gradient{.holomorphic = false, .outputs = 0b1};
  bool pivot, check_errors;
  static constexpr Fields fields{&LuFactorEx::pivot, &LuFactorEx::check_errors};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LuOrder : LinalgOp {
  static constexpr Signature signature = "lu_order(pivots: Tensor, rows: int) -> Tensor";
  static constexpr auto doc = "Which row stands where after the exchanges `pivots`, int64. Shape: (*, rows).";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false, .holomorphic = false};
  int64_t rows;
  static constexpr Fields fields{&LuOrder::rows};
  Meta infer(Inputs in) const;
};

struct LuApply : LinalgOp {
  static constexpr Signature signature = "lu_apply(LU: Tensor, pivots: Tensor, B: Tensor, adjoint: bool) -> Tensor";
  static constexpr auto doc = "X with A X = B for A in lu_factor's form, all of one batch; A^H X = B with `adjoint`. Shape: as B.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  bool adjoint;
  static constexpr Fields fields{&LuApply::adjoint};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SolveLu : LinalgOp {
  static constexpr Signature signature =
      "solve_lu(A: Tensor, B: Tensor, check_errors: bool) -> (result: Tensor, LU: Tensor, pivots: Tensor, info: Tensor)";
  static constexpr auto doc = "X with A X = B, for A and B of one batch, and what lu_factor_ex gives of A.";
  static constexpr Notation notation = "matrices";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b111};
  static constexpr GradientRule gradient{.holomorphic = false, .outputs = 0b1};
  bool check_errors;
  static constexpr Fields fields{&SolveLu::check_errors};
  std::array<Meta, 4> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct InvEx : LinalgOp {
  static constexpr Signature signature = "linalg_inv_ex(A: Tensor, *, check_errors: bool = False) -> (inverse: Tensor, info: Tensor)";
  static constexpr auto doc = "The inverses, and the place of the first zero pivot, or 0. LinAlgError for one when check_errors.";
  static constexpr Notation notation = "matrices";
  static constexpr Save saves{.outputs = 0b1};
  static constexpr GradientRule gradient{.holomorphic = false, .outputs = 0b1};
  bool check_errors;
  static constexpr Fields fields{&InvEx::check_errors};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Det : LinalgOp {
  static constexpr Signature signature = "linalg_det(A: Tensor) -> Tensor";
  static constexpr auto doc = "The determinants of square matrices: the product of U's diagonal, with the sign of the exchanges. Shape: A's batch.";
  static constexpr Notation notation = "matrices";
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Slogdet : LinalgOp {
  static constexpr Signature signature = "linalg_slogdet(A: Tensor) -> (sign: Tensor, logabsdet: Tensor)";
  static constexpr auto doc = "The determinant's direction and the logarithm of its size; (0, -inf) for a singular matrix. Shapes: A's batch.";
  static constexpr Notation notation = "matrices";
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// ---- composites ----------------------------------------------------------------------------------------------
struct LuFactor : LinalgOp {
  static constexpr Signature signature = "linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> (LU: Tensor, pivots: Tensor)";
  static constexpr auto doc = "lu_factor_ex without info; LinAlgError never: a singular matrix has factors too.";
  static constexpr Autocast autocast = Autocast::unchanged;
  bool pivot;
  static constexpr Fields fields{&LuFactor::pivot};
  Tensors compose(Inputs in) const;
};
struct LuUnpack : LinalgOp {
  static constexpr Signature signature =
      "lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> (P: Tensor, L: Tensor, U: Tensor)";
  static constexpr auto doc = "(P, L, U) from lu_factor's results; what is not asked for is empty.";
  static constexpr OutRule out{Out::same};
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::opaque;
  bool unpack_data, unpack_pivots;
  static constexpr Fields fields{&LuUnpack::unpack_data, &LuUnpack::unpack_pivots};
  Tensors compose(Inputs in) const;
};
struct Lu : LinalgOp {
  static constexpr Signature signature = "linalg_lu(A: Tensor, *, pivot: bool = True) -> (P: Tensor, L: Tensor, U: Tensor)";
  static constexpr auto doc = "(P, L, U) with A = P L U.";
  static constexpr Autocast autocast = Autocast::unchanged;
  bool pivot;
  static constexpr Fields fields{&Lu::pivot};
  Tensors compose(Inputs in) const;
};
struct LuSolve : LinalgOp {
  static constexpr Signature signature =
      "linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor";
  static constexpr auto doc = "X with A X = B, for A in lu_factor's form; A^H with `adjoint`, X A = B without `left`.";
  static constexpr Autocast autocast = Autocast::opaque;
  bool left, adjoint;
  static constexpr Fields fields{&LuSolve::left, &LuSolve::adjoint};
  Tensor compose(Inputs in) const;
};
struct OldLuSolve : LinalgOp {
  static constexpr Signature signature = "lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor";
  static constexpr auto doc = "X with A X = input: the form before torch.linalg.";
  static constexpr Module module = Module::torch;
  Tensor compose(Inputs in) const;
};
struct SolveEx : LinalgOp {
  static constexpr Signature signature =
      "linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> (result: Tensor, info: Tensor)";
  static constexpr auto doc = "X with A X = B, or X A = B without `left`, and the place of the first zero pivot, or 0. B: matrices, or vectors of A's batch.";
  static constexpr Autocast autocast = Autocast::unchanged;
  bool left, check_errors;
  static constexpr Fields fields{&SolveEx::left, &SolveEx::check_errors};
  Tensors compose(Inputs in) const;
};
struct Solve : LinalgOp {
  static constexpr Signature signature = "linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor";
  static constexpr auto doc = "solve_ex's result. LinAlgError for a singular A.";
  bool left;
  static constexpr Fields fields{&Solve::left};
  Tensor compose(Inputs in) const;
};
struct Inv : LinalgOp {
  static constexpr Signature signature = "linalg_inv(A: Tensor) -> Tensor";
  static constexpr auto doc = "The inverses of square matrices. Shape: as A. LinAlgError for a singular one.";
  Tensor compose(Inputs in) const;
};
struct Inverse : LinalgOp {
  static constexpr Signature signature = "inverse(input: Tensor) -> Tensor";
  static constexpr auto doc = "linalg.inv.";
  static constexpr Module module = Module::torch;
  Tensor compose(Inputs in) const;
};
struct OldDet : LinalgOp {
  static constexpr Signature signature = "det(input: Tensor) -> Tensor";
  static constexpr auto doc = "linalg.det.";
  static constexpr OutRule out{Out::exact};
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  Tensor compose(Inputs in) const;
};
struct OldSlogdet : LinalgOp {
  static constexpr Signature signature = "slogdet(input: Tensor) -> (sign: Tensor, logabsdet: Tensor)";
  static constexpr auto doc = "linalg.slogdet.";
  static constexpr OutRule out{Out::exact};
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  Tensors compose(Inputs in) const;
};
struct Logdet : LinalgOp {
  static constexpr Signature signature = "logdet(input: Tensor) -> Tensor";
  static constexpr auto doc = "log(det A); NaN for a negative determinant.";
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  Tensor compose(Inputs in) const;
};
struct Tensorinv : LinalgOp {
  static constexpr Signature signature = "linalg_tensorinv(A: Tensor, ind: int = 2) -> Tensor";
  static constexpr auto doc = "The inverse of A seen as a matrix of its first `ind` axes by the others. Shape: the others, then the first.";
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  int64_t ind;
  static constexpr Fields fields{&Tensorinv::ind};
  Tensor compose(Inputs in) const;
};
struct Tensorsolve : LinalgOp {
  static constexpr Signature signature = "linalg_tensorsolve(input: Tensor, other: Tensor, dims: list[int] | None = None) -> Tensor";
  static constexpr auto doc = "X with tensordot(A, X, X.dim()) = B; `dims` of A are moved to its end first.";
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  std::optional<Dims> dims;
  static constexpr Fields fields{&Tensorsolve::dims};
  Tensor compose(Inputs in) const;
};

using LinalgLuOps = OpList<LuFactorEx, LuOrder, LuApply, SolveLu, InvEx, Det, Slogdet, LuFactor, LuUnpack, Lu, LuSolve, OldLuSolve, SolveEx,
                           Solve, Inv, Inverse, OldDet, OldSlogdet, Logdet, Tensorinv, Tensorsolve>;

namespace fn {
inline constexpr Fn<LuFactorEx> lu_factor_ex;
inline constexpr Fn<LuOrder> lu_order;
inline constexpr Fn<LuApply> lu_apply;
inline constexpr Fn<SolveLu> solve_lu;
inline constexpr Fn<InvEx> inv_ex;
inline constexpr Fn<Det> det;
inline constexpr Fn<Slogdet> slogdet;
inline constexpr Fn<LuUnpack> lu_unpack;
inline constexpr Fn<LuSolve> lu_solve;
inline constexpr Fn<SolveEx> solve_ex;
inline constexpr Fn<Solve> solve;
inline constexpr Fn<Inv> inv;
}  // namespace fn

}  // namespace weir
