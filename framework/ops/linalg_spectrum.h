// Eigenvalues, singular values and pseudo-inverses. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

// ---- kernel ops ----------------------------------------------------------------------------------------------
struct Eigh : LinalgOp {
  static constexpr Signature signature = "linalg_eigh(A: Tensor, UPLO: str = 'L') -> (eigenvalues: Tensor, eigenvectors: Tensor)";
  static constexpr auto doc = "Values in rising order, and vectors as columns, of symmetric or Hermitian matrices, of which only the UPLO triangle is read.";
  static constexpr Notation notation = "matrices";
  static constexpr Save saves{.outputs = 0b11};
  Str UPLO;
  static constexpr Fields fields{&Eigh::UPLO};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct EighValues : LinalgOp {
  static constexpr Signature signature = "eigh_values(A: Tensor, UPLO: str) -> Tensor";
  static constexpr auto doc = "linalg.eigh's values without vectors, for calls without gradients.";
  static constexpr Notation notation = "matrices";
  static constexpr OutRule out{Out::exact};
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false, .holomorphic = false};
  Str UPLO;
  static constexpr Fields fields{&EighValues::UPLO};
  Meta infer(Inputs in) const;
};

struct Eig : LinalgOp {
  static constexpr Signature signature = "linalg_eig(A: Tensor) -> (eigenvalues: Tensor, eigenvectors: Tensor)";
  static constexpr auto doc = "Complex values, and vectors of length 1 as columns, of square matrices.";
  static constexpr Notation notation = "matrices";
  static constexpr OutRule out{Out::cast};
  static constexpr Save saves{.outputs = 0b11};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct EigValues : LinalgOp {
  static constexpr Signature signature = "eig_values(A: Tensor) -> Tensor";
  static constexpr auto doc = "linalg.eig's values without vectors, for calls without gradients.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false, .holomorphic = false};
  Meta infer(Inputs in) const;
};

struct SvdParts : LinalgOp {
  static constexpr Signature signature = "svd_parts(A: Tensor, full_matrices: bool) -> (S: Tensor, U: Tensor, Vh: Tensor)";
  static constexpr auto doc = "A = U diag(S) Vh, with S falling; U and Vh are squares with full_matrices.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.outputs = 0b111};
  bool full_matrices;
  static constexpr Fields fields{&SvdParts::full_matrices};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct SvdValues : LinalgOp {
  static constexpr Signature signature = "svd_values(A: Tensor) -> Tensor";
  static constexpr auto doc = "Singular values without vectors, for calls without gradients.";
  static constexpr Notation notation = "matrices";
  static constexpr OutRule out{Out::exact};
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false, .holomorphic = false};
  Meta infer(Inputs in) const;
};

struct PinvParts : LinalgOp {
  static constexpr Signature signature = "pinv_parts(A: Tensor, atol: Tensor, rtol: Tensor, hermitian: bool) -> Tensor";
  static constexpr auto doc = "The pseudo-inverse; singular values up to max(atol, rtol * the largest) count as 0. Tolerances: float64 of A's batch.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  bool hermitian;
  static constexpr Fields fields{&PinvParts::hermitian};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// The gradient of A from that of its pseudo-inverse P. Source: Golub & Pereyra 1973.
Tensor pinv_gradient(const Tensor& A, const Tensor& P, const Tensor& grad);

// ---- composites ----------------------------------------------------------------------------------------------
struct Eigvalsh : LinalgOp {
  static constexpr Signature signature = "linalg_eigvalsh(A: Tensor, UPLO: str = 'L') -> Tensor";
  static constexpr auto doc = "The eigenvalues of symmetric or Hermitian matrices, in rising order. Shape: (*, n).";
  static constexpr OutRule out{Out::exact};
  Str UPLO;
  static constexpr Fields fields{&Eigvalsh::UPLO};
  Tensor compose(Inputs in) const;
};
struct Eigvals : LinalgOp {
  static constexpr Signature signature = "linalg_eigvals(A: Tensor) -> Tensor";
  static constexpr auto doc = "The complex eigenvalues of square matrices. Shape: (*, n).";
  static constexpr OutRule out{.history = OutHistory::dropped};
  Tensor compose(Inputs in) const;
};
struct Svd : LinalgOp {
  static constexpr Signature signature =
      "linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> (U: Tensor, S: Tensor, Vh: Tensor)";
  static constexpr auto doc = "A = U diag(S) Vh with S falling. Shapes: (*, m, m), (*, k), (*, n, n); (*, m, k) and (*, k, n) without full_matrices.";
  bool full_matrices;
  std::optional<Str> driver;
  static constexpr Fields fields{&Svd::full_matrices, &Svd::driver};
  Tensors compose(Inputs in) const;
};
struct Svdvals : LinalgOp {
  static constexpr Signature signature = "linalg_svdvals(A: Tensor, *, driver: str | None = None) -> Tensor";
  static constexpr auto doc = "The singular values of A, falling. Shape: (*, min(m, n)).";
  static constexpr OutRule out{Out::exact};
  std::optional<Str> driver;
  static constexpr Fields fields{&Svdvals::driver};
  Tensor compose(Inputs in) const;
};
struct OldSvd : LinalgOp {
  static constexpr Signature signature = "svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> (U: Tensor, S: Tensor, V: Tensor)";
  static constexpr auto doc = "(U, S, V) with input = U diag(S) V^H: the form before torch.linalg.";
  static constexpr Module module = Module::torch;
  bool some, compute_uv;
  static constexpr Fields fields{&OldSvd::some, &OldSvd::compute_uv};
  Tensors compose(Inputs in) const;
};

using LinalgSpectrumOps = OpList<Eigh, EighValues, Eig, EigValues, SvdParts, SvdValues, PinvParts, Eigvalsh, Eigvals, Svd, Svdvals, OldSvd>;

namespace fn {
inline constexpr Fn<Eigh> eigh;
inline constexpr Fn<EighValues> eigh_values;
inline constexpr Fn<Eig> eig;
inline constexpr Fn<EigValues> eig_values;
inline constexpr Fn<SvdParts> svd_parts;
inline constexpr Fn<SvdValues> svd_values;
inline constexpr Fn<PinvParts> pinv_parts;
inline constexpr Fn<Svd> svd;
inline constexpr Fn<Svdvals> svdvals;
}  // namespace fn

}  // namespace weir
