#include "framework/ops/pool_adaptive.h"

#include "framework/ops/create.h"
#include "framework/ops/pool.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// The last `filled` extents may not be 0, those of a batch aside.
void check_call(const char* op, const Tensor& x, const Dims& size, int n, int filled) {
  check(x.ndim() == n + 1 || x.ndim() == n + 2, op, "(): Expected ", n + 1, "D or ", n + 2, "D tensor, but got ", x.sizes());
  check(size.n == n, op, ": output_size must be ", n);
  for (int64_t s : size) check(s >= 0, op, ": elements of output_size must be greater than or equal to 0 but received ", size);
  for (int i = std::max(x.ndim() - filled, 1); i < x.ndim(); i++)
    check(x.sizes()[i] > 0, op, "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ", x.sizes());
}

Tensor mean_of(const Tensor& x, int n) {
  Dims last;
  for (int d = -n; d < 0; d++) last.push(d);
  return fn::mean(x, last, true);
}

template <class F> Tensor batched(const Tensor& x, int n, F&& pool) {
  return x.ndim() == n + 2 ? pool(x) : fn::squeeze(pool(fn::unsqueeze(x, int64_t(0))), Dims{0});
}

Tensor averages(const char* op, const Tensor& x, const Dims& size, int n) {
  const bool whole = size == Dims(n, 1), regular = x.ndim() == n + 1 || x.ndim() == n + 2;
  // Source: PyTorch takes this for a mean before it looks at input, and so do volumes.
  if (whole && (!regular || x.numel() == 0 || n == 3)) {
    const Tensor mean = mean_of(x, n);
    if (n != 3 || x.ndim() != 5 || !suggests_channels_last(x.sizes(), x.strides())) return mean;
    return fn::as_strided(mean, mean.sizes(), channels_last_strides(mean.sizes()));
  }
  check_call(op, x, size, n, n < 3 ? n : n + 1);
  return batched(x, n, [&](const Tensor& images) {
    // Global pooling of row-major planes is a mean over dense lines, which has the faster kernel.
    if (whole && images.is_contiguous()) return mean_of(images, n);
    return fn::adaptive_avg_pool_nd(n == 3 ? contiguous_of(images) : images, size);
  });
}

Tensors maxima(const char* op, const Tensor& x, const Dims& size, int n) {
  check_call(op, x, size, n, n + 1);
  const bool single = x.ndim() == n + 1;
  Tensor images = single ? fn::unsqueeze(x, int64_t(0)) : x;
  if (n == 1) images = fn::unsqueeze(images, int64_t(-2));  // of one row, whose layout is the result's
  auto r = fn::adaptive_max_pool_nd(images, n == 1 ? Dims{1, size[0]} : size);
  for (Tensor& t : r) {
    if (n == 1) t = fn::squeeze(t, Dims{-2});
    if (single) t = fn::squeeze(t, Dims{0});
  }
  return {r[0], r[1]};
}

}  // namespace

std::array<Meta, 2> AdaptiveMaxPool::infer(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(is_floating(x.dtype()), "\"adaptive_max_pool\" not implemented for '", name_of(x.dtype()), "'");
  Dims sizes{x.sizes()[0], x.sizes()[1]};
  for (int64_t n : output_size) sizes.push(n);
  std::array<Meta, 2> metas{Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
  if (output_size.n == 2 && suggests_channels_last(x.sizes(), x.strides()))
    for (Meta& m : metas) m.strides = channels_last_strides(sizes);
  return metas;
}

Tensors AdaptiveMaxPool::vjp(const Saved& s, const Tensor& dy) const {
  const Dims& sizes = s.input_meta(0).sizes;
  if (!dy || dy.numel() == 0) return {zeros_of(Meta(sizes, s.input_meta(0).dtype, s.input_meta(0).device))};
  return {fn::max_pool_backward(dy, s.output(1), sizes)};
}

Tensor AdaptiveAvgPool1d::compose(Inputs in) const {
  const Tensor& x = in[0];
  if (output_size == Dims{1} && x.numel() == 0 && (x.ndim() == 2 || x.ndim() == 3)) return mean_of(x, 1);
  check_call("adaptive_avg_pool1d", x, output_size, 1, 1);
  return fn::squeeze(fn::adaptive_avg_pool2d(fn::unsqueeze(x, int64_t(-2)), Dims{1, output_size[0]}), Dims{-2});
}
Tensor AdaptiveAvgPool2d::compose(Inputs in) const { return averages("adaptive_avg_pool2d", in[0], output_size, 2); }
Tensor AdaptiveAvgPool3d::compose(Inputs in) const { return averages("adaptive_avg_pool3d", in[0], output_size, 3); }
Tensors AdaptiveMaxPool1d::compose(Inputs in) const { return maxima("adaptive_max_pool1d", in[0], output_size, 1); }
Tensors AdaptiveMaxPool2d::compose(Inputs in) const { return maxima("adaptive_max_pool2d", in[0], output_size, 2); }
Tensors AdaptiveMaxPool3d::compose(Inputs in) const { return maxima("adaptive_max_pool3d", in[0], output_size, 3); }

static const PoolAdaptiveOps::Registration ops;

}  // namespace weir
