#include "framework/ops/fractional.h"

#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/view.h"

namespace weir {

std::array<Meta, 2> FractionalMaxPool::infer(Inputs in) const {
  const Tensor &x = in[0], &samples = in[1];
  const int axes = kernel_size.n;
  check((axes == 2 || axes == 3) && output_size.n == axes, "fractional_max_pool: kernel_size and output_size must have two or three numbers, got ",
        kernel_size, " and ", output_size);
  check(x.ndim() == axes + 2, "fractional_max_pool", axes, "d: expected ", axes + 2, "-d input, got ", x.sizes());
  check<NotImplemented>(is_floating(x.dtype()), "fractional_max_pool: not implemented for '", name_of(x.dtype()), "'");
  check(samples.dtype() == x.dtype(), "Expect _random_samples to have the same dtype as input, got ", name_of(samples.dtype()), " and ", name_of(x.dtype()));
  check(samples.ndim() == 3 && samples.size(0) >= x.size(0) && samples.size(1) >= x.size(1) && samples.size(2) == axes,
        "Expect _random_samples to have at least the sizes (", x.size(0), ", ", x.size(1), ", ", axes, "), got ", samples.sizes());
  Dims sizes{x.size(0), x.size(1)};
  for (int i = 0; i < axes; i++) {
    const int64_t n = x.size(i + 2);
    check(n > 0 && x.size(1) > 0, "fractional_max_pool: Expected input to have non-zero size for non-batch dimensions, got ", x.sizes());
    check(output_size[i] >= 0, "fractional_max_pool: expected output_size to be at least 0, got ", output_size);  // a window of nothing has -inf
    check(kernel_size[i] <= n && output_size[i] <= n - kernel_size[i] + (axes == 2), "fractional_max_pool", axes, "d: pool size ", kernel_size[i], " and output size ",
          output_size[i], " are too large relative to input size ", n);
    sizes.insert(sizes.n, output_size[i]);
  }
  return {Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
}
Tensors FractionalMaxPool::vjp(const Saved& s, const Tensor& dy) const {
  const Meta& m = s.input_meta(0);
  Tensor planes = fn::flatten(zeros_of(m), 2, -1);
  Tensor grad = fn::scatter_add(planes, -1, fn::flatten(detach(s.output(1)), 2, -1), fn::flatten(dy, 2, -1));
  return {fn::reshape(grad, m.sizes), Tensor()};
}

static const FractionalOps::Registration ops;

}  // namespace weir
