#include "framework/ops/im2col.h"

#include <tuple>

namespace weir {
namespace {

void check_window(const char* op, const Tensor& x, const Window& w) {
  for (auto [what, values, least] : {std::tuple{"kernel_size", &w.kernel, 1}, {"dilation", &w.dilation, 1}, {"padding", &w.padding, 0}, {"stride", &w.stride, 1}}) {
    check(values->n == 2, op, ": It is expected ", what, " equals to 2, but got size ", values->n);
    for (int64_t v : *values)
      check(v >= least, op, ": ", what, " should be ", least ? "greater than zero" : "non-negative", ", but got ", what, ": ", *values);
  }
  check<NotImplemented>(is_inexact(x.dtype()) || x.dtype() == DType::boolean, op, ": not implemented for '", name_of(x.dtype()), "'");
}

}  // namespace

int64_t Window::starts(int64_t length, int axis) const {
  const int64_t reach = checked_add(checked_mul(dilation[axis], kernel[axis] - 1), 1), room = checked_sub(checked_add(length, checked_mul(2, padding[axis])), reach);
  return room < 0 ? 0 : room / stride[axis] + 1;
}

Meta Im2col::infer(Inputs in) const {
  const Tensor& x = in[0];
  const Window w = window();
  check_window("unfold", x, w);
  const int n = x.ndim();
  check((n == 3 || n == 4) && x.size(-1) && x.size(-2) && x.size(-3), "unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
        "non-zero dimensions for input, but got: ", x.sizes());
  const int64_t rows = w.starts(x.size(-2), 0), columns = w.starts(x.size(-1), 1);
  check(rows > 0 && columns > 0, "unfold: the window does not fit: ", rows, " x ", columns, " blocks of an input ", x.sizes());
  Dims sizes;
  if (n == 4) sizes.push(x.size(0));
  sizes.push(checked_mul(x.size(-3), w.kernel.product()));
  sizes.push(checked_mul(rows, columns));
  return {sizes, x.dtype(), x.device()};
}
Tensors Im2col::vjp(const Saved& s, const Tensor& dy) const {
  const Dims& sizes = s.input_meta(0).sizes;
  return {fn::col2im(dy, Dims{sizes[sizes.n - 2], sizes[sizes.n - 1]}, kernel_size, dilation, padding, stride)};
}

Meta Col2im::infer(Inputs in) const {
  const Tensor& x = in[0];
  const Window w = window();
  const Dims output_size = both(this->output_size);
  check_window("fold", x, w);
  check(output_size.n == 2, "fold: It is expected output_size equals to 2, but got size ", output_size.n);
  check(output_size[0] > 0 && output_size[1] > 0, "fold: output_size should be greater than zero, but got ", output_size);
  const int n = x.ndim();
  check((n == 2 || n == 3) && x.size(-1) && x.size(-2), "fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
        "dimensions for input, but got: ", x.sizes());
  check(x.size(-2) % w.kernel.product() == 0, "fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
        x.size(-2), " and kernel_size=", w.kernel, ".");
  const int64_t rows = w.starts(output_size[0], 0), columns = w.starts(output_size[1], 1);
  const int64_t blocks = checked_mul(rows, columns);
  check(blocks == x.size(-1), "fold: Given output_size=", output_size, ", kernel_size=", w.kernel, ", expected size of input's dimension 2 to "
        "match the calculated number of sliding blocks ", rows, " * ", columns, " = ", blocks, ", but got input.size(2)=", x.size(-1), ".");
  Dims sizes;
  if (n == 3) sizes.push(x.size(0));
  sizes.push(x.size(-2) / w.kernel.product());
  sizes.push(output_size[0]);
  sizes.push(output_size[1]);
  return {sizes, x.dtype(), x.device()};
}
Tensors Col2im::vjp(const Saved&, const Tensor& dy) const { return {fn::im2col(dy, kernel_size, dilation, padding, stride)}; }

static const Im2colOps::Registration ops;

}  // namespace weir
