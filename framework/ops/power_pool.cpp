#include "framework/ops/power_pool.h"

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/pad.h"
#include "framework/ops/pool.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

int64_t cells(const Dims& kernel, int rank) {
  int64_t n = 1;
  for (int i = 0; i < rank; i++) n = checked_mul(n, kernel[kernel.n == 1 ? 0 : i]);
  return n;
}

/// The root of the powers' mean times the number of `cells` of a window.
Tensor rooted(const Tensor& mean, int64_t cells, const Scalar& norm_type) {
  return fn::pow(fn::sign(mean) * fn::relu(fn::abs(mean)) * num(cells), 1.0 / norm_type.to_double());
}

template <class Average> Tensor pooled(const LpPool& op, const Tensor& x, int rank) {
  check<ValueError>(op.kernel_size.n == 1 || op.kernel_size.n == rank, "kernel_size must be one int or ", rank, " ints, got ", op.kernel_size.n);
  const Tensor mean = Fn<Average>()(fn::pow(x, wrapped_number(op.norm_type)), op.kernel_size, op.stride.value_or(Dims{}), Dims{0}, op.ceil_mode);
  return rooted(mean, cells(op.kernel_size, rank), op.norm_type);
}

}  // namespace

Tensor LpPool1d::compose(Inputs in) const {
  check(in[0].ndim() == 2 || in[0].ndim() == 3, "lp_pool1d: expected 2D or 3D input, but got ", in[0].sizes());
  check(kernel_size.n == 1 && (!stride || stride->n <= 1), "kernel_size and stride must be one int, got ", kernel_size.n, " and ", stride ? stride->n : 1);
  const int64_t by = stride && stride->n ? (*stride)[0] : kernel_size[0];
  const Tensor powers = fn::unsqueeze(fn::pow(in[0], wrapped_number(norm_type)), int64_t(-2));
  const Tensor mean = Fn<AvgPool2d>()(powers, Dims{1, kernel_size[0]}, Dims{1, by}, Dims{0}, ceil_mode);
  return rooted(fn::squeeze(mean, std::optional<Dims>(Dims{-2})), kernel_size[0], norm_type);
}
Tensor LpPool2d::compose(Inputs in) const { return pooled<AvgPool2d>(*this, in[0], 2); }
Tensor LpPool3d::compose(Inputs in) const { return pooled<AvgPool3d>(*this, in[0], 3); }

Tensor LocalResponseNorm::compose(Inputs in) const {
  const Tensor& x = in[0];
  check<ValueError>(x.ndim() >= 3, "Expected 3D or higher dimensionality input (got ", x.ndim(), " dimensions)");
  if (x.numel() == 0) return x;
  check(size > 0, "kernel size should be greater than zero, but got ", size);
  const bool half = x.dtype() == DType::float16 || x.dtype() == DType::bfloat16;
  check<NotImplemented>(!is_complex(x.dtype()) && !(x.ndim() > 3 && half), "local_response_norm: not implemented for ", x.ndim(), "-d tensors of ", name_of(x.dtype()));
  // The channels with as many zeros around them that each sees `size`.
  Dims around(2 * (x.ndim() - 2), 0);
  around.push(size / 2);
  around.push((size - 1) / 2);
  const Tensor padded = fn::constant_pad_nd(x * x, around);
  Tensor total = fn::narrow(padded, int64_t(1), int64_t(0), x.sizes()[1]);
  for (int64_t i = 1; i < size; i++) total = total + fn::narrow(padded, int64_t(1), i, x.sizes()[1]);
  const Tensor mean = is_inexact(x.dtype()) ? total / double(size) : fn::floor_divide(total, size);  // a pool of whole numbers is whole
  return x / fn::pow(mean * alpha + k, beta);
}

static const PowerPoolOps::Registration ops;

}  // namespace weir
