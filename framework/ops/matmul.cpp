#include "framework/ops/matmul.h"

#include <cmath>

#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/product.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

void check_types(const char* op, const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), op, ": expected m1 and m2 to have the same dtype, but got: ", name_of(a.dtype()), " != ",
        name_of(b.dtype()));
}
Tensor flipped(const Tensor& x) { return transpose(x, int64_t(-2), int64_t(-1)); }

/// A factor of tensors of `dtype`: that of integers is truncated to one, and of numbers a truth is 0 or 1.
Scalar factor_of(const char* op, DType dtype, const Scalar& s) {
  if (s.kind == Scalar::Kind::boolean && dtype != DType::boolean) return Scalar(s.to_int());
  if (s.is_complex() && s.imag == 0 && !is_complex(dtype)) return factor_of(op, dtype, Scalar(s.to_double()));
  if (is_inexact(dtype) || s.is_whole()) return s;
  check(std::fabs(s.to_double()) < 0x1p63, op, ": value cannot be converted to type int64_t without overflow");
  return Scalar(s.to_int());
}

Dims batch_of(const Tensor& x) {
  Dims d = x.sizes();
  d.n -= 2;
  return d;
}
Dims with_matrix(Dims batch, int64_t rows, int64_t cols) {
  batch.push(rows);
  batch.push(cols);
  return batch;
}

}  // namespace

bool multiplies(const Tensor& a, const Tensor& product) { return a.numel() && product.numel(); }
Scalar factor_of_product(const Tensor& a, const Scalar& alpha) { return a.numel() ? alpha : Scalar(1.0); }

void check_scales(const char* op, const Tensor& x, const Scalar& beta) {
  const DType type = result_type(std::array{x, wrapped_number(beta)});
  check(beta.is_zero() || can_cast(type, x.dtype()), op, ": result type ", name_of(type), " can't be cast to the desired output type ", name_of(x.dtype()));
}

Tensor scaled_sum(const char* op, const Tensor& given, const Tensor& product, const Scalar& b, const Scalar& a, bool by_library, bool multiplied) {
  // Of no numbers PyTorch asks no factor, and of no products it multiplies the input by beta in place.
  const bool only_scaled = product.numel() && !multiplied;
  const Scalar beta = !product.numel() ? Scalar(int64_t(1)) : multiplied ? factor_of(op, product.dtype(), b) : b;
  const Scalar alpha = product.numel() ? factor_of(op, product.dtype(), a) : Scalar(int64_t(1));
  if (only_scaled) check_scales(op, given, b);
  for (const Scalar& s : {a, b})  // before integers lose their fractions
    if (product.numel() && multiplied) check_held(Held::wide, s, product.dtype());
  Tensor input = mode.autocast && is_floating(given.dtype()) ? cast_to(given, product.dtype()) : given;
  check(input.dtype() == product.dtype(), op, ": self and mat2 must have the same dtype, but got ", name_of(input.dtype()),
        " and ", name_of(product.dtype()));
  Dims sizes = broadcast(op, input.sizes(), product.sizes());
  check(sizes == product.sizes(), op, ": expand(): the input of shape ", input.sizes(), " does not broadcast to ", product.sizes());
  if (product.dtype() == DType::boolean && !product.numel()) return product;  // of which PyTorch makes no whole numbers
  auto times = [](const Tensor& x, const Scalar& s) { return s.to_complex() == 1.0 ? x : x * wrapped_number(s); };
  auto ignored = [](const Tensor& x) { return where(full_of(Meta(Dims{}, DType::boolean, x.device()), Scalar(false)), x, zeros_of(Meta(Dims{}, x.dtype(), x.device()))); };
  const bool recorded = is_differentiated(product) || is_differentiated(input);
  // alpha == 0 ignores the product, NaN included, where PyTorch asks a library that does.
  const bool without = alpha.is_zero() && by_library;
  if (!recorded && !without && alpha.to_complex() != 1.0) fn::mul.inplace(product, wrapped_number(alpha));  // nobody else holds it
  const Tensor scaled = without ? ignored(product) : recorded ? times(product, alpha) : product;
  // beta == 0 ignores input, whose gradient is zero.
  if (beta.is_zero()) return is_differentiated(input) ? scaled + ignored(input) : scaled;
  if (recorded || (!multiplied && product.dtype() != DType::boolean)) return scaled + times(input, beta);  // the product first: its strides are the result's
  fn::add.inplace(scaled, input, beta);
  return scaled;
}

// PyTorch multiplies a vector as a matrix of one row, which it makes of out= first: its elements then lie side by side.
static void take_as_row(const Tensor& out) {
  warn_of_resize(out.sizes(), Dims{1, out.size(0)});
  set_geometry(out, out.sizes(), Dims{1}, out->offset);
}
void Matmul::take_out(Inputs in, const Tensor& out) const {
  if (in[1].ndim() == 2 && in[0].ndim() == 1 && out.ndim() == 1 && out.size(0) == in[1].size(1)) take_as_row(out);
}
void Linear::take_out(Inputs in, const Tensor& out) const {
  if (in[1].ndim() == 2 && in[0].ndim() == 1 && out.ndim() == 1 && out.size(0) == in[1].size(0)) take_as_row(out);
}

Meta Mm::infer(Inputs in) const {
  check(in[0].ndim() == 2, "mm: self must be a matrix, got ", in[0].ndim(), " dimensions");
  check(in[1].ndim() == 2, "mm: mat2 must be a matrix, got ", in[1].ndim(), " dimensions");
  check(in[0].sizes()[1] == in[1].sizes()[0], "mm: mat1 and mat2 shapes cannot be multiplied (", in[0].sizes()[0], "x",
        in[0].sizes()[1], " and ", in[1].sizes()[0], "x", in[1].sizes()[1], ")");
  check_types("mm", in[0], in[1]);
  return {Dims{in[0].sizes()[0], in[1].sizes()[1]}, in[0].dtype(), in[0].device()};
}
Tensors Mm::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? mm(dy, flipped(s.input(1))) : Tensor(), s.needs(1) ? mm(flipped(s.input(0)), dy) : Tensor()};
}

Meta Bmm::infer(Inputs in) const {
  check(in[0].ndim() == 3, "bmm: batch1 must be a 3D tensor, got ", in[0].ndim());
  check(in[1].ndim() == 3, "bmm: batch2 must be a 3D tensor, got ", in[1].ndim());
  check(in[0].sizes()[0] == in[1].sizes()[0] && in[0].sizes()[2] == in[1].sizes()[1],
        "bmm: Expected size for first two dimensions of batch2 tensor to be: [", in[0].sizes()[0], ", ", in[0].sizes()[2],
        "] but got: [", in[1].sizes()[0], ", ", in[1].sizes()[1], "].");
  // Source: PyTorch, which compares dtypes where it has numbers to multiply, and takes that of the second.
  if (in[0].numel() != 0 && in[1].numel() != 0) check_types("bmm", in[0], in[1]);
  return {Dims{in[0].sizes()[0], in[0].sizes()[1], in[1].sizes()[2]}, in[1].dtype(), in[0].device()};
}
Tensors Bmm::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? bmm(dy, flipped(s.input(1))) : Tensor(), s.needs(1) ? bmm(flipped(s.input(0)), dy) : Tensor()};
}

Meta Linear::infer(Inputs in) const {
  const Tensor &x = in[0], &w = in[1], &b = in[2];
  check(w.ndim() == 2 || w.ndim() == 1, "linear: weight must be 1-D or 2-D, got ", w.ndim(), "-D");
  check(x.ndim() > 0, "linear: both arguments to linear need to be at least 1D, but input is 0D");
  check(x.size(-1) == w.size(-1), "linear: mat1 and mat2 shapes cannot be multiplied (", x.numel() / std::max<int64_t>(1, x.size(-1)),
        "x", x.size(-1), " and ", w.size(-1), "x", w.size(0), ")");
  check_types("linear", x, w);
  // Source: PyTorch, which adds a bias in place to the products where it is not part of them, so that it may have another dtype.
  const bool fused = b && (x.ndim() == 2 || (b.ndim() > 0 && b.numel() == b.size(-1) && x.is_contiguous()));
  if (fused || (b && !can_cast(b.dtype(), x.dtype()))) check_types("linear", x, b);
  check(!b || w.ndim() == 2, "linear: weight must be a matrix where there is a bias, got a 1-D tensor");
  Dims sizes = x.sizes();
  if (w.ndim() == 2) sizes.back() = w.sizes()[0];
  else sizes.n--;
  if (b) check(broadcast("linear", b.sizes(), sizes) == sizes, "linear: bias of shape ", b.sizes(), " does not match ", sizes);
  return {sizes, x.dtype(), x.device()};
}
Tensors Linear::vjp(const Saved& s, const Tensor& dy) const {
  const Dims &x = s.input_meta(0).sizes, &w = s.input_meta(1).sizes;
  Tensor dx, dw, db;
  if (w.n == 1) {
    const Tensor g = unsqueeze(dy, int64_t(-1));
    return {s.needs(0) ? g * s.input(1) : dx, s.needs(1) ? g * s.input(0) : dw, s.num_inputs() > 2 && s.needs(2) ? dy : db};
  }
  int64_t count = 1;  // not by numel(): no features say nothing of the rows
  for (int i = 0; i + 1 < x.n; i++) count *= x[i];
  Tensor rows = reshape(dy, Dims{count, w[0]});
  if (s.needs(0)) dx = reshape(mm(rows, s.input(1)), x);
  if (s.needs(1)) dw = mm(flipped(rows), reshape(s.input(0), Dims{count, w[1]}));
  if (s.needs(2)) db = s.input_meta(2).sizes.n > 1 ? dy : sum(rows, Dims{0});  // the engine reduces what a bias of more axes gets
  return {dx, dw, db};
}

/// The sizes of a product's operand, of many matrices those of all rows below each other.
static std::string rows_by_columns(const Tensor& t) {
  if (t.ndim() == 1) return std::to_string(t.size(0));
  return str(t.numel() / std::max<int64_t>(1, t.size(-1)), "x", t.size(-1));
}

Tensor Matmul::compose(Inputs in) const {
  Tensor a = in[0], b = in[1];
  check(a.ndim() > 0 && b.ndim() > 0, "matmul: both arguments to matmul need to be at least 1D, but they are ", a.ndim(), "D and ", b.ndim(), "D");
  bool row = a.ndim() == 1, column = b.ndim() == 1;
  if (a.size(-1) != b.size(column ? -1 : -2))  // the words take longer to make than a small product
    check(false, "matmul: mat1 and mat2 shapes cannot be multiplied (", rows_by_columns(a), " and ", rows_by_columns(b), ")");
  if (row && column) return dot(a, b);
  if (row) a = unsqueeze(a, int64_t(0));
  if (column) b = unsqueeze(b, int64_t(1));
  int64_t n = a.size(-2), m = a.size(-1), p = b.size(-1);
  Tensor r;
  if (a.ndim() == 2 && b.ndim() == 2) {
    r = mm(a, b);
  } else if (b.ndim() == 2) {
    // One product over all rows.
    r = reshape(mm(reshape(a, Dims{batch_of(a).product() * n, m}), b), with_matrix(batch_of(a), n, p));
  } else {
    // Where PyTorch makes one product of all, it compares dtypes also where there is nothing to multiply.
    if (row || (a.ndim() == 2 && a.has_flag(kRequiresGrad))) check_types("matmul", a, b);
    Dims batch = broadcast("matmul", batch_of(a), batch_of(b));
    auto flat = [&](const Tensor& x) {
      Tensor e = batch_of(x) == batch ? x : expand(x, with_matrix(batch, x.size(-2), x.size(-1)));
      return reshape(e, Dims{batch.product(), x.size(-2), x.size(-1)});
    };
    // Of one row or column PyTorch computes the transpose, as one product, where it has a gradient: it shows in the strides.
    const bool turned = (n == 1 || p == 1) && a.ndim() == 2 && a.has_flag(kRequiresGrad);
    r = turned ? flipped(reshape(bmm(flat(a), flat(b)), with_matrix(batch, p, n))) : reshape(bmm(flat(a), flat(b)), with_matrix(batch, n, p));
  }
  if (column) r = squeeze(r, std::optional<Dims>(Dims{-1}));
  if (row) r = squeeze(r, std::optional<Dims>(Dims{column ? -1 : -2}));
  return r;
}

bool scales_terms(const Tensor& a, const Scalar& alpha) {
  return is_inexact(a.dtype()) && !is_reduced(a.dtype()) && !std::isfinite(std::abs(alpha.to_complex()));
}

Tensor Addmm::compose(Inputs in) const {
  return rounded_once(in, [&](const Tensor& given, const Tensor& a, const Tensor& b) {
    const bool terms = scales_terms(in[1], alpha);
    const Tensor product = mm(terms ? a * wrapped_number(alpha) : a, b);
    return scaled_sum("addmm", given, product, beta, terms ? Scalar(1.0) : factor_of_product(a, alpha), !is_reduced(in[1].dtype()), multiplies(a, product));
  });
}
Tensor Baddbmm::compose(Inputs in) const {
  for (int d : {0, 1}) wrap_dim(d, in[1].ndim(), "baddbmm");  // PyTorch asks for these sizes before it looks at the ranks
  wrap_dim(2, in[2].ndim(), "baddbmm");
  return row_major_of(rounded_once(in, [&](const Tensor& given, const Tensor& a, const Tensor& b) {
    constexpr int64_t kSmall = 400;  // below, PyTorch multiplies in a loop of its own
    const bool by_library = !is_reduced(in[1].dtype()) && a.ndim() == 3 && b.ndim() == 3 && checked_mul(checked_mul(a.size(1), a.size(2)), b.size(2)) >= kSmall;
    const bool terms = by_library && scales_terms(in[1], alpha);
    const Tensor product = bmm(terms ? a * wrapped_number(alpha) : a, b);
    const bool multiplied = multiplies(a, product), lowered = mode.autocast && is_floating(given.dtype());
    check(lowered || given.dtype() == a.dtype(), "baddbmm: Input dtypes must be the same, got: input ", name_of(given.dtype()), ", batch1: ", name_of(a.dtype()));
    const Tensor self = lowered || multiplied ? given : cast_to(given, product.dtype());  // of no products PyTorch compares no dtypes: the second has the result's
    return scaled_sum("baddbmm", self, product, beta, terms ? Scalar(1.0) : factor_of_product(a, alpha), by_library, multiplied);
  }));
}

static Tensor needs_cuda(const char* op) { throw NotImplemented(str(op, " with out_dtype has kernels for CUDA alone")); }
Tensor MmOfDtype::compose(Inputs) const { return needs_cuda("mm"); }
Tensor BmmOfDtype::compose(Inputs) const { return needs_cuda("bmm"); }
Tensor AddmmOfDtype::compose(Inputs) const { return needs_cuda("addmm"); }
Tensor BaddbmmOfDtype::compose(Inputs) const { return needs_cuda("baddbmm"); }

static const MatmulOps::Registration ops;

}  // namespace weir
