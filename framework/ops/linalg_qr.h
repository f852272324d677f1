// QR factors, products of reflectors, least squares. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

// ---- kernel ops ----------------------------------------------------------------------------------------------
struct Qr : LinalgOp {
  static constexpr Signature signature = "linalg_qr(A: Tensor, mode: str = 'reduced') -> (Q: Tensor, R: Tensor)";
  static constexpr auto doc = "A = Q R with orthonormal columns in Q and upper triangular R; mode: reduced, complete, or r for an empty Q.";
  static constexpr Notation notation = "matrices";
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b11};
  Str mode;
  static constexpr Fields fields{&Qr::mode};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Geqrf : LinalgOp {
  static constexpr Signature signature = "geqrf(input: Tensor) -> (a: Tensor, tau: Tensor)";
  static constexpr auto doc = "R in the upper triangle, the reflectors of Q below it, and their factors. No gradient.";
  static constexpr Notation notation = "matrices";
  static constexpr GradientRule gradient{.holomorphic = false, .of_complex = false};
  static constexpr OutRule out{Out::cast};
  static constexpr Module module = Module::torch;
  std::array<Meta, 2> infer(Inputs in) const;
};

struct HouseholderParts : LinalgOp {
  static constexpr Signature signature = "householder_parts(A: Tensor, tau: Tensor) -> Tensor";
  static constexpr auto doc = "linalg.householder_product for calls without gradients, or without reflectors, which have none.";
  static constexpr Notation notation = "matrices";
  static constexpr Save saves{.inputs = 0b11};  // a constant is not linear, which is what a vjp that reads nothing says
  static constexpr Module module = Module::hidden;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct OrmqrParts : LinalgOp {
  static constexpr Signature signature = "ormqr_parts(input: Tensor, tau: Tensor, other: Tensor, left: bool, transpose: bool) -> Tensor";
  static constexpr auto doc = "ormqr for calls without gradients of the reflectors.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  bool left, transpose;
  static constexpr Fields fields{&OrmqrParts::left, &OrmqrParts::transpose};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LstsqParts : LinalgOp {
  static constexpr Signature signature =
      "lstsq_parts(A: Tensor, B: Tensor, rcond: float, driver: str) -> (solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor)";
  static constexpr auto doc = "linalg.lstsq of matrices of one batch by LAPACK's `driver`.";
  static constexpr Notation notation = "matrices";
  static constexpr Module module = Module::hidden;
  static constexpr bool dynamic_shape = true;
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b1};
  static constexpr GradientRule gradient{.holomorphic = false, .outputs = 0b11};
  double rcond;
  Str driver;
  static constexpr Fields fields{&LstsqParts::rcond, &LstsqParts::driver};
  std::array<Meta, 4> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// ---- composites ----------------------------------------------------------------------------------------------
struct OldQr : LinalgOp {
  static constexpr Signature signature = "qr(input: Tensor, some: bool = True) -> (Q: Tensor, R: Tensor)";
  static constexpr auto doc = "(Q, R): the form before torch.linalg.";
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  bool some;
  static constexpr Fields fields{&OldQr::some};
  Tensors compose(Inputs in) const;
};
struct HouseholderProduct : LinalgOp {
  static constexpr Signature signature = "linalg_householder_product(A: Tensor, tau: Tensor) -> Tensor";
  static constexpr auto doc = "The first columns of the product of the reflectors in A and tau, as geqrf gives them. Shape: as A.";
  static constexpr OutRule out{Out::cast};
  Tensor compose(Inputs in) const;
};
struct Orgqr : LinalgOp {
  static constexpr Signature signature = "orgqr(input: Tensor, input2: Tensor) -> Tensor";
  static constexpr auto doc = "linalg.householder_product.";
  static constexpr OutRule out{Out::cast};
  static constexpr Module module = Module::torch;
  Tensor compose(Inputs in) const;
};
struct Ormqr : LinalgOp {
  static constexpr Signature signature =
      "ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor";
  static constexpr auto doc = "Q input3 (Q^H with `transpose`; input3 Q without `left`) for the reflectors of Q in input and input2.";
  static constexpr Module module = Module::torch;
  bool left, transpose;
  static constexpr Fields fields{&Ormqr::left, &Ormqr::transpose};
  Tensor compose(Inputs in) const;
};
struct Lstsq : LinalgOp {
  static constexpr Signature signature =
      "linalg_lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> "
      "(solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor)";
  static constexpr auto doc =
      "min |A X - B| by driver gels, gelsy (default), gelsd or gelss. What it does not compute is empty: residuals are for full-rank "
      "matrices of more rows than columns, rank for all but gels, values for gelsd and gelss.";
  static constexpr OutRule out{Out::cast};
  std::optional<double> rcond;
  std::optional<Str> driver;
  static constexpr Fields fields{&Lstsq::rcond, &Lstsq::driver};
  Tensors compose(Inputs in) const;
};

using LinalgQrOps = OpList<Qr, Geqrf, HouseholderParts, OrmqrParts, LstsqParts, OldQr, HouseholderProduct, Orgqr, Ormqr, Lstsq>;

namespace fn {
inline constexpr Fn<Qr> qr;
inline constexpr Fn<HouseholderParts> householder_parts;
inline constexpr Fn<OrmqrParts> ormqr_parts;
inline constexpr Fn<LstsqParts> lstsq_parts;
inline constexpr Fn<HouseholderProduct> householder_product;
}  // namespace fn

}  // namespace weir
