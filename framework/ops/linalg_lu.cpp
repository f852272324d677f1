#include "framework/ops/linalg_lu.h"

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/linalg_cholesky.h"
#include "framework/ops/linalg_product.h"
#include "framework/ops/linalg_spectrum.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

Meta infos(const Tensor& A) { return {batch_of(A), DType::int32, A.device()}; }
Meta pivots_of(const Tensor& A) {
  Dims sizes = batch_of(A);
  sizes.push(std::min(A.size(-2), A.size(-1)));
  return {sizes, DType::int32, A.device()};
}
Tensor none_like(const Tensor& t) { return empty(Meta(Dims{0}, t.dtype(), t.device())); }
// A result of no elements that was not asked for: it has t's history all the same.
Tensor none_of(const Tensor& t) { return is_differentiated(t) ? slice(reshape(t, Dims{t.numel()}), int64_t(0), int64_t(0), int64_t(0)) : none_like(t); }
Tensor permutation(const Tensor& pivots, int64_t rows, DType dtype) {
  return cast_to(eq(row(lu_order(pivots, rows)), unsqueeze(arange_of(rows), int64_t(-1))), dtype);
}
// The pivots of each matrix of LU: the first ones of a row; matrices for which there is no row keep theirs, and rows for which there is no matrix are left.
// Source: PyTorch's kernel, which goes through both by their places in memory, and beyond it where there are more rows.
Tensor pivots_of(const Tensor& LU, const Tensor& pivots) {
  const int64_t rank = std::min(LU.size(-2), LU.size(-1));
  Dims sizes = batch_of(LU);
  const int64_t count = sizes.product();
  sizes.push(rank);
  if (count * rank == 0) return full_of(Meta(sizes, DType::int32, LU.device()), Scalar(int64_t(1)));
  check(pivots.ndim() > 0 && pivots.size(-1) >= rank, "torch.lu_unpack: expected ", rank, " pivots for each matrix, got ", pivots.sizes());
  const Tensor first = up_to(pivots, -1, rank);
  if (first.sizes() == sizes) return first;
  Tensor rows = reshape(first, Dims{first.numel() / rank, rank});
  if (const int64_t missing = count - rows.size(0); missing > 0) {
    const Tensor kept = cast_to(arange_of(rank) + int64_t(1), DType::int32);
    rows = cat_of({rows, expand(kept, Dims{missing, rank})}, 0);
  }
  return reshape(up_to(rows, -2, count), sizes);
}
// (L, U) out of one matrix.
std::pair<Tensor, Tensor> unpacked(const Tensor& LU) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  Tensor lower = tril(up_to(LU, -1, k), int64_t(-1));
  return {lower + eye_of(m, k, LU.dtype(), LU.device()), triu(up_to(LU, -2, k))};
}

bool is_vector(const Tensor& A, const Tensor& B) {
  Dims rows = A.sizes();
  rows.n--;
  return B.ndim() == 1 || (A.ndim() - 1 == B.ndim() && rows == B.sizes());
}

}  // namespace

std::array<Meta, 3> LuFactorEx::infer(Inputs in) const {
  check_matrices("linalg.lu_factor", in[0], "A", Nothing::of_any_dtype);
  check(pivot || in[0].numel() == 0, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  return {column_meta(in[0].sizes(), in[0]), pivots_of(in[0]), infos(in[0])};
}
// Source: PyTorch's plu_backward; with A = P L U the factors' gradients meet in the middle. Of a wide matrix what stands beside the square is gone
// through as seldom as can be.
Tensors LuFactorEx::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor LU = s.output(0);
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  auto [L, U] = unpacked(m < n ? up_to(LU, -1, k) : LU);
  const Tensor gL = tril(up_to(dy, -1, k), int64_t(-1)), gU = triu(up_to(up_to(dy, -2, k), -1, k)), lower = matmul(mH(L), gL), order = permutation(s.output(1), m, dy.dtype());
  auto past_upper = [&](const Tensor& x) { return solve_triangular(mH(U), x, false, false); };
  auto past_lower = [&](const Tensor& x) { return solve_triangular(mH(up_to(L, -2, k)), x, true, true, true); };
  Tensor upper = matmul(gU, mH(U)), r;
  if (m == n) {
    r = past_lower(past_upper(tril(lower, int64_t(-1)) + triu(upper)));
  } else if (m < n) {
    constexpr int64_t kFewRows = 16, kTimes = 8;  // columns are then multiplied by the inverse of L, which is made once
    const Tensor beside = from(dy, -1, k);
    upper = upper + matmul(beside, mH(from(LU, -1, k)));
    r = cat_of({gU + past_upper(tril(lower - upper, int64_t(-1))), beside}, -1);
    if (m <= kFewRows && n >= kTimes * m) return {matmul(matmul(order, past_lower(eye_of(m, m, dy.dtype(), dy.device()))), r)};
    r = past_lower(r);
  } else {
    r = up_to(gL, -2, k) + past_lower(triu(upper - lower));
    r = past_upper(cat_of({r, from(gL, -2, k)}, -2));
  }
  return {matmul(order, r)};
}

Meta LuOrder::infer(Inputs in) const {
  check(in[0].dtype() == DType::int32, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  check<IndexError>(in[0].ndim() > 0, "linalg.lu_solve: pivots must have at least one dimension");
  Dims sizes = in[0].sizes();
  sizes.back() = rows;
  return {sizes, DType::int64, in[0].device()};
}

Meta LuApply::infer(Inputs in) const { return column_meta(in[2].sizes(), in[2]); }
Tensors LuApply::vjp(const Saved& s, const Tensor& dy) const { return {Tensor(), Tensor(), lu_apply(s.input(0), s.input(1), dy, !adjoint)}; }

std::array<Meta, 4> SolveLu::infer(Inputs in) const {
  return {column_meta(in[1].sizes(), in[1]), column_meta(in[0].sizes(), in[0]), pivots_of(in[0]), infos(in[0])};
}
// By the factors at hand; where the gradient has one itself, by A, so that it reaches A.
Tensors SolveLu::vjp(const Saved& s, const Tensor& dy) const {
  Tensor gB = mode.grad ? solve(mH(s.input(0)), dy) : lu_apply(s.output(1), s.output(2), dy, true);
  return {s.needs(0) ? -matmul(gB, mH(s.output(0))) : Tensor(), s.needs(1) ? gB : Tensor()};
}

std::array<Meta, 2> InvEx::infer(Inputs in) const {
  check_square("linalg.inv", in[0]);
  return {column_meta(in[0].sizes(), in[0]), infos(in[0])};
}
Tensors InvEx::vjp(const Saved& s, const Tensor& dy) const {
  Tensor yh = mH(s.output(0));
  return {-matmul(yh, matmul(dy, yh))};
}

Meta Det::infer(Inputs in) const {
  check_square("linalg.det", in[0], "A", Nothing::of_half);
  return {batch_of(in[0]), in[0].dtype(), in[0].device()};
}
// The determinants of what is left without a row and a column, of 2 x 2 and 3 x 3 matrices: there is nothing to factorise, and nothing to divide by.
static Tensor cofactors(const Tensor& A) {
  if (A.size(-1) == 3) return cross(roll(A, Dims{-1}, Dims{-2}), roll(A, Dims{-2}, Dims{-2}), int64_t(-1));
  const Tensor turned = flip(A, Dims{-2, -1});
  return where(eye_of(2, 2, DType::boolean, A.device()), turned, -turned);
}
// grad times the conjugate adjugate: conj(det) A^-H, and where A has next to no inverse, by products of singular values; without a
// gradient of its own by an LU whose zeros are replaced. Source: PyTorch's linalg_det_backward.
Tensors Det::vjp(const Saved& s, const Tensor& dy) const {
  Tensor A = s.input(0), y = s.output(0);
  if (A.numel() == 0) return {zeros_of(Meta(A.sizes(), A.dtype(), A.device()))};
  const int64_t n = A.size(-1);
  if (n == 1) return {expand(column(column(dy)), A.sizes())};  // also where it is zero
  if (n <= 3) return {column(column(dy)) * conj(cofactors(A) + column(column(detach(y - y))))};  // NaN where the determinant is not finite, as a solution would be
  auto on_diagonal = [&](const Tensor& values) { return diag_of(expand(column(values), A.sizes().n == 2 ? Dims{n} : [&] { Dims d = batch_of(A); d.push(n); return d; }())); };
  Tensor wanted = on_diagonal(dy * conj(y));
  if (!mode.grad) {
    auto [LU, pivots, info] = lu_factor_ex(A);
    Tensor d = diagonal_of(LU);
    LU = with_diagonal(LU, where(eq(d, num(0.0)), num(epsilon_of(A.dtype())), d));
    return {lu_apply(LU, pivots, wanted, true)};
  }
  Tensor singular = column(column(lt(abs(y), num(100 * epsilon_of(A.dtype())))));
  if (!any_true(singular)) return {solve(mH(A), wanted)};
  Tensor eye = eye_of(n, n, A.dtype(), A.device());
  auto [U, S, Vh] = svd(A, false);
  Tensor others = prod(where(eye_of(n, n, DType::boolean, A.device()), num(1.0), row(S)), int64_t(-1));
  Tensor turn = dy * conj(det(U) * det(Vh));
  Tensor adjugate = matmul(U * row(column(turn) * others), Vh);
  return {where(singular, adjugate, solve(mH(where(singular, eye, A)), wanted))};
}

std::array<Meta, 2> Slogdet::infer(Inputs in) const {
  check_square("linalg.slogdet", in[0]);
  Dims sizes = batch_of(in[0]);
  return {Meta(sizes, in[0].dtype(), in[0].device()), Meta(sizes, real_type(in[0].dtype()), in[0].device())};
}
// The sign of a complex determinant turns by the imaginary part of tr(A^-1 dA), the logarithm grows by the real one.
Tensors Slogdet::vjp(const Saved& s, const Tensor&) const {
  Tensor A = s.input(0), by_sign = s.cotangent(0), by_log = s.cotangent(1), g = by_log;
  if (is_complex(A.dtype())) {
    Tensor re = by_log ? by_log : zeros_of(Meta(batch_of(A), real_type(A.dtype()), A.device()));
    Tensor im = by_sign ? -imag(conj(by_sign) * s.output(0)) : zeros_of(re.meta());
    g = complex(re, im);
  }
  if (!g) return {Tensor()};
  Dims sizes = batch_of(A);
  sizes.push(A.size(-1));
  Tensor wanted = diag_of(expand(column(g), sizes));
  if (mode.grad) return {solve(mH(A), wanted)};
  auto [LU, pivots, info] = lu_factor_ex(A);  // of a singular matrix too, whose gradient is infinite
  return {lu_apply(LU, pivots, wanted, true)};
}

Tensors LuFactor::compose(Inputs in) const {
  auto [LU, pivots, info] = lu_factor_ex(in[0], pivot, true);
  return {LU, pivots};
}

Tensors LuUnpack::compose(Inputs in) const {
  const Tensor &LU = in[0], &pivots = in[1];
  if (is_differentiated(LU)) wrap_dim(-2, LU.ndim(), "torch.lu_unpack");  // PyTorch asks for this size before it looks at the rank
  check(LU.ndim() >= 2, "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: ", LU.sizes(), " instead");
  check(!unpack_pivots || pivots.dtype() == DType::int32, "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.");
  auto checked = [&] { return cast_to(fn::check_range(cast_to(pivots_of(LU, pivots), DType::float64), 1.0, double(LU.size(-2)), Str("lu_unpack: a pivot")), DType::int32); };
  Tensor P = unpack_pivots ? permutation(checked(), LU.size(-2), LU.dtype()) : none_like(LU);
  if (!unpack_data) return {P, none_of(LU), none_of(LU)};
  auto [L, U] = unpacked(LU);
  return {P, L, U};
}
Tensors Lu::compose(Inputs in) const {
  auto [LU, pivots, info] = lu_factor_ex(in[0], pivot);
  auto [L, U] = unpacked(LU);
  return {pivot ? permutation(pivots, LU.size(-2), LU.dtype()) : none_like(LU), contiguous_of(L), contiguous_of(U)};
}

Tensor LuSolve::compose(Inputs in) const {
  Tensor LU = in[0], pivots = in[1], B = in[2];
  check_square("linalg.lu_solve", LU, "LU", Nothing::of_half);
  check_matrices("linalg.lu_solve", B, "B", Nothing::of_half);
  check(LU.dtype() == B.dtype(), "linalg.lu_solve: Expected LU and B to have the same dtype, but found ", name_of(LU.dtype()), " and ", name_of(B.dtype()));
  check(pivots.dtype() == DType::int32, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  check<IndexError>(pivots.ndim() > 0, "linalg.lu_solve: Dimension specified as -1 but tensor has no dimensions");
  check(pivots.size(-1) == LU.size(-1), "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix");
  Dims counted = batch_of(LU);
  counted.push(LU.size(-1));
  check(pivots.sizes() == counted, "linalg.lu_solve: expected pivots of shape ", counted, ", got ", pivots.sizes());
  if (!left) {
    Tensor X = lu_solve(LU, pivots, mH(B), true, !adjoint);
    return resolve_conj(mH(X));
  }
  check(LU.size(-1) == B.size(-2), "linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (", LU.size(-2), "x", LU.size(-1),
        " and ", B.size(-2), "x", B.size(-1), ")");
  std::tie(LU, B) = same_batch("linalg.lu_solve", LU, B);
  Dims batch = batch_of(LU);
  batch.push(LU.size(-1));
  pivots = expand(pivots, batch);
  if (!is_differentiated(LU)) return lu_apply(LU, pivots, B, adjoint);
  Tensor P = permutation(pivots, LU.size(-1), LU.dtype());  // by the factors, so that gradients reach them
  if (adjoint) return column_major(matmul(P, solve_triangular(mH(LU), solve_triangular(mH(LU), B, false), true, true, true)));
  return solve_triangular(LU, solve_triangular(LU, matmul(mT(P), B), false, true, true), true);
}
Tensor OldLuSolve::compose(Inputs in) const {
  warn_deprecated("lu_solve", "linalg.lu_solve");
  return lu_solve(in[1], in[2], in[0]);
}

Tensors SolveEx::compose(Inputs in) const {
  Tensor A = in[0], B = in[1];
  check_square("linalg.solve", A, "A", Nothing::of_half);
  check(is_inexact(B.dtype()), "linalg.solve: Expected a floating point or complex tensor as input. Got ", name_of(B.dtype()));
  check(A.dtype() == B.dtype(), "linalg.solve: Expected A and B to have the same dtype, but found A of type ", name_of(A.dtype()),
        " and B of type ", name_of(B.dtype()), " instead");
  const bool vector = is_vector(A, B);
  check(left || !vector, "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is "
        "equivalent to B / A.squeeze(-1)");
  if (vector) B = column(B);
  check(B.ndim() >= 2, "linalg.solve: The input tensor B must have at least 2 dimensions.");
  check(A.size(-1) == B.size(left ? -2 : -1), "linalg.solve: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
        A.size(-2), "x", A.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
  const Dims given = batch_of(A);
  std::tie(A, B) = same_batch("linalg.solve", A, B);
  auto [X, LU, pivots, info] = solve_lu(left ? A : mH(A), left ? B : mH(B), check_errors);
  if (!left) X = resolve_conj(mH(X));
  if (vector) X = squeeze(X, std::optional<Dims>(Dims{-1}));
  if (vector && X.ndim() >= 2) X = column_major(X);  // PyTorch lays a batch of vectors as one matrix
  const bool none = given.product() && !info.numel();  // PyTorch has a flag for each matrix that was given, also where B has no batch for it
  return {X, none ? zeros_of(Meta(given, info.dtype(), info.device())) : own_batch(info, given, A.ndim() - 2)};
}
Tensor Solve::compose(Inputs in) const { return solve_ex(in[0], in[1], left, true)[0]; }
Tensor Inv::compose(Inputs in) const { return inv_ex(in[0], true)[0]; }
Tensor Inverse::compose(Inputs in) const { return inv_ex(in[0], true)[0]; }
Tensor OldDet::compose(Inputs in) const { return det(in[0]); }
Tensors OldSlogdet::compose(Inputs in) const {
  auto [sign, log] = slogdet(in[0]);
  return {sign, log};
}
Tensor Logdet::compose(Inputs in) const {
  auto [sign, logabsdet] = slogdet(in[0]);
  if (is_complex(sign.dtype())) return log(sign) + logabsdet;
  return where(lt(sign, num(0.0)), num(std::numeric_limits<double>::quiet_NaN()), logabsdet);
}

Tensor Tensorinv::compose(Inputs in) const {
  const Tensor& A = in[0];
  check(ind > 0, "Expected a strictly positive integer for 'ind'");
  check(ind <= A.ndim(), "linalg.tensorinv: Expected 'ind' to be at most the number of axes, ", A.ndim(), ", but got ", ind);
  Dims first, result;
  for (int d = 0; d < ind; d++) first.push(A.sizes()[d]);
  for (int d = int(ind); d < A.ndim(); d++) result.push(A.sizes()[d]);
  const int64_t rows = first.product(), cols = result.product();
  check(rows == cols, "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ", cols, " != ", rows);
  for (int64_t n : first) result.push(n);
  return reshape(inv(reshape(A, Dims{rows, cols})), result);
}
Tensor Tensorsolve::compose(Inputs in) const {
  Tensor A = in[0];
  const Tensor& B = in[1];
  if (dims) {
    Dims order, last;
    for (int64_t d : *dims) last.push(wrap_dim(d, A.ndim(), "linalg.tensorsolve"));
    for (int d = 0; d < A.ndim(); d++)
      if (!last.contains(d)) order.push(d);
    for (int64_t d : last) order.push(d);
    A = permute(A, order);
  }
  Dims unknown;
  for (int d = B.ndim(); d < A.ndim(); d++) unknown.push(A.sizes()[d]);
  check(unknown.product() == B.numel(), "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ",
        unknown.product(), " != ", B.numel());
  return reshape(solve(reshape(A, Dims{B.numel(), B.numel()}), reshape(B, Dims{-1})), unknown);
}

static const LinalgLuOps::Registration ops;

}  // namespace weir
