// Norms of matrices, and what follows from singular values and a tolerance: condition numbers, ranks, pseudo-inverses, powers of matrices,
// decompositions of low rank. An order may be a number or a word, a tolerance a number or a tensor. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

struct MatrixNormWord : LinalgOp {
  static constexpr Signature signature =
      "linalg_matrix_norm.str_ord(A: Tensor, ord: str = 'fro', dim: list[int] = [-2,-1], keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "The norm of the matrices in two axes: 'fro', the root of the sum of squares, or 'nuc', the sum of singular values.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  Str ord;
  Dims dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MatrixNormWord::ord, &MatrixNormWord::dim, &MatrixNormWord::keepdim, &MatrixNormWord::dtype};
  Tensor compose(Inputs in) const;
};
struct MatrixNorm : LinalgOp {
  static constexpr Signature signature =
      "linalg_matrix_norm(A: Tensor, ord: Number, dim: list[int] = [-2,-1], keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "The norm of the matrices in two axes: the largest sum of sizes in a column for 1 and in a row for inf, the largest "
                              "singular value for 2, the least for the negative orders.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  Scalar ord;
  Dims dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MatrixNorm::ord, &MatrixNorm::dim, &MatrixNorm::keepdim, &MatrixNorm::dtype};
  Tensor compose(Inputs in) const;
};

struct LinalgNorm : LinalgOp {
  static constexpr Signature signature =
      "linalg_norm(A: Tensor, ord: Number | None = None, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "vector_norm or matrix_norm, by the number of axes; of all elements as one vector where neither ord nor dim is given.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  std::optional<Scalar> ord;
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&LinalgNorm::ord, &LinalgNorm::dim, &LinalgNorm::keepdim, &LinalgNorm::dtype};
  Tensor compose(Inputs in) const;
};
struct LinalgNormWord : LinalgOp {
  static constexpr Signature signature =
      "linalg_norm.ord_str(A: Tensor, ord: str, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "matrix_norm of order 'fro' or 'nuc'.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::same, OutHistory::kept};
  Str ord;
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&LinalgNormWord::ord, &LinalgNormWord::dim, &LinalgNormWord::keepdim, &LinalgNormWord::dtype};
  Tensor compose(Inputs in) const;
};

struct NormWord : Op {
  static constexpr Signature signature =
      "norm.word(input: Tensor, p: str = 'fro', dim: int | list[int] | None = None, keepdim: bool = False, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "The root of the sum of squares over dim, or for 'nuc' the nuclear norm of matrices.";
  static constexpr OutRule out{Out::same};
  static constexpr CallRule calling{.numpy_names = false};
  Str p;
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&NormWord::p, &NormWord::dim, &NormWord::keepdim, &NormWord::dtype};
  Tensor compose(Inputs in) const;
};
struct Norm : Op {
  static constexpr Signature signature =
      "norm(input: Tensor, p: Number | None, dim: int | list[int] | None = None, keepdim: bool = False, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "linalg.vector_norm of order p, 2 for None.";
  static constexpr OutRule out{Out::same};
  static constexpr CallRule calling{.numpy_names = false};
  std::optional<Scalar> p;
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Norm::p, &Norm::dim, &Norm::keepdim, &Norm::dtype};
  Tensor compose(Inputs in) const;
};

struct FrobeniusNorm : Op {
  static constexpr Signature signature = "frobenius_norm(input: Tensor, dim: int | list[int], keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "The square root of the sum of squares over at most two dims, all for none. Deprecated.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::same};
  Dims dim;
  bool keepdim;
  static constexpr Fields fields{&FrobeniusNorm::dim, &FrobeniusNorm::keepdim};
  Tensor compose(Inputs in) const;
};
struct NuclearNormDim : Op {
  static constexpr Signature signature = "nuclear_norm.dim(input: Tensor, dim: int | list[int], keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "The sum of singular values of the matrices in two axes. Deprecated.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  Dims dim;
  bool keepdim;
  static constexpr Fields fields{&NuclearNormDim::dim, &NuclearNormDim::keepdim};
  Tensor compose(Inputs in) const;
};
struct NuclearNorm : Op {
  static constexpr Signature signature = "nuclear_norm(input: Tensor, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "The sum of singular values of matrices. Deprecated.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  bool keepdim;
  static constexpr Fields fields{&NuclearNorm::keepdim};
  Tensor compose(Inputs in) const;
};
struct NormExceptDim : Op {
  static constexpr Signature signature = "norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor";
  static constexpr auto doc = "The norm of v over all dims but `dim` (over all for -1); the other dims have size 1.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  int64_t pow, dim;
  static constexpr Fields fields{&NormExceptDim::pow, &NormExceptDim::dim};
  Tensor compose(Inputs in) const;
};

struct Cond : LinalgOp {
  static constexpr Signature signature = "linalg_cond(A: Tensor, p: Number | None = None) -> Tensor";
  static constexpr auto doc = "The condition number |A| |A^-1| in the norm p, 2 where it is not given, real. Shape: A's batch. inf for a singular A.";
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  std::optional<Scalar> p;
  static constexpr Fields fields{&Cond::p};
  Tensor compose(Inputs in) const;
};
struct CondWord : LinalgOp {
  static constexpr Signature signature = "linalg_cond.p_str(A: Tensor, p: str) -> Tensor";
  static constexpr auto doc = "The condition number in the norm 'fro' or 'nuc'.";
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  Str p;
  static constexpr Fields fields{&CondWord::p};
  Tensor compose(Inputs in) const;
};

struct MatrixRankTensors : LinalgOp {
  static constexpr Signature signature =
      "linalg_matrix_rank.atol_rtol_tensor(A: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "How many singular values exceed max(atol, rtol * the largest), int64. Shape: A's batch.";
  static constexpr OutRule out{Out::cast};
  bool hermitian;
  static constexpr Fields fields{&MatrixRankTensors::hermitian};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};
struct MatrixRankNumbers : LinalgOp {
  static constexpr Signature signature =
      "linalg_matrix_rank.atol_rtol_float(A: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "As with tensors.";
  static constexpr OutRule out{Out::cast};
  std::optional<double> atol, rtol;
  bool hermitian;
  static constexpr Fields fields{&MatrixRankNumbers::atol, &MatrixRankNumbers::rtol, &MatrixRankNumbers::hermitian};
  Tensor compose(Inputs in) const;
};
struct MatrixRankTensor : LinalgOp {
  static constexpr Signature signature = "linalg_matrix_rank.tol_tensor(A: Tensor, tol: Tensor, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "How many singular values exceed tol.";
  static constexpr OutRule out{Out::cast};
  bool hermitian;
  static constexpr Fields fields{&MatrixRankTensor::hermitian};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};
struct MatrixRank : LinalgOp {
  static constexpr Signature signature = "linalg_matrix_rank(A: Tensor, tol: float, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "How many singular values exceed tol.";
  static constexpr OutRule out{Out::cast};
  double tol;
  bool hermitian;
  static constexpr Fields fields{&MatrixRank::tol, &MatrixRank::hermitian};
  Tensor compose(Inputs in) const;
};

struct PinvTensors : LinalgOp {
  static constexpr Signature signature =
      "linalg_pinv.atol_rtol_tensor(A: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "The pseudo-inverse: (*, m, n) -> (*, n, m). Singular values up to max(atol, rtol * the largest) count as 0; rtol is "
                              "max(m, n) * eps where it is not given and atol is not positive.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::cast};
  bool hermitian;
  static constexpr Fields fields{&PinvTensors::hermitian};
  Tensor compose(Inputs in) const;
};
struct PinvNumbers : LinalgOp {
  static constexpr Signature signature =
      "linalg_pinv.atol_rtol_float(A: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "As with tensors.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  std::optional<double> atol, rtol;
  bool hermitian;
  static constexpr Fields fields{&PinvNumbers::atol, &PinvNumbers::rtol, &PinvNumbers::hermitian};
  Tensor compose(Inputs in) const;
};
struct PinvTensor : LinalgOp {
  static constexpr Signature signature = "linalg_pinv.rcond_tensor(A: Tensor, rcond: Tensor, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "With rcond for rtol.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  bool hermitian;
  static constexpr Fields fields{&PinvTensor::hermitian};
  Tensor compose(Inputs in) const;
};
struct Pinv : LinalgOp {
  static constexpr Signature signature = "linalg_pinv(A: Tensor, rcond: float, hermitian: bool = False) -> Tensor";
  static constexpr auto doc = "With rcond for rtol.";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr OutRule out{Out::cast, OutHistory::kept};
  double rcond;
  bool hermitian;
  static constexpr Fields fields{&Pinv::rcond, &Pinv::hermitian};
  Tensor compose(Inputs in) const;
};
struct Pinverse : LinalgOp {
  static constexpr Signature signature = "pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor";
  static constexpr auto doc = "linalg.pinv with rcond.";
  static constexpr Module module = Module::torch;
  static constexpr OutRule out{Out::none};
  double rcond;
  static constexpr Fields fields{&Pinverse::rcond};
  Tensor compose(Inputs in) const;
};

struct MatrixPower : LinalgOp {
  static constexpr Signature signature = "matrix_power_of(A: Tensor, n: int) -> Tensor";
  static constexpr auto doc = "A multiplied n times with itself; the inverse's power for negative n.";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::unchanged;
  int64_t n;
  static constexpr Fields fields{&MatrixPower::n};
  Tensor compose(Inputs in) const;
};

struct SvdLowrank : LinalgOp {
  static constexpr Signature signature = "svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> list[Tensor]";
  static constexpr auto doc = "U, S and V of the q largest singular values of A - M. Exact, where PyTorch approximates with niter random products.";
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  std::optional<int64_t> q, niter;
  static constexpr Fields fields{&SvdLowrank::q, &SvdLowrank::niter};
  Tensors compose(Inputs in) const;
};
struct PcaLowrank : LinalgOp {
  static constexpr Signature signature = "pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> list[Tensor]";
  static constexpr auto doc = "svd_lowrank of A, less its columns' means when `center`. ValueError unless 0 <= q <= min(m, n), by default at most 6.";
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  std::optional<int64_t> q;
  bool center;
  int64_t niter;
  static constexpr Fields fields{&PcaLowrank::q, &PcaLowrank::center, &PcaLowrank::niter};
  Tensors compose(Inputs in) const;
};

using LinalgNormOps = OpList<MatrixNormWord, MatrixNorm, LinalgNorm, LinalgNormWord, NormWord, Norm, Cond, CondWord, MatrixRankTensors, MatrixRankNumbers, MatrixRankTensor,
                             MatrixRank, PinvTensors, PinvNumbers, PinvTensor, Pinv, Pinverse, MatrixPower, SvdLowrank, PcaLowrank, FrobeniusNorm, NuclearNormDim, NuclearNorm,
                             NormExceptDim>;

namespace fn {
inline constexpr Fn<MatrixNormWord, MatrixNorm> matrix_norm;
inline constexpr Fn<MatrixPower> matrix_power;
}  // namespace fn

}  // namespace weir
