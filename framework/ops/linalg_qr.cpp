#include "framework/ops/linalg_qr.h"

#include <cctype>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/linalg_cholesky.h"
#include "framework/ops/linalg_spectrum.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

Meta factors_meta(const Tensor& A) {
  Dims sizes = batch_of(A);
  sizes.push(std::min(A.size(-2), A.size(-1)));
  return {sizes, A.dtype(), A.device()};
}

// Of a matrix with at least as many rows as columns. Source: Walter & Lehmann 2010; the diagonal of R is real.
Tensor tall_qr_gradient(const Tensor& Q, const Tensor& R, const Tensor& gQ, const Tensor& gR) {
  Tensor upper = triu(matmul(gR, mH(R)) - matmul(mH(Q), gQ));
  Tensor middle = triu(upper, int64_t(1)) + mH(triu(upper, int64_t(1)));
  middle = with_diagonal(middle, cast_to(real(diagonal_of(upper)), middle.dtype()));
  return solve_triangular(mH(R), gQ + matmul(Q, middle), false, false);
}

// Q B, or Q^H B, for Q = H_1 H_2 ... with H_i = I - tau_i v_i v_i^H; v_i are A's columns. Q = I - V T V^H with T = (I + D U)^-1 D, where D holds
// tau and U is what of V^H V is above the diagonal. Source: Schreiber & Van Loan 1989; the inverse says the same as its recurrence for T.
Tensor reflected(const Tensor& A, const Tensor& tau, const Tensor& B, bool adjoint) {
  if (tau.size(-1) == 0) return B;
  const Tensor V = up_to(with_diagonal(tril(A, int64_t(-1)), num(1.0)), -1, tau.size(-1)), D = column(tau);
  const Tensor unit = D * matmul(mH(V), V), parts = matmul(mH(V), B);
  return B - matmul(V, adjoint ? conj(D) * solve_triangular(mH(unit), parts, false, true, true) : solve_triangular(unit, D * parts, true, true, true));
}

}  // namespace

std::array<Meta, 2> Qr::infer(Inputs in) const {
  const Tensor& A = in[0];
  check(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode.view(),
        "' but expected one of 'reduced' (default), 'r', or 'complete'");
  check_matrices("linalg.qr", A);
  const int64_t m = A.size(-2), n = A.size(-1), k = mode == "complete" ? m : std::min(m, n);
  Meta Q = mode == "r" ? Meta(Dims{0}, A.dtype(), A.device()) : column_meta(with_matrix(batch_of(A), m, k), A);
  return {Q, column_meta(with_matrix(batch_of(A), k, n), A)};
}
Tensors Qr::vjp(const Saved& s, const Tensor&) const {
  check(!(mode == "r"), "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') "
        "if you are going to differentiate through linalg.qr.");
  Tensor A = s.input(0), Q = s.output(0), R = s.output(1), gQ = or_zeros(s.cotangent(0), Q), gR = or_zeros(s.cotangent(1), R);
  const int64_t m = A.size(-2), n = A.size(-1);
  check(!(mode == "complete" && m > n), "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (m >= n) return {tall_qr_gradient(Q, R, gQ, gR)};
  // R = (R1, R2) follows Q, which turns by what is below the diagonal of Q^H dA R1^-1, and by phases: nothing is left of it in one row.
  const Tensor turn = matmul(mH(Q), gQ) - matmul(gR, mH(R)), skew = turn - mH(turn);
  const Tensor below = (tril(skew, int64_t(0)) + tril(skew, int64_t(-1))) * 0.5;
  const Tensor left = solve_triangular(mH(up_to(R, -1, m)), matmul(Q, below), false, false), right = zeros_of(Meta(from(A, -1, m).sizes(), A.dtype(), A.device()));
  return {matmul(Q, gR) + cat_of({left, right}, -1)};
}

std::array<Meta, 2> Geqrf::infer(Inputs in) const {
  check_matrices("torch.geqrf", in[0], "input");
  return {column_meta(in[0].sizes(), in[0]), factors_meta(in[0])};
}
Meta HouseholderParts::infer(Inputs in) const { return column_meta(in[0].sizes(), in[0]); }
// Recorded without reflections only, where PyTorch has no gradients, rather than zeros.
Tensors HouseholderParts::vjp(const Saved&, const Tensor&) const { return {}; }
Tensors OrmqrParts::vjp(const Saved& s, const Tensor& dy) const {
  return {Tensor(), Tensor(), ormqr_parts(s.input(0), s.input(1), dy, left, !transpose)};
}
Meta OrmqrParts::infer(Inputs in) const { return column_meta(in[2].sizes(), in[2]); }

std::array<Meta, 4> LstsqParts::infer(Inputs in) const {
  Meta any(Dims{0}, in[0].dtype(), in[0].device()), reals(Dims{0}, real_type(in[0].dtype()), in[0].device());
  return {any, reals, Meta(Dims{0}, DType::int64, in[0].device()), reals};
}
// That of pinv(A) B, and of the residuals |A X - B|^2, whose gradient by X is zero.
Tensors LstsqParts::vjp(const Saved& s, const Tensor&) const {
  Tensor A = s.input(0), B = s.input(1), X = s.output(0), gX = s.cotangent(0), gR = s.cotangent(1), by_a, by_b;
  Tensor zero = zeros_of(Meta(batch_of(A), DType::float64, A.device()));
  Tensor P = pinv_parts(A, zero, zero + epsilon_of(A.dtype()) * double(std::max(A.size(-1), A.size(-2))), false);
  if (gX) {
    if (s.needs(0)) by_a = pinv_gradient(A, P, matmul(gX, mH(B)));
    if (s.needs(1)) by_b = matmul(mH(P), gX);
  }
  if (gR && gR.numel()) {
    Tensor g = (matmul(A, X) - B) * row(gR) * 2.0;
    if (s.needs(0)) by_a = by_a ? by_a + matmul(g, mH(X)) : matmul(g, mH(X));
    if (s.needs(1)) by_b = by_b ? by_b - g : -g;
  }
  return {by_a, by_b};
}

Tensors OldQr::compose(Inputs in) const {
  warn_deprecated("qr", "linalg.qr");
  auto [Q, R] = qr(in[0], Str(some ? "reduced" : "complete"));
  return {Q, R};
}

Tensor HouseholderProduct::compose(Inputs in) const {
  const Tensor &A = in[0], &tau = in[1];
  const char* op = "torch.linalg.householder_product";
  if (A.ndim() < 2) check_matrices(op, A, "input");
  check(A.size(-2) >= A.size(-1), op, ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  check<IndexError>(tau.ndim() > 0, op, ": Dimension specified as -1 but tensor has no dimensions");
  check_matrices(op, A, "input");  // PyTorch looks at the dtype last
  Dims batch = A.sizes(), others = tau.sizes();
  check(tau.ndim() == A.ndim() - 1, op, ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.ndim(),
        " and input.ndim is equal to ", A.ndim());
  batch.n -= 2, others.n -= 1;
  check(A.size(-1) >= tau.size(-1), op, ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  check(batch == others, op, ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", others);
  check(A.dtype() == tau.dtype(), op, ": tau dtype ", name_of(tau.dtype()), " does not match input dtype ", name_of(A.dtype()));
  if ((!is_differentiated(A) && !is_differentiated(tau)) || tau.numel() == 0) return householder_parts(A, tau);
  Tensor eye = expand(eye_of(A.size(-2), A.size(-1), A.dtype(), A.device()), A.sizes());
  return column_major(reflected(A, tau, eye, false));
}
Tensor Orgqr::compose(Inputs in) const { return householder_product(in[0], in[1]); }

Tensor Ormqr::compose(Inputs in) const {
  const Tensor &A = in[0], &tau = in[1], &other = in[2];
  check(A.ndim() >= 2, "torch.ormqr: input must have at least 2 dimensions.");
  check(other.ndim() >= 2, "torch.ormqr: other must have at least 2 dimensions.");
  const int64_t rows = other.size(left ? -2 : -1);
  const char* side = left ? "-2" : "-1";
  check(tau.ndim() > 0 || A.size(-2) == rows, "torch.ormqr: other.shape[", side, "] must be equal to input.shape[-2]");
  check<IndexError>(tau.ndim() > 0, "torch.ormqr: Dimension specified as -1 but tensor has no dimensions");
  check_matrices("torch.ormqr", A, "input");
  check(tau.ndim() == A.ndim() - 1, "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.ndim(),
        " and input.ndim is equal to ", A.ndim());
  check(tau.size(-1) <= rows, "torch.ormqr: other.shape[", side, "] must be greater than or equal to tau.shape[-1]");
  check(A.size(-2) == rows, "torch.ormqr: other.shape[", side, "] must be equal to input.shape[-2]");
  check(tau.size(-1) <= A.size(-1), "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]");
  check(A.ndim() == other.ndim() && batch_of(A) == batch_of(other), "torch.ormqr: Expected batch dimensions of other to be equal to "
        "input.shape[:-2], but got ", batch_of(other));
  Dims batch = tau.sizes();
  batch.n--;
  check(batch == batch_of(A), "torch.ormqr: Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", batch);
  check(A.dtype() == tau.dtype() && A.dtype() == other.dtype(), "torch.ormqr: Expected input, tau and other to have the same dtype, but got ",
        name_of(A.dtype()), ", ", name_of(tau.dtype()), " and ", name_of(other.dtype()));
  if ((!is_differentiated(A) && !is_differentiated(tau)) || other.numel() == 0 || tau.numel() == 0) return ormqr_parts(A, tau, other, left, transpose);
  if (left) return column_major(reflected(A, tau, other, transpose));
  return column_major(resolve_conj(mH(reflected(A, tau, mH(other), !transpose))));
}

Tensors Lstsq::compose(Inputs in) const {
  Tensor A = in[0], B = in[1];
  const char* op = "torch.linalg.lstsq";
  check(A.ndim() >= 2, op, ": input must have at least 2 dimensions.");
  check_matrices(op, A, "input");
  check(B.ndim() >= 1, op, ": other must have at least 1 dimension.");
  check(B.ndim() <= A.ndim() && A.ndim() <= B.ndim() + 1, op, ": input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
  check(A.dtype() == B.dtype(), op, ": Expected input and other to have the same dtype, but got input's dtype ", name_of(A.dtype()),
        " and other's dtype ", name_of(B.dtype()));
  Str by = driver.value_or(Str("gelsy"));
  for (char& c : by.v) c = char(std::tolower(static_cast<unsigned char>(c)));  // PyTorch's names of drivers are of either case
  check(by == "gels" || by == "gelsy" || by == "gelsd" || by == "gelss", op, ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  Dims vectors = A.sizes();
  vectors.n--;
  const bool vector = B.ndim() == 1 || (A.ndim() - 1 == B.ndim() && vectors == B.sizes());
  if (vector) B = column(B);
  check(A.size(-2) == B.size(-2), op, ": input.size(-2) should match other.size(", vector ? "-1" : "-2", ")");
  const Dims given = batch_of(A);
  // A B of one axis less than A has its batch counted as if it were one of vectors, even where it is a matrix.
  if (!vector && B.ndim() == A.ndim() - 1) {
    Dims rows = B.sizes();
    rows.n--;
    B = expand(B, with_matrix(broadcast(op, given, rows), B.size(-2), B.size(-1)));
  }
  std::tie(A, B) = same_batch(op, A, B);
  const double limit = rcond.value_or(epsilon_of(A.dtype()) * double(std::max(A.size(-2), A.size(-1))));
  auto [X, residuals, rank, values] = lstsq_parts(A, B, limit, by);
  // What concerns A alone has A's own batch; what the driver does not compute has none.
  if (!(by == "gels")) rank = own_batch(rank, given, A.ndim() - 2);
  if (by == "gelsd" || by == "gelss") values = own_batch(values, given, A.ndim() - 2);
  if (vector) X = squeeze(X, std::optional<Dims>(Dims{-1}));
  // Of a matrix without columns this driver says in PyTorch that nothing is left over, and has the gradient of what is.
  if (A.size(-1) == 0 && by == "gels" && residuals.numel()) residuals = residuals - detach(residuals);
  return {X, residuals, rank, values};
}

static const LinalgQrOps::Registration ops;

}  // namespace weir
