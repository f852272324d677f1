#include "framework/ops/batch_norm_pool.h"

#include "framework/ops/norm.h"

namespace weir {
namespace {

Dims pooled_sizes(const char* op, const Tensor& x, const Dims& k, const Dims& s, const Dims& p) {
  check(x.ndim() == 4 && x.sizes()[1] >= 16 && (x.dtype() == DType::float32 || is_reduced(x.dtype())), op, ": expected pictures of 16 channels or more in float32 or half precision, got ", x.sizes(), " in ", name_of(x.dtype()));
  check(k.n == 2 && s.n == 2 && p.n == 2, op, ": expected two numbers each for kernel_size, stride and padding, got ", k, ", ", s, " and ", p);
  Dims out{x.sizes()[0], x.sizes()[1]};
  for (int i = 0; i < 2; i++) {
    check(k[i] > 0 && k[i] <= 255 && s[i] > 0 && p[i] >= 0 && p[i] <= k[i] / 2, op, ": expected a kernel of 1 to 255 numbers, a stride above 0 and padding of at most half of the kernel, got ", k[i], ", ", s[i], " and ", p[i]);
    check(x.sizes()[i + 2] + 2 * p[i] >= k[i], op, ": expected pictures no smaller than the kernel, got ", x.sizes(), " for ", k);
    out.push((x.sizes()[i + 2] + 2 * p[i] - k[i]) / s[i] + 1);
  }
  check(k.product() <= 255, op, ": expected windows of up to 255 places, got ", k);
  return out;
}

}  // namespace

std::array<Meta, 4> BatchNormReluMaxPool::infer(Inputs in) const {
  const Tensor& x = in[0];
  BatchNormForward norm;
  norm.training = true, norm.momentum = momentum, norm.eps = eps;
  const auto [y, mean, invstd] = norm.infer(in);
  const Dims sizes = pooled_sizes("batch_norm_relu_max_pool", x, kernel_size, stride, padding), strides = channels_last_strides(sizes);
  return {Meta(sizes, strides, x.dtype(), x.device()), Meta(sizes, strides, DType::uint8, x.device()), mean, invstd};
}
std::array<Meta, 3> BatchNormReluMaxPoolBackward::infer(Inputs in) const {
  const Tensor &dy = in[0], &places = in[1], &x = in[2];
  const Dims sizes = pooled_sizes("batch_norm_relu_max_pool_backward", x, kernel_size, stride, padding);
  check(dy.sizes() == sizes && dy.dtype() == x.dtype() && places.sizes() == sizes && places.dtype() == DType::uint8, "batch_norm_relu_max_pool_backward: expected gradients and places of sizes ", sizes, ", in ",
        name_of(x.dtype()), " and uint8, got ", dy.sizes(), " and ", places.sizes(), ", in ", name_of(dy.dtype()), " and ", name_of(places.dtype()));
  BatchNormReluBackward norm;
  norm.eps = eps;
  const Tensor parts[] = {x, x, in[3], in[4], in[5], in[6]};
  auto [dx, dw, db] = norm.infer(parts);
  dx.strides = channels_last_strides(x.sizes());
  return {dx, dw, db};
}

static const BatchNormPoolOps::Registration ops;

}  // namespace weir
