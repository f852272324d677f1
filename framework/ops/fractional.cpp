#include "framework/ops/fractional.h"

#include <cmath>

#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/random.h"
#include "framework/ops/view.h"

namespace weir {

std::array<Meta, 2> FractionalMaxPool::infer(Inputs in) const {
  const Tensor &x = in[0], &samples = in[1];
  const int axes = kernel_size.n;
  check((axes == 2 || axes == 3) && output_size.n == axes, "fractional_max_pool: kernel_size and output_size must have two or three numbers, got ",
        kernel_size, " and ", output_size);
  check(x.ndim() == axes + 2, "fractional_max_pool", axes, "d: expected ", axes + 2, "-d input, got ", x.sizes());
  check(samples.dtype() == x.dtype(), "Expect _random_samples to have the same dtype as input, got ", name_of(samples.dtype()), " and ", name_of(x.dtype()));
  check<NotImplemented>(x.numel() == 0 || output_size.contains(0) || is_floating(x.dtype()), "fractional_max_pool: not implemented for '", name_of(x.dtype()), "'");
  check(samples.ndim() == 3 && samples.size(0) >= x.size(0) && samples.size(1) >= x.size(1) && samples.size(2) == axes,
        "Expect _random_samples to have at least the sizes (", x.size(0), ", ", x.size(1), ", ", axes, "), got ", samples.sizes());
  Dims sizes{x.size(0), x.size(1)};
  for (int i = 0; i < axes; i++) {
    const int64_t n = x.size(i + 2);
    check(n > 0 && x.size(1) > 0, "fractional_max_pool: Expected input to have non-zero size for non-batch dimensions, got ", x.sizes());
    check(output_size[i] >= 0, "fractional_max_pool: expected output_size to be at least 0, got ", output_size);  // a window of nothing has -inf
    check(output_size[i] <= n - kernel_size[i] + (axes == 2), "fractional_max_pool", axes, "d: pool size ", kernel_size[i], " and output size ",
          output_size[i], " are too large relative to input size ", n);
    sizes.insert(sizes.n, output_size[i]);
  }
  return {Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
}
Tensors FractionalMaxPool::vjp(const Saved& s, const Tensor& dy) const {
  const Meta& m = s.input_meta(0);
  Tensor planes = fn::flatten(zeros_of(m), 2, -1);
  Tensor grad = scatter_add_of(planes, -1, fn::flatten(detach(s.output(1)), 2, -1), fn::flatten(dy, 2, -1));
  return {fn::reshape(grad, m.sizes), Tensor()};
}

// An image without channels is fine, a batch of them is not.
static Tensors of_no_channels(const std::string& op, const Tensor& x, const Dims& kernel, const Dims& size) {
  Dims sizes{0};
  for (int i = 0; i < size.n; i++) {
    check(size[i] + kernel[i] - (size.n == 2) <= x.size(i + 1), op, ": pool size ", kernel[i], " and output size ", size[i],
          " are too large relative to input size ", x.size(i + 1));
    sizes.push(size[i]);
  }
  return {fn::reshape(x, sizes), unfilled(Meta(sizes, DType::int64, x.device()))};
}

Tensors FractionalPool::compose(Inputs in) const {
  const Tensor& x = in[0];
  Tensor samples = in[1];
  const int n = int(axes);
  const std::string op = str("fractional_max_pool", n, "d");
  check(kernel_size.n == n, op, ": kernel_size must either be a single int or a tuple of ", n, " ints, but got ", kernel_size);
  check(!output_size || output_size->n == n, op, ": output_size must either be a single int or a tuple of ", n, " ints, but got ", output_size.value_or(Dims()));
  if (!samples) wrap_dim(-n - 1, x.ndim(), op.c_str());  // PyTorch draws as many samples before it looks at the axes
  check(x.ndim() == n + 1 || x.ndim() == n + 2, op, ": expected ", n + 1, "D or ", n + 2, "D input, but got ", x.sizes());
  check(!samples || !mode.grad || !samples.has_flag(kRequiresGrad), op, " is not differentiable with respect to argument 'random_samples'");
  check<ValueError>(output_size || output_ratio, op, " requires specifying either an output_size or an output_ratio");
  check(output_size || output_ratio->n == n, "output_ratio must be one number or ", n, " numbers");
  Dims size = output_size.value_or(Dims());
  for (int i = 0; i < n && !output_size; i++) {
    const double part = double(x.size(i - n)) * (*output_ratio)[i];
    check<ValueError>(std::fabs(part) < 0x1p63, op, ": expected output_ratio to give a size, got ", part);
    size.push(int64_t(part));
  }
  const bool single = x.ndim() == n + 1;
  check(!is_complex(x.dtype()) || !is_differentiated(x), op, " does not support automatic differentiation for outputs with complex dtype.");
  if (single && x.size(0) == 0) return of_no_channels(op, x, kernel_size, size);
  const Tensor images = single ? fn::unsqueeze(x, int64_t(0)) : x;
  if (!samples) {
    samples = unfilled(Meta(Dims{images.size(0), images.size(1), axes}, x.dtype(), x.device()));
    fn::uniform.inplace(samples, 0.0, 1.0);
  }
  check(samples.ndim() != 3 || samples.size(1) == images.size(1), op, ": Expect _random_samples.size(1) equals to input channel size.");
  const auto r = fn::fractional_max_pool(images, samples, kernel_size, size);
  return single ? Tensors{fn::squeeze(r[0], Dims{0}), fn::squeeze(r[1], Dims{0})} : Tensors{r[0], r[1]};
}

static const FractionalOps::Registration ops;

}  // namespace weir
