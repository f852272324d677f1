#include "framework/ops/linalg_norm.h"

#include <cmath>

#include "framework/core/warn.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/linalg_lu.h"
#include "framework/ops/linalg_spectrum.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/vector_norm.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

constexpr const char* kNorm = "linalg.matrix_norm";

bool is_half(const Tensor& A) { return is_reduced(A.dtype()); }
Tensor zeros_like_of(const Tensor& t) { return zeros_of(Meta(t.sizes(), t.dtype(), t.device())); }

// The matrix that a norm is taken of, and its two axes.
struct Matrix {
  Tensor A;
  int rows, columns;
};
Matrix matrix_of(const Tensor& A, const Dims& dim, const std::optional<DType>& dtype, bool by_values) {
  check(is_inexact(A.dtype()), kNorm, ": Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  check(!by_values || !is_half(A), kNorm, ": Low precision dtypes not supported. Got ", name_of(A.dtype()));
  check(A.ndim() >= 2, kNorm, ": The input tensor A must have at least 2 dimensions.");
  check(dim.n == 2, kNorm, ": dim must be a 2-tuple. Got ", dim);
  const int a = wrap_dim(dim[0], A.ndim(), kNorm), b = wrap_dim(dim[1], A.ndim(), kNorm);
  check(a != b, kNorm, ": dims must be different. Got (", dim[0], ", ", dim[1], ")");
  return {dtype ? widened_for_norm(kNorm, A, *dtype) : A, a, b};
}

enum class Of { sum, largest, least };
Tensor of_singular_values(const Matrix& m, Of which, bool keepdim) {
  const Tensor values = svdvals(movedim(m.A, Dims{m.rows, m.columns}, Dims{-2, -1}));
  Tensor r = which == Of::sum                            ? sum(values, Dims{-1})
             : which == Of::largest && !values.size(-1) ? sum(detach(values), Dims{-1})  // over nothing the largest is 0
             : which == Of::largest                      ? amax(values, Dims{-1})
                                                         : amin(values, Dims{-1});
  return keepdim ? movedim(unsqueeze(unsqueeze(r, int64_t(-1)), int64_t(-1)), Dims{-2, -1}, Dims{m.rows, m.columns}) : r;
}

bool is_one_axis(const Tensor& A, const std::optional<Dims>& dim) { return (dim ? dim->n : A.ndim()) != 2; }
void check_norm(const Tensor& A, bool ordered, const std::optional<Dims>& dim) {
  check(is_inexact(A.dtype()), "linalg.norm: Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  if (dim) check(dim->n == 1 || dim->n == 2, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  else check(!ordered || A.ndim() == 1 || A.ndim() == 2, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", A.ndim(), "D.");
}

void check_rank(const char* op, const Tensor& A) { check(A.ndim() >= 2, op, ": The input tensor A must have at least 2 dimensions."); }

// What cond says of its matrices; a result where there is nothing to compute.
Tensor cond_of_nothing(const Tensor& A) {
  check(A.numel() == 0 || is_inexact(A.dtype()), "linalg.cond: Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  check_rank("linalg.cond", A);
  return A.numel() ? Tensor() : zeros_of(Meta(batch_of(A), real_type(A.dtype()), A.device()));
}
template <class Order> Tensor cond_by_inverse(const Tensor& A, const Order& p) {
  const auto [inverse, info] = inv_ex(A);
  const Tensor r = matrix_norm(A, p) * matrix_norm(inverse, p);
  return masked_fill(r, logical_or(ne(info, int64_t(0)), isnan(r)), num(HUGE_VAL));
}
void check_square_for(const Tensor& A) { check(A.size(-1) == A.size(-2), "linalg.cond: for this p A must be batches of square matrices"); }

Tensor number_of(double x) { return full_of(Meta({}, DType::float64, Device{}), Scalar(x)); }
Tensor number_of(const std::optional<double>& x) { return x ? number_of(*x) : Tensor(); }

// What counts as zero: singular values up to max(absolute, relative * the largest), in float64.
struct Tolerance {
  Tensor absolute, relative;
};
Tolerance tolerance_of(const char* op, const Tensor& A, const Tensor& atol, const Tensor& rtol) {
  for (const Tensor& x : {atol, rtol})
    check(!x || !is_complex(x.dtype()), op, ": tolerance tensor of complex type is not supported. Got ", x ? name_of(x.dtype()) : "");
  const Tensor absolute = atol ? cast_to(detach(atol), DType::float64) : number_of(0.0);
  if (rtol) return {absolute, cast_to(detach(rtol), DType::float64)};
  const double usual = epsilon_of(A.dtype()) * double(std::max(A.size(-1), A.size(-2)));
  return {absolute, where(absolute > 0.0, num(0.0), full_of(Meta(absolute.sizes(), DType::float64, A.device()), Scalar(usual)))};
}

Tensor rank_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  constexpr const char* op = "linalg.matrix_rank";
  check(A.numel() == 0 || is_inexact(A.dtype()), op, ": Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  check_rank(op, A);
  for (const Tensor& x : {atol, rtol})
    check(!x || !is_complex(x.dtype()), "torch.linalg.matrix_rank: tolerance tensor of complex type is not supported. Got ", x ? name_of(x.dtype()) : "");
  check(rtol || !is_reduced(A.dtype()), op, ": This function doesn't handle types other than float and double, got ", name_of(A.dtype()));
  check(rtol || is_inexact(A.dtype()), op, ": This function doesn't handle types other than float and double, got ", name_of(A.dtype()));
  if (A.numel() == 0) return zeros_of(Meta(batch_of(A), DType::int64, A.device()));
  const Tensor plain = detach(A), values = hermitian ? abs(Fn<Eigvalsh>()(plain)) : svdvals(plain);
  const auto [absolute, relative] = tolerance_of(op, A, atol, rtol);
  // Source: PyTorch, which writes the ranks of more tolerances than matrices into memory for the matrices.
  const Dims ranks = broadcast(op, absolute.sizes(), relative.sizes());
  if (!(broadcast(op, ranks, batch_of(A)) == batch_of(A)))
    warn(str("An output with one or more elements was resized since it had shape ", batch_of(A), ", which does not match that of the tolerances, ", ranks));
  const Tensor limit = maximum(unsqueeze(absolute, int64_t(-1)), unsqueeze(relative, int64_t(-1)) * cast_to(amax(values, Dims{-1}, true), DType::float64));
  return sum(cast_to(values > cast_to(limit, values.dtype()), DType::int64), Dims{-1});
}

Tensor pinv_of(const Tensor& A0, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  constexpr const char* op = "linalg.pinv";
  Tensor A = A0;
  check(is_inexact(A.dtype()), op, ": Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  check_rank(op, A);
  // Under autocast too, whose list names pinverse only.
  check(!is_half(A), op, "(", name_of(A.dtype()), A.sizes(), "): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types");
  for (const Tensor& x : {atol, rtol})
    check(!x || !x.has_flag(kRequiresGrad), op, " is not differentiable with respect to argument '", x == atol ? "atol" : "rtol", "'. This input cannot have "
          "requires_grad True.");
  auto [absolute, relative] = tolerance_of(op, A, atol, rtol);
  Dims batch = batch_of(A);
  if (A.numel() == 0) absolute = relative = zeros_of(Meta(batch, DType::float64, A.device()));  // they need not fit then
  batch = broadcast(op, broadcast(op, batch, absolute.sizes()), relative.sizes());
  if (!(batch == batch_of(A))) A = expand(A, with_matrix(batch, A.size(-2), A.size(-1)));
  const Tensor r = pinv_parts(A, expand(absolute, batch), expand(relative, batch), hermitian);
  // The last step is a product in PyTorch, which autocast runs low.
  return mode.autocast && A.dtype() == DType::float32 ? cast_to(r, mode.autocast_dtype) : r;
}

}  // namespace

Tensor MatrixNormWord::compose(Inputs in) const {
  const Matrix m = matrix_of(in[0], dim, dtype, ord == "nuc");
  check(ord == "fro" || ord == "nuc", kNorm, ": Order ", ord.view(), " not supported.");
  return ord == "fro" ? vector_norm(m.A, Scalar(int64_t(2)), Dims{m.rows, m.columns}, keepdim) : of_singular_values(m, Of::sum, keepdim);
}
Tensor MatrixNorm::compose(Inputs in) const {
  const double p = ord.to_double();
  const bool by_values = std::fabs(p) == 2;
  check(by_values || std::fabs(p) == 1 || std::isinf(p), kNorm, ": Order ", p, " not supported.");
  const Matrix m = matrix_of(in[0], dim, dtype, by_values);
  if (by_values) return of_singular_values(m, p > 0 ? Of::largest : Of::least, keepdim);
  const bool by_column = std::fabs(p) == 1;
  const Dims summed{by_column ? m.rows : m.columns}, reduced{by_column ? m.columns : m.rows}, both{m.rows, m.columns};
  const Tensor sums = sum(abs(m.A), summed, true);
  if (p > 0 && !sums.size(reduced[0])) return zeros_like_of(sum(detach(sums), both, keepdim));  // over nothing the largest sum is 0
  const Tensor r = p > 0 ? amax(sums, reduced, true) : amin(sums, reduced, true);
  return keepdim ? r : squeeze(r, both);
}

Tensor LinalgNorm::compose(Inputs in) const {
  check_norm(in[0], ord.has_value(), dim);
  if (!ord || is_one_axis(in[0], dim)) return vector_norm(in[0], ord.value_or(Scalar(int64_t(2))), dim, keepdim, dtype);
  return Fn<MatrixNorm>()(in[0], *ord, dim.value_or(Dims{0, 1}), keepdim, dtype);
}
Tensor LinalgNormWord::compose(Inputs in) const {
  check_norm(in[0], true, dim);
  check(!is_one_axis(in[0], dim), "linalg.norm: order ", ord.view(), " needs a matrix");
  return Fn<MatrixNormWord>()(in[0], ord, dim.value_or(Dims{0, 1}), keepdim, dtype);
}

Tensor NormWord::compose(Inputs in) const {
  check(p == "fro" || p == "nuc", "only valid string values are 'fro' and 'nuc', found ", p.view());
  if (p == "fro") return vector_norm(in[0], Scalar(int64_t(2)), dim, keepdim, dtype);
  return Fn<MatrixNormWord>()(in[0], p, dim.value_or(Dims{-2, -1}), keepdim, dtype);
}
Tensor Norm::compose(Inputs in) const { return vector_norm(in[0], p.value_or(Scalar(int64_t(2))), dim, keepdim, dtype); }

Tensor FrobeniusNorm::compose(Inputs in) const {
  warn_once("frobenius_norm is deprecated: use torch.linalg.vector_norm(A, 2, dim, keepdim) in its place.");
  check(dim.n <= 2, "Expected at most 2 dimensions, but got ", dim.n, " dimensions instead.");
  return vector_norm(in[0], Scalar(int64_t(2)), dim.empty() ? std::optional<Dims>() : dim, keepdim);
}
static Tensor nuclear_norm(const Tensor& A, const Dims& dim, bool keepdim) {
  warn_once("nuclear_norm is deprecated: use torch.linalg.matrix_norm(A, 'nuc', dim, keepdim) in its place.");
  return Fn<MatrixNormWord>()(A, Str("nuc"), dim, keepdim);
}
Tensor NuclearNormDim::compose(Inputs in) const { return nuclear_norm(in[0], dim, keepdim); }
Tensor NuclearNorm::compose(Inputs in) const { return nuclear_norm(in[0], Dims{-2, -1}, keepdim); }
static Tensor norm_except(const Tensor& v, const Scalar& order, int64_t dim) {
  check<IndexError>(v.ndim() > 0, "norm_except_dim: Dimension specified as ", dim, " but tensor has no dimensions");
  const int last = v.ndim() - 1;
  if (dim != 0 && dim != last) return transpose(norm_except(transpose(v, int64_t(0), dim), order, 0), int64_t(0), dim);
  Dims sizes(v.ndim(), 1);
  const int64_t n = sizes[int(dim)] = v.size(dim);
  return reshape(vector_norm(reshape(v, dim ? Dims{-1, n} : Dims{n, -1}), order, Dims{dim ? 0 : 1}), sizes);
}
Tensor NormExceptDim::compose(Inputs in) const { return dim == -1 ? vector_norm(in[0], Scalar(pow)) : norm_except(in[0], Scalar(pow), dim); }

Tensor Cond::compose(Inputs in) const {
  const double kind = p ? std::fabs(p->to_double()) : 2;
  check(kind == 1 || kind == 2 || std::isinf(kind), "linalg.cond got an invalid norm type: ", p ? p->to_double() : 2);
  if (Tensor nothing = cond_of_nothing(in[0])) return nothing;
  const double order = p ? p->to_double() : 2;
  if (std::fabs(order) == 2) {
    const Tensor values = svdvals(in[0]), first = select(values, int64_t(-1), int64_t(0)), last = select(values, int64_t(-1), int64_t(-1));
    return order > 0 ? first / last : last / first;
  }
  check_square_for(in[0]);
  return cond_by_inverse(in[0], *p);
}
Tensor CondWord::compose(Inputs in) const {
  check(p == "fro" || p == "nuc", "linalg.cond got an invalid norm type: ", p.view());
  const Tensor nothing = cond_of_nothing(in[0]);
  check_square_for(in[0]);
  if (nothing) return nothing;
  if (!(p == "nuc")) return cond_by_inverse(in[0], p);
  const Tensor values = svdvals(in[0]);
  return sum(values, Dims{-1}) * sum(reciprocal(values), Dims{-1});
}

// Source: PyTorch, which gives out= the shape of the matrices before that of the tolerances.
static void shape_for_ranks(const Tensor& A, const Dims& tolerances, const Tensor& out) {
  if (A.ndim() < 2 || A.numel() == 0) return;
  const Dims batch = batch_of(A), ranks = broadcast("linalg.matrix_rank", tolerances, batch);
  if (ranks == batch) return;
  resize_out(out, batch);
  resize(out, ranks);
}
void MatrixRankTensors::take_out(Inputs in, const Tensor& out) const {
  if (in[1] && in[2]) shape_for_ranks(in[0], broadcast("linalg.matrix_rank", in[1].sizes(), in[2].sizes()), out);
  else if (in[1] || in[2]) shape_for_ranks(in[0], (in[1] ? in[1] : in[2]).sizes(), out);
}
void MatrixRankTensor::take_out(Inputs in, const Tensor& out) const { shape_for_ranks(in[0], in[1].sizes(), out); }
Tensor MatrixRankTensors::compose(Inputs in) const { return rank_of(in[0], in[1], in[2], hermitian); }
Tensor MatrixRankNumbers::compose(Inputs in) const { return rank_of(in[0], number_of(atol), number_of(rtol), hermitian); }
Tensor MatrixRankTensor::compose(Inputs in) const { return rank_of(in[0], in[1], number_of(0.0), hermitian); }
Tensor MatrixRank::compose(Inputs in) const { return rank_of(in[0], number_of(tol), number_of(0.0), hermitian); }

Tensor PinvTensors::compose(Inputs in) const { return pinv_of(in[0], in[1], in[2], hermitian); }
Tensor PinvNumbers::compose(Inputs in) const {
  check<IndexError>(in[0].ndim() >= 2 || !atol || rtol, "linalg.pinv: Dimension out of range for a tensor of ", in[0].ndim(), " axes, -2");
  return pinv_of(in[0], number_of(atol), number_of(rtol), hermitian);
}
Tensor PinvTensor::compose(Inputs in) const { return pinv_of(in[0], {}, in[1], hermitian); }
Tensor Pinv::compose(Inputs in) const { return pinv_of(in[0], {}, number_of(rcond), hermitian); }
Tensor Pinverse::compose(Inputs in) const { return pinv_of(in[0], {}, number_of(rcond), false); }

Tensor MatrixPower::compose(Inputs in) const {
  const Tensor& A = in[0];
  check(n >= 0 || is_inexact(A.dtype()), "linalg.matrix_power: Expected a floating point or complex tensor as input. Got ", name_of(A.dtype()));
  check(A.ndim() >= 2 && A.size(-1) == A.size(-2), "linalg.matrix_power: A must be batches of square matrices, but they are of shape ", A.sizes());
  if (n == INT64_MIN) return matmul(matrix_power(A, n + 1), inv(A));  // it has no opposite
  if (n == -1) return inv(A);  // column by column, as it is
  if (n < 0) return matrix_power(inv(A), -n);
  if (n == 0) {
    const Tensor one = expand(eye_of(A.size(-1), A.size(-1), A.dtype(), A.device()), A.sizes());
    if (!is_differentiated(A)) return A.ndim() == 2 ? one : clone_of(one, MemoryFormat::contiguous);
    return one + masked_fill(A, full_of(Meta(A.sizes(), DType::boolean, A.device()), Scalar(true)), int64_t(0));  // a constant that depends on A, as in PyTorch
  }
  if (n == 1) return clone_of(A, MemoryFormat::contiguous);
  if (n == 3) return matmul(matmul(A, A), A);  // the one order that is not that of the bits, as in PyTorch: infinities show the difference
  Tensor r, square = A;
  for (int64_t bits = n; bits; bits >>= 1) {
    if (bits & 1) r = r ? matmul(r, square) : square;
    if (bits > 1) square = matmul(square, square);
  }
  return r;
}

Tensors SvdLowrank::compose(Inputs in) const {
  auto [U, S, Vh] = svd(in[1] ? in[0] - in[1] : in[0], false);
  const int64_t rank = q.value_or(6);
  return {up_to(U, -1, rank), up_to(S, -1, rank), mH(up_to(Vh, -2, rank))};
}
Tensors PcaLowrank::compose(Inputs in) const {
  const Tensor& A = in[0];
  check(A.ndim() >= 2, "pca_lowrank: expected a tensor of two axes or more, got ", A.sizes());
  const int64_t least = std::min(A.size(-2), A.size(-1)), rank = q.value_or(std::min<int64_t>(6, least));
  check<ValueError>(rank >= 0 && rank <= least, "q(=", rank, ") must be non-negative integer and not greater than min(m, n)=", least);
  return Fn<SvdLowrank>()(center ? A - mean(A, Dims{-2}, true) : A, std::optional<int64_t>(rank), std::optional<int64_t>(niter));
}

static const LinalgNormOps::Registration ops;

}  // namespace weir
