#include "framework/ops/power_pool.h"

#include <cmath>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/pad.h"
#include "framework/ops/pool.h"
#include "framework/ops/pool_line.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

int64_t cells(const Dims& kernel, int rank) {
  int64_t n = 1;
  for (int i = 0; i < rank; i++) n = checked_mul(n, kernel[kernel.n == 1 ? 0 : i]);
  return n;
}

/// The root of the powers' mean times the number of `cells` of a window. An exponent that single precision has not, such as 1/3, is taken in
/// double: of large powers its rounding alone costs digits. Source: PyTorch, which holds it in double but where it makes vectors.
Tensor rooted(const Tensor& mean, int64_t cells, const Tensor& norm_type) {
  const Tensor sum = fn::sign(mean) * fn::relu(fn::abs(mean)) * num(cells);
  if (!norm_type.has_flag(kWrappedNumber)) return fn::pow(sum, fn::reciprocal(norm_type));
  const double exponent = 1.0 / item(norm_type).to_double();
  const bool fine = sum.dtype() == DType::float32 && double(float(exponent)) != exponent;
  return fine ? cast_to(fn::pow(cast_to(sum, DType::float64), exponent), DType::float32) : fn::pow(sum, exponent);
}

/// The largest magnitude of each window, which a norm of infinite order is; the least one for minus infinity.
template <class Max> Tensor extremes(const LpPool& op, const Tensor& x, const Tensor& norm_type) {
  const Tensor sizes = fn::abs(x);
  const bool most = item(norm_type).to_double() > 0;
  const Tensor r = Fn<Max>()(most ? sizes : -sizes, op.kernel_size, op.stride.value_or(op.kernel_size), Dims{0}, Dims{1}, op.ceil_mode)[0];
  return most ? r : -r;
}
// Of a tensor nobody asks that. Source: PyTorch, which looks at numbers of Python's alone.
bool endless(const Tensor& norm_type) {
  return norm_type.has_flag(kWrappedNumber) && !is_complex(norm_type.dtype()) && std::isinf(item(norm_type).to_double());
}

template <class Average, class Max> Tensor pooled(const LpPool& op, Inputs in, int rank) {
  const Tensor &x = in[0], &norm_type = in[1];
  check<ValueError>(op.kernel_size.n == 1 || op.kernel_size.n == rank, "kernel_size must be one int or ", rank, " ints, got ", op.kernel_size.n);
  if (endless(norm_type)) return extremes<Max>(op, x, norm_type);
  const Tensor mean = Fn<Average>()(fn::pow(x, norm_type), op.kernel_size, op.stride.value_or(Dims{}), Dims{0}, op.ceil_mode);
  return rooted(mean, cells(op.kernel_size, rank), norm_type);
}

}  // namespace

Tensor LpPool1d::compose(Inputs in) const {
  check(in[0].ndim() == 2 || in[0].ndim() == 3, "lp_pool1d: expected 2D or 3D input, but got ", in[0].sizes());
  check(kernel_size.n == 1 && (!stride || stride->n <= 1), "kernel_size and stride must be one int, got ", kernel_size.n, " and ", stride ? stride->n : 1);
  if (endless(in[1])) return extremes<MaxPool1dWithIndices>(*this, in[0], in[1]);
  const int64_t by = stride && stride->n ? (*stride)[0] : kernel_size[0];
  const Tensor powers = fn::unsqueeze(fn::pow(in[0], in[1]), int64_t(-2));
  const Tensor mean = Fn<AvgPool2d>()(powers, Dims{1, kernel_size[0]}, Dims{1, by}, Dims{0}, ceil_mode);
  return rooted(fn::squeeze(mean, std::optional<Dims>(Dims{-2})), kernel_size[0], in[1]);
}
Tensor LpPool2d::compose(Inputs in) const { return pooled<AvgPool2d, MaxPool2dWithIndices>(*this, in, 2); }
Tensor LpPool3d::compose(Inputs in) const { return pooled<AvgPool3d, MaxPool3dWithIndices>(*this, in, 3); }

Tensor LocalResponseNorm::compose(Inputs in) const {
  const Tensor& x = in[0];
  check<ValueError>(x.ndim() >= 3, "Expected 3D or higher dimensionality input (got ", x.ndim(), " dimensions)");
  if (x.numel() == 0) return x;
  check(size > 0, "kernel size should be greater than zero, but got ", size);
  const bool half = x.dtype() == DType::float16 || x.dtype() == DType::bfloat16;
  check<NotImplemented>(half ? x.ndim() == 3 : is_floating(x.dtype()) || x.dtype() == DType::int64, "local_response_norm: not implemented for ", x.ndim(), "-d tensors of ", name_of(x.dtype()));
  // The channels with as many zeros around them that each sees `size`.
  Dims around(2 * (x.ndim() - 2), 0);
  around.push(size / 2);
  around.push((size - 1) / 2);
  const Tensor squares = x * x;
  if (x.ndim() > 4) fn::view(squares, Dims{x.sizes()[0], 1, x.sizes()[1], x.sizes()[2], -1});  // refused as the pool that PyTorch makes of the view refuses it
  const Tensor padded = fn::constant_pad_nd(squares, around);
  Tensor total = fn::narrow(padded, int64_t(1), int64_t(0), x.sizes()[1]);
  for (int64_t i = 1; i < size; i++) total = total + fn::narrow(padded, int64_t(1), i, x.sizes()[1]);
  const Tensor mean = is_inexact(x.dtype()) ? total / double(size) : fn::floor_divide(total, size);  // a pool of whole numbers is whole
  auto given = [&](int i, double usual) { return in[i] ? in[i] : num(usual); };
  return x / fn::pow(mean * given(1, 0.0001) + given(3, 1.0), given(2, 0.75));
}

static const PowerPoolOps::Registration ops;

}  // namespace weir
