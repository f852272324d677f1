#include "framework/ops/linalg_cholesky.h"

#include "framework/core/warn.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

void check_pair(const char* op, const Tensor& A, const Tensor& B, bool left) {
  check_square(op, A);
  check_matrices(op, B, "B");
  check(A.dtype() == B.dtype(), op, ": Expected A and B to have the same dtype, but found A of type ", name_of(A.dtype()), " and B of type ",
        name_of(B.dtype()), " instead");
  check(A.size(-1) == B.size(left ? -2 : -1), op, ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
        A.size(-2), "x", A.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
}
Meta per_matrix(const Tensor& A) { return {batch_of(A), DType::int32, A.device()}; }

}  // namespace

std::array<Meta, 2> CholeskyEx::infer(Inputs in) const {
  check_square("linalg.cholesky", in[0], "A", Nothing::of_half);
  return {column_meta(in[0].sizes(), in[0]), per_matrix(in[0])};
}
// Source: Murray 2016, "Differentiation of the Cholesky decomposition".
Tensors CholeskyEx::vjp(const Saved& s, const Tensor& dy) const {
  Tensor L = upper ? mH(s.output(0)) : s.output(0), g = upper ? mH(dy) : dy;
  Tensor inner = matmul(mH(L), g);
  inner = (tril(inner) + mH(tril(inner, int64_t(-1)))) * 0.5;
  return {solve_triangular(L, solve_triangular(mH(L), inner, true), false, false)};
}

Meta CholeskyInverse::infer(Inputs in) const {
  check_square("cholesky_inverse", in[0]);
  return column_meta(in[0].sizes(), in[0]);
}
// By the whole of L, as in PyTorch, though only one triangle is read.
Tensors CholeskyInverse::vjp(const Saved& s, const Tensor& dy) const {
  Tensor L = s.input(0), y = s.output(0), inner = matmul(y, matmul(dy + mH(dy), y));
  return {upper ? -matmul(L, inner) : -matmul(inner, L)};
}

Meta CholeskyApply::infer(Inputs in) const { return column_meta(in[0].sizes(), in[0]); }
Tensors CholeskyApply::vjp(const Saved& s, const Tensor& dy) const {
  Tensor L = s.input(1), by_b = cholesky_apply(dy, L, upper), by_a = matmul(by_b, mH(s.output(0)));
  by_a = -(by_a + mH(by_a));
  return {by_b, upper ? matmul(L, by_a) : matmul(by_a, L)};
}

Meta TriangularApply::infer(Inputs in) const { return column_meta(in[1].sizes(), in[1]); }
Tensors TriangularApply::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = mH(s.output(0)), by_b = triangular_apply(mH(s.input(0)), dy, !upper, left, unitriangular), by_a;
  if (s.needs(0)) {
    by_a = -(left ? matmul(by_b, x) : matmul(x, by_b));
    by_a = upper ? triu(by_a, int64_t(unitriangular)) : tril(by_a, -int64_t(unitriangular));
  }
  return {by_a, by_b};
}

std::array<Meta, 3> LdlFactorEx::infer(Inputs in) const {
  check_square("torch.linalg.ldl_factor_ex", in[0], "A", Nothing::of_half);
  Dims sizes = batch_of(in[0]);
  sizes.push(in[0].size(-1));
  return {column_meta(in[0].sizes(), in[0]), Meta(sizes, DType::int32, in[0].device()), per_matrix(in[0])};
}
Meta LdlApply::infer(Inputs in) const { return column_meta(in[2].sizes(), in[2]); }

Tensor Cholesky::compose(Inputs in) const { return cholesky_ex(in[0], upper, true)[0]; }
Tensor OldCholesky::compose(Inputs in) const {
  warn_deprecated("cholesky", "linalg.cholesky");
  if (!in[0].numel()) return clone(in[0]);  // of any shape and dtype
  check_square("cholesky", in[0]);
  return cholesky_ex(in[0], upper, true)[0];
}

Tensor CholeskySolve::compose(Inputs in) const {
  check(in[0].ndim() >= 2, "b should have at least 2 dimensions, but has ", in[0].ndim(), " dimensions instead");
  check(in[1].ndim() >= 2, "u should have at least 2 dimensions, but has ", in[1].ndim(), " dimensions instead");
  check_pair("cholesky_solve", in[1], in[0], true);
  auto [L, B] = same_batch("cholesky_solve", in[1], in[0]);
  return cholesky_apply(B, L, upper);
}

Tensor SolveTriangular::compose(Inputs in) const {
  // Right sides of another dtype become of the matrix's, as in PyTorch, where no imaginary parts are lost.
  const Tensor right = can_cast(in[1].dtype(), in[0].dtype()) && is_inexact(in[0].dtype()) ? cast_to(in[1], in[0].dtype()) : in[1];
  check_pair("linalg.solve_triangular", in[0], right, left);
  auto [A, B] = same_batch("linalg.solve_triangular", in[0], right);
  return triangular_apply(A, B, upper, left, unitriangular);
}
Tensors TriangularSolve::compose(Inputs in) const {
  warn_deprecated("triangular_solve", "linalg.solve_triangular");
  check(in[0].ndim() >= 2, "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has ", in[0].ndim(), " dimensions instead");
  check_pair("triangular_solve", in[1], in[0], true);
  auto [A, B] = same_batch("triangular_solve", in[1], in[0]);
  Tensor X = transpose ? triangular_apply(mT(A), B, !upper, true, unitriangular) : triangular_apply(A, B, upper, true, unitriangular);
  // Both results require grad where either input does; X is not made of an A that does, whose zeros would meet NaN in second derivatives.
  if (is_differentiated(in[0]) && !is_differentiated(A)) A = A + zeros_of(Meta(A.sizes(), A.dtype(), A.device())) * sum(slice(reshape(B, Dims{-1}), int64_t(0), int64_t(0), int64_t(0), int64_t(1)));
  return {X, column_major(A)};
}

Tensors LdlFactor::compose(Inputs in) const {
  auto [LD, pivots, info] = ldl_factor_ex(in[0], hermitian, true);
  return {LD, pivots};
}
Tensor LdlSolve::compose(Inputs in) const {
  const Tensor& LD = in[0];
  check<IndexError>(LD.ndim() < 2 || LD.size(-1) != LD.size(-2) || in[2].ndim() >= 2 || LD.dtype() != in[2].dtype() || !is_inexact(LD.dtype()), "torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has ", in[2].ndim(), " dimensions instead");
  check_square("torch.linalg.ldl_solve", in[0], "LD", Nothing::of_half);
  check_pair("torch.linalg.ldl_solve", in[0], in[2], true);
  // Source: PyTorch, which takes any integers, and reads them as int32 where there are some.
  check(in[1].dtype() == DType::int32 || (is_integral(in[1].dtype()) && !in[1].numel()),
        "torch.linalg.ldl_solve: Expected pivots to be integers. Got ", name_of(in[1].dtype()));
  Dims counted = batch_of(in[0]);
  counted.push(in[0].size(-1));
  check(in[1].sizes() == counted, "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
        in[1].sizes(), " instead");
  auto [A, B] = same_batch("torch.linalg.ldl_solve", LD, in[2]);
  Dims batch = batch_of(A);
  batch.push(A.size(-1));
  return ldl_apply(A, expand(cast_to(in[1], DType::int32), batch), B, hermitian);
}

static const LinalgCholeskyOps::Registration ops;

}  // namespace weir
