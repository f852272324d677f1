#include "framework/ops/linalg_spectrum.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/linalg_lu.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

Dims with_vector(Dims batch, int64_t n) {
  batch.push(n);
  return batch;
}
void check_uplo(const Str& s) {
  check(s == "L" || s == "U" || s == "l" || s == "u", "Expected UPLO argument to be 'L' or 'U', but got ", s.view());
}
Meta values_meta(const Tensor& A, int64_t n, DType t) { return {with_vector(batch_of(A), n), t, A.device()}; }

// values_j - values_i, 1 on the diagonal.
Tensor differences(const Tensor& values) { return with_diagonal(row(values) - column(values), num(1.0)); }

// Vectors of complex matrices are known up to a phase: a gradient along it has no meaning. Source: PyTorch's tolerance.
Tensor without_phase(const char* op, const Tensor& x, const Tensor& turns) {
  if (!is_complex(turns.dtype())) return x;
  return fn::check_true(x, logical_not(any(abs(imag(turns)) > 1e-2)), Str(op), Str("the loss depends on the phases"));
}
Tensor skew(const Tensor& t) { return t - mH(t); }

}  // namespace

std::array<Meta, 2> Eigh::infer(Inputs in) const {
  check_square("linalg.eigh", in[0], "A", Nothing::of_any_dtype);
  check_uplo(UPLO);
  return {values_meta(in[0], in[0].size(-1), real_type(in[0].dtype())), column_meta(in[0].sizes(), in[0])};
}
Tensors Eigh::vjp(const Saved& s, const Tensor&) const {
  Tensor values = s.output(0), V = s.output(1), by_values = s.cotangent(0), by_vectors = s.cotangent(1);
  if (!by_vectors) return {matmul(V * row(by_values), mH(V))};
  Tensor inner = matmul(mH(V), by_vectors);
  inner = without_phase("linalg_eigh_backward", inner, diagonal_of(inner));
  inner = skew(inner) * 0.5 / differences(values);
  inner = with_diagonal(inner, cast_to(or_zeros(by_values, values), V.dtype()));
  return {matmul(V, matmul(inner, mH(V)))};
}
Meta EighValues::infer(Inputs in) const {
  check_square("linalg.eigvalsh", in[0], "A", Nothing::of_any_dtype);
  check_uplo(UPLO);
  return values_meta(in[0], in[0].size(-1), real_type(in[0].dtype()));
}

std::array<Meta, 2> Eig::infer(Inputs in) const {
  check_square("linalg.eig", in[0]);
  DType t = complex_type(in[0].dtype());
  return {values_meta(in[0], in[0].size(-1), t), column_meta(in[0].sizes(), t, in[0])};
}
// Source: Boeddeker et al. 2017; vectors have length 1, so that a change along themselves does not count.
Tensors Eig::vjp(const Saved& s, const Tensor&) const {
  Tensor values = s.output(0), V = s.output(1), by_values = s.cotangent(0), by_vectors = s.cotangent(1), inner;
  if (by_vectors) {
    inner = matmul(mH(V), by_vectors);
    inner = without_phase("linalg_eig_backward", inner, diagonal_of(inner));
    Tensor along = real(diagonal_of(inner));
    inner = (inner - matmul(mH(V), V * row(along))) / conj(differences(values));
    inner = with_diagonal(inner, or_zeros(by_values, values));
    inner = matmul(inner, mH(V));
  } else {
    inner = column(by_values) * mH(V);
  }
  Tensor g = solve(mH(V), inner);
  return {is_complex(s.input_meta(0).dtype) ? g : real(g)};
}
Meta EigValues::infer(Inputs in) const {
  check_square("linalg.eigvals", in[0]);
  return values_meta(in[0], in[0].size(-1), complex_type(in[0].dtype()));
}

std::array<Meta, 3> SvdParts::infer(Inputs in) const {
  const Tensor& A = in[0];
  check_matrices("linalg.svd", A, "A", Nothing::of_half);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  return {values_meta(A, k, real_type(A.dtype())), column_meta(with_matrix(batch_of(A), m, full_matrices ? m : k), A),
          column_meta(with_matrix(batch_of(A), full_matrices ? n : k, n), A)};
}
// Source: Townsend 2016, "Differentiating the singular value decomposition", and PyTorch's svd_backward for complex numbers.
Tensors SvdParts::vjp(const Saved& s, const Tensor&) const {
  Tensor S = s.output(0), gU = s.cotangent(1), gS = s.cotangent(0), gVh = s.cotangent(2);
  const int64_t k = S.size(-1);
  Tensor U = up_to(s.output(1), -1, k), Vh = up_to(s.output(2), -2, k);
  const bool complex = is_complex(U.dtype()), tall = U.size(-2) > k, wide = Vh.size(-1) > k;
  if (gU) gU = up_to(gU, -1, k);
  if (gVh) gVh = up_to(gVh, -2, k);
  if (!gU && !gVh) return {matmul(U * row(gS), Vh)};
  if (complex) {
    Tensor phases = gU ? diagonal_of(matmul(mH(U), gU)) : Tensor();
    if (gVh) phases = phases ? phases + diagonal_of(matmul(Vh, mH(gVh))) : diagonal_of(matmul(Vh, mH(gVh)));
    U = without_phase("svd_backward", U, phases);
  }
  Tensor gap = with_diagonal((row(S) - column(S)) * (row(S) + column(S)), num(1.0));
  Tensor diagonal = cast_to(or_zeros(gS, S), U.dtype()), inner;
  if (gU) {
    Tensor turn = skew(matmul(mH(U), gU));
    inner = turn / gap * row(S);
    if (complex && gVh) diagonal = diagonal + diagonal_of(turn) / (2.0 * S);
  }
  if (gVh) {
    Tensor turn = column(S) * (skew(matmul(Vh, mH(gVh))) / gap);
    inner = inner ? inner + turn : turn;
  }
  inner = with_diagonal(inner, diagonal);
  Tensor result = matmul(U, matmul(inner, Vh));
  if (gU && tall) result = result + matmul((gU - matmul(U, matmul(mH(U), gU))) / row(S), Vh);
  if (gVh && wide) result = result + matmul(U, (gVh - matmul(matmul(gVh, mH(Vh)), Vh)) / column(S));
  return {result};
}
Meta SvdValues::infer(Inputs in) const {
  check_matrices("linalg.svdvals", in[0], "A", Nothing::of_half);
  return values_meta(in[0], std::min(in[0].size(-1), in[0].size(-2)), real_type(in[0].dtype()));
}

Meta PinvParts::infer(Inputs in) const {
  check_matrices("linalg.pinv", in[0]);
  if (hermitian && in[0].numel()) check_square("linalg.pinv", in[0]);
  return {with_matrix(batch_of(in[0]), in[0].size(-1), in[0].size(-2)), in[0].dtype(), in[0].device()};
}
Tensors PinvParts::vjp(const Saved& s, const Tensor& dy) const { return {pinv_gradient(s.input(0), s.output(0), dy), Tensor(), Tensor()}; }

Tensor pinv_gradient(const Tensor& A, const Tensor& P, const Tensor& grad) {
  Tensor g = mH(grad), ph = mH(P);
  if (A.size(-2) <= A.size(-1)) {
    Tensor k = matmul(g, P), kp = matmul(k, ph);
    return kp - mH(matmul(P, k)) - matmul(matmul(A, P), kp) + matmul(matmul(ph, P), g - matmul(k, A));
  }
  Tensor k = matmul(P, g), pk = matmul(ph, k);
  return matmul(matmul(g - matmul(A, k), P), ph) - mH(matmul(k, P)) + pk - matmul(matmul(pk, P), A);
}

Tensor Eigvalsh::compose(Inputs in) const { return is_differentiated(in[0]) ? eigh(in[0], UPLO)[0] : eigh_values(in[0], UPLO); }
Tensor Eigvals::compose(Inputs in) const { return is_differentiated(in[0]) ? eig(in[0])[0] : eig_values(in[0]); }

Tensors Svd::compose(Inputs in) const {
  check(!driver || in[0].numel() == 0, "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  auto [S, U, Vh] = svd_parts(in[0], full_matrices);
  return {U, S, Vh};
}
Tensor Svdvals::compose(Inputs in) const {
  check(!driver || in[0].numel() == 0, "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  return is_differentiated(in[0]) ? svd_parts(in[0], false)[0] : svd_values(in[0]);
}
Tensors OldSvd::compose(Inputs in) const {
  const Tensor& A = in[0];
  if (!compute_uv) {  // whole squares of zeros, whatever `some` says
    Tensor S = svdvals(A);
    auto zeros = [&](int64_t n) { return zeros_of(Meta(with_matrix(batch_of(A), n, n), A.dtype(), A.device())); };
    return {zeros(A.size(-2)), S, mT(zeros(A.size(-1)))};
  }
  auto [S, U, Vh] = svd_parts(A, !some);
  return {U, S, mH(Vh)};
}

static const LinalgSpectrumOps::Registration ops;

}  // namespace weir
