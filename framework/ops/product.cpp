#include "framework/ops/product.h"

#include <algorithm>

#include "framework/core/warn.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/linalg_product.h"
#include "framework/ops/matmul.h"
#include "framework/ops/plain.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

void check_vector(const char* op, const char* name, const Tensor& t) {
  check(t.ndim() == 1, op, ": expected 1-D tensor for '", name, "', but got ", t.ndim(), "-D");
}

/// Of an axis of size 1 that meets another size its partner is summed, as in PyTorch.
void sum_partners(Tensor& a, Tensor& b, const Dims& left, const Dims& right) {
  for (int i = 0; i < left.n; i++) {
    const int64_t m = a.size(left[i]), n = b.size(right[i]);
    check(m == n || m == 1 || n == 1, "tensordot: contracted dimensions need to match, but first has size ", m, " in dim ", left[i],
          " and second has size ", n, " in dim ", right[i]);
    if (m == n) continue;
    if (n == 1) a = fn::sum(a, Dims{left[i]}, true, a.dtype());
    else b = fn::sum(b, Dims{right[i]}, true, b.dtype());
  }
}

Dims wrapped_axes(const Dims& dims, int rank) {
  Dims axes;
  for (int64_t d : dims) {
    const int64_t axis = wrap_dim(d, rank, "tensordot");
    check(!axes.contains(axis), "tensordot: dim ", axis, " appears multiple times in the list of dims");
    axes.push(axis);
  }
  return axes;
}

Dims others(const Dims& axes, int rank) {
  Dims rest;
  for (int64_t d = 0; d < rank; d++)
    if (!axes.contains(d)) rest.push(d);
  return rest;
}

Dims joined(Dims a, const Dims& b) {
  for (int64_t x : b) a.push(x);
  return a;
}

Dims picked(const Tensor& x, const Dims& axes) {
  Dims sizes;
  for (int64_t d : axes) sizes.push(x.size(d));
  return sizes;
}

}  // namespace

Tensor Trace::compose(Inputs in) const {
  check(in[0].ndim() == 2, "trace: expected a matrix, but got tensor with dim ", in[0].ndim());
  check<NotImplemented>(in[0].dtype() != DType::boolean, "trace: not implemented for 'bool'");
  return fn::sum(fn::diagonal(in[0]));
}

Tensor Outer::compose(Inputs in) const {
  check_vector("outer", "self", in[0]);
  check_vector("outer", "vec2", in[1]);
  const Tensor column = fn::unsqueeze(in[0], int64_t(1));
  auto is_single = [](const Tensor& t) { return t.numel() && t.dtype() == DType::float32; };
  // Of a product of matrices the gradients are products with vectors.
  const bool recorded = is_differentiated(in[0]) || is_differentiated(in[1]);
  if (recorded && is_single(in[0]) && is_single(in[1]) && !mode.autocast) return fn::mm(column, fn::unsqueeze(in[1], int64_t(0)));
  return column * in[1];
}

Meta Dot::infer(Inputs in) const {
  const Tensor &a = in[0], &b = in[1];
  check(a.ndim() == 1 && b.ndim() == 1, "1D tensors expected, but got ", a.ndim(), "D and ", b.ndim(), "D tensors");
  check(a.dtype() == b.dtype(), "dot : expected both vectors to have same dtype, but found ", name_of(a.dtype()), " and ", name_of(b.dtype()));
  check(a.sizes() == b.sizes(), "inconsistent tensor size, expected tensor [", a.numel(), "] and src [", b.numel(),
        "] to have the same number of elements");
  return {Dims{}, a.dtype(), a.device()};
}
Tensors Dot::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? dy * s.input(1) : Tensor(), s.needs(1) ? dy * s.input(0) : Tensor()};
}

Tensor Vdot::compose(Inputs in) const { return fn::dot(conj(in[0]), in[1]); }

Tensor Mv::compose(Inputs in) const {
  const Tensor &a = in[0], &v = in[1];
  check(a.ndim() == 2 && v.ndim() == 1, "vector + matrix @ vector expected, got 1, ", a.ndim(), ", ", v.ndim());
  check(a.size(1) == v.size(0), "size mismatch, got input (", a.size(0), "), mat (", a.size(0), "x", a.size(1), "), vec (", v.size(0), ")");
  check(a.dtype() == v.dtype(), "mv: expected both tensors to have the same dtype, but got ", name_of(a.dtype()), " and ", name_of(v.dtype()));
  return fn::matmul(a, v);
}

// A number times a tensor goes into any dtype.
void Inner::take_out(Inputs in, const Tensor& out) const {
  check(in[0].ndim() == 0 || in[1].ndim() == 0 || out.dtype() == in[0].dtype(), "inner: Expected out tensor to have dtype ", name_of(in[0].dtype()), ", but got ",
        name_of(out.dtype()), " instead");
  if (in[0].ndim() && in[1].ndim()) return;
  for (const Tensor& t : {in[0], in[1], out})  // then it is a product
    check(!mode.grad || !requires_grad(t), "mul(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
}
Tensor Inner::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1];
  if (a.ndim() == 0 || b.ndim() == 0) return a * b;
  check(a.size(-1) == b.size(-1), "inner() the last dimension must match on both input tensors but got shapes ", a.sizes(), " and ", b.sizes());
  return a.ndim() == 1 && b.ndim() == 1 ? fn::dot(a, b) : fn::tensordot(a, b, Dims{-1}, Dims{-1});
}

Tensor Addmv::compose(Inputs in) const {
  const Tensor &x = in[0], &mat = in[1], &vec = in[2];
  // PyTorch's message of a mismatch names a size that a 0-d tensor does not have.
  check<IndexError>(mat.ndim() != 2 || vec.ndim() != 1 || x.ndim() > 0 || mat.size(1) == vec.size(0), "addmv: Dimension specified as 0 but tensor has no "
                    "dimensions");
  check(mat.ndim() == 2 && vec.ndim() == 1 && x.ndim() <= 1, "addmv: vector + matrix @ vector expected, got ", x.ndim(), ", ", mat.ndim(), ", ",
        vec.ndim());
  check(x.dtype() == mat.dtype() && x.dtype() == vec.dtype(), "addmv input tensors must have the same dtype, but got ", name_of(x.dtype()), ", ", name_of(mat.dtype()),
        ", and ", name_of(vec.dtype()));
  // Of no products PyTorch makes a tensor of beta first: a truth, or a half, in which infinity stands for what is beyond it.
  const bool half = is_reduced(x.dtype()) && !beta.is_complex(), truth = x.dtype() == DType::boolean;
  const Scalar factor = mat.numel() ? beta : truth ? Scalar(!beta.is_zero()) : half ? Scalar(rounded(beta.to_double(), x.dtype())) : beta;
  check_held(Held::own, factor, x.dtype());
  if (mat.numel()) check_held(Held::own, alpha, x.dtype());
  return rounded_once(in, [&](const Tensor& given, const Tensor& a, const Tensor& b) {
    const Tensor product = fn::mv(a, b);
    return scaled_sum("addmv", given, product, factor, factor_of_product(a, alpha), !is_complex(a.dtype()) && !is_reduced(in[1].dtype()));
  });
}

// Whether addr adds products of one of the two types that lose nothing in between, which needs no tensor of products; nor is its gradient asked for,
// of which each part is a product with a vector.
static bool adds_products(Inputs in, const Scalar& beta, const Scalar& alpha) {
  const DType t = in[0].dtype();
  bool plain = (t == DType::float32 || t == DType::float64) && in[1].ndim() == 1 && in[2].ndim() == 1 && !beta.is_complex() && !alpha.is_complex() && beta.to_double() == 1 && alpha.to_double() == 1 && !mode.autocast;
  for (const Tensor& x : in) plain = plain && x.dtype() == t;
  return plain && is_plain(in) && in[0].sizes() == Dims{in[1].numel(), in[2].numel()};
}

Tensor Addr::compose(Inputs in) const {
  const bool inexact = is_inexact(in[0].dtype()) || is_inexact(in[1].dtype()) || is_inexact(in[2].dtype());
  for (auto [name, s] : {std::pair{"beta", &beta}, {"alpha", &alpha}})
    check(inexact || s->is_whole(), "For integral input tensors, argument ", name, " must not be a floating point number.");
  if (inexact && adds_products(in, beta, alpha)) return fn::addcmul(in[0], fn::unsqueeze(in[1], int64_t(1)), in[2]);
  const Tensor product = fn::outer(in[1], in[2]);
  const DType type = result_type(std::array{in[0], product});
  const Tensor self = fn::expand(in[0], product.sizes());
  // Of truth values the factors are such too.
  auto factor = [&](const Scalar& s) { return type == DType::boolean ? Scalar(!s.is_zero()) : s; };
  for (const Scalar& s : {beta, alpha}) {
    check(type == DType::boolean || s.kind != Scalar::Kind::boolean, "addr: expected alpha and beta to be numbers for ", name_of(type), ", but got a bool");
    check_held(Held::own, factor(s), type);
  }
  // Source of the layout: PyTorch reads self first, also where beta is 0.
  return laid_out(scaled_sum("addr", cast_to(self, type), cast_to(product, type), factor(beta), factor(alpha)), pointwise_meta("addr", Rule::promote, std::array{self, product}));
}

Tensor Addbmm::compose(Inputs in) const {
  wrap_dim(1, in[1].ndim(), "addbmm"), wrap_dim(2, in[2].ndim(), "addbmm");  // PyTorch asks for these sizes before it looks at the ranks
  for (int i : {1, 2}) check(in[i].ndim() == 3, "addbmm: expected 3-D tensor for 'batch", i, "', but got ", in[i].ndim(), "-D");
  check(in[1].size(0) == in[2].size(0), "addbmm: batch1 and batch2 must have same number of batches, got ", in[1].size(0), " and ", in[2].size(0));
  if (!in[1].size(0)) check_scales("addbmm", in[0], beta);  // of no elements too
  if (is_inexact(in[1].dtype()) && !std::isfinite(std::abs(alpha.to_complex())) && in[1].size(0)) {
    // PyTorch adds one product after the other, so that infinite ones of both signs are NaN.
    Tensor sum = in[0];
    for (int64_t i = 0; i < in[1].size(0); i++)
      sum = fn::addmm(sum, fn::select(in[1], int64_t(0), i), fn::select(in[2], int64_t(0), i), i ? Scalar(1) : beta, alpha);
    return row_major_of(sum);
  }
  return row_major_of(rounded_once(in, [&](const Tensor& given, const Tensor& a, const Tensor& b) {
    const Tensor products = fn::matmul(a, b);
    const DType type = a.size(0) || mode.autocast ? products.dtype() : given.dtype();  // PyTorch compares dtypes in each product of the batch
    return scaled_sum("addbmm", given, fn::sum(products, std::optional<Dims>(Dims{0}), false, type), beta, factor_of_product(a, alpha), !is_reduced(in[1].dtype()), multiplies(a, products));
  }));
}

namespace {
// The sizes of kron's inputs, and of its result: each of its axes is one of a, and one of b within it.
struct KronSizes {
  Dims a, b, result;
};
KronSizes kron_sizes(Inputs in) {
  const int rank = std::max(in[0].ndim(), in[1].ndim());
  KronSizes s;
  for (int i = 0; i < rank; i++) {
    auto size = [&](const Tensor& t) { return i < rank - t.ndim() ? 1 : t.size(i - (rank - t.ndim())); };
    const int64_t m = size(in[0]), n = size(in[1]);
    s.a.push(m), s.a.push(1), s.b.push(1), s.b.push(n), s.result.push(checked_mul(m, n));
  }
  return s;
}
}  // namespace
void Kron::take_out(Inputs in, const Tensor& out) const { shape_out(out, Meta(kron_sizes(in).result, result_type(in))); }
Tensor Kron::compose(Inputs in) const {
  const KronSizes s = kron_sizes(in);
  return fn::view(fn::reshape(in[0], s.a) * fn::reshape(in[1], s.b), s.result);
}

Tensor TensordotAxes::compose(Inputs in) const {
  Tensor a = in[0], b = in[1];
  check(a.dtype() == b.dtype(), "tensordot: both inputs should have same dtype, got ", name_of(a.dtype()), " and ", name_of(b.dtype()));
  check(dims_self.n == dims_other.n, "tensordot: both dimension lists should have same length");
  for (int64_t d : dims_self) wrap_dim(d, a.ndim(), "tensordot");  // all of them, before it matters whether they repeat
  for (int64_t d : dims_other) wrap_dim(d, b.ndim(), "tensordot");
  const Dims left = wrapped_axes(dims_self, a.ndim()), right = wrapped_axes(dims_other, b.ndim());
  sum_partners(a, b, left, right);
  const Dims free_a = others(left, a.ndim()), free_b = others(right, b.ndim());
  const Dims rows = picked(a, free_a), columns = picked(b, free_b), sizes = joined(rows, columns);
  const int64_t inner = picked(a, left).product();
  const Tensor flat_a = fn::reshape(fn::permute(a, joined(free_a, left)), Dims{rows.product(), inner});
  const Tensor flat_b = fn::reshape(fn::permute(b, joined(right, free_b)), Dims{inner, columns.product()});
  check<NotImplemented>(sizes.product() != 1 || a.dtype() != DType::boolean, "\"dot\" not implemented for 'bool'");
  if (sizes.product() == 1)  // one number: not a product of matrices, which autocast would run low
    return fn::reshape(fn::sum(fn::select(flat_a, int64_t(0), int64_t(0)) * fn::select(flat_b, int64_t(1), int64_t(0)), std::nullopt, false, a.dtype()), sizes);
  return fn::reshape(fn::mm(flat_a, flat_b), sizes);
}

static int64_t first_of_three(const Tensor& x) {
  for (int i = 0; i < x.ndim(); i++)
    if (x.size(i) == 3) return i;
  throw Error("no dimension of size 3 in input");
}
void CrossOfThree::take_out(Inputs in, const Tensor&) {  // PyTorch's warning is of the other form only
  if (!dim) dim = first_of_three(in[0]);
}
Tensor CrossOfThree::compose(Inputs in) const {
  if (!dim) warn_once("Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply use torch.linalg.cross.\n"
                       "The default value of dim will change to agree with that of linalg.cross in a future release.");
  return fn::cross(in[0], in[1], dim ? *dim : first_of_three(in[0]));
}

// x ** 0 to x ** (count - 1) of each element; of whole numbers in int64.
static Tensor powers_of(Tensor x, int64_t count) {
  if (!is_inexact(x.dtype())) x = cast_to(x, DType::int64);
  Dims sizes = x.sizes();
  sizes.push(count - 1);
  const Tensor each = fn::unsqueeze(x, int64_t(-1));
  return cat_of({full_of(Meta(each.sizes(), x.dtype(), x.device()), Scalar(int64_t(1))), fn::cumprod(fn::expand(each, sizes), int64_t(-1))}, -1);
}

Tensor LinalgVander::compose(Inputs in) const {
  check(!is_reduced(in[0].dtype()) && in[0].dtype() != DType::boolean, "linalg.vander supports floating point, complex, and integer tensors, but got ",
        name_of(in[0].dtype()));
  check(in[0].ndim() > 0 || N, "Expected dim >= 1 in linalg.vander");
  const Tensor x = in[0].ndim() ? in[0] : fn::reshape(in[0], Dims{1});
  const int64_t count = N.value_or(x.size(-1));
  check(count > 1, "N must be greater than 1, got ", count);
  return powers_of(x, count);
}
Tensor Vander::compose(Inputs in) const {
  check(in[0].ndim() == 1, "x must be a one-dimensional tensor.");
  const int64_t count = N.value_or(in[0].size(0));
  check(count >= 0, "N must be non-negative.");
  const DType type = is_inexact(in[0].dtype()) ? in[0].dtype() : DType::int64;
  if (count < 2) return full_of(Meta(Dims{in[0].size(0), count}, type, in[0].device()), Scalar(int64_t(1)));  // of no power of x
  const Tensor powers = powers_of(in[0], count);
  return increasing ? powers : fn::flip(powers, Dims{-1});
}

static const ProductOps::Registration ops;

}  // namespace weir
