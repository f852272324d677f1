#include "framework/ops/linalg_exp.h"

#include "framework/op/autocast.h"
#include "framework/ops/create.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

Meta MatrixExpParts::infer(Inputs in) const { return {in[0].sizes(), in[0].dtype(), in[0].device()}; }

// The exponential of (A^H G; 0 A^H) has the derivative of A^H's along G in its corner. Source: Najfeld & Havel 1995.
Tensors MatrixExpParts::vjp(const Saved& s, const Tensor& dy) const {
  Tensor a = mH(s.input(0));
  const int64_t n = a.size(-1);
  Tensor block = cat_of({cat_of({a, dy}, -1), cat_of({zeros_of(Meta(a.sizes(), a.dtype(), a.device())), a}, -1)}, -2);
  return {from(up_to(matrix_exp_parts(block), -2, n), -1, n)};
}

Tensor MatrixExp::compose(Inputs in) const {
  const Tensor& A = in[0];
  check(is_inexact(A.dtype()), "linalg.matrix_exp: Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  check(A.ndim() >= 2 && A.size(-1) == A.size(-2), "linalg.matrix_exp: A must be batches of square matrices, got shape ", A.sizes());
  const int64_t n = A.size(-1);
  if (n == 1) return exp(A);
  if (A.ndim() > 3 && A.numel())  // which PyTorch views as one batch
    check(bool(view_strides(A, Dims{A.numel() / (n * n), n, n})), "linalg.matrix_exp: view size is not compatible with A of size ", A.sizes(), " and strides ", A.strides());
  // PyTorch joins what it has computed of matrices of several norms, or of a larger one than this.
  constexpr double kSmall = 2.996158913811580e-01;
  if (mode.autocast && is_reduced(A.dtype()) && A.numel() &&
      (A.ndim() > 2 || (!A.is_meta() && item(amax(sum(abs(cast_to(A, DType::float32)), Dims{-2}), Dims{-1})).to_double() > kSmall)))
    check_joinable("linalg.matrix_exp", A.dtype());
  if (is_reduced(A.dtype())) return cast_to(matrix_exp_parts(cast_to(A, DType::float32)), A.dtype());
  return matrix_exp_parts(A);
}
Tensor OldMatrixExp::compose(Inputs in) const { return matrix_exp(in[0]); }

static const LinalgExpOps::Registration ops;

}  // namespace weir
