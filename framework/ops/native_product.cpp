#include "framework/ops/native_product.h"

#include "framework/ops/activation.h"
#include "framework/ops/conv.h"
#include "framework/ops/create.h"
#include "framework/ops/matmul.h"

namespace weir {

Tensor NativeConvolution::compose(Inputs in) const {
  const Tensor &x = in[0], &weight = in[1], &bias = in[2];
  const int rank = weight.ndim() - 2;
  check(x.ndim() == weight.ndim(), "convolution: expected input and weight of one rank, but got shapes ", x.sizes(), " and ", weight.sizes());
  check(rank >= 1 && rank <= 3, "convolution: expected a weight of 3 to 5 dimensions, but got ", weight.ndim());
  check(output_padding.n == 1 || output_padding.n == rank, "expected output_padding to be a single integer value or a list of ", rank,
        " values to match the convolution dimensions, but got output_padding=", output_padding);
  for (int64_t p : output_padding) check(p >= 0, "negative output_padding is not supported");
  if (!transposed) {
    if (rank == 1) return fn::conv1d(x, weight, bias, stride, padding, dilation, groups);
    if (rank == 2) return fn::conv2d(x, weight, bias, stride, padding, dilation, groups);
    return fn::conv3d(x, weight, bias, stride, padding, dilation, groups);
  }
  if (rank == 1) return fn::conv_transpose1d(x, weight, bias, stride, padding, output_padding, groups, dilation);
  if (rank == 2) return fn::conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation);
  return fn::conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups, dilation);
}

Tensor AddmmActivation::compose(Inputs in) const {
  const Tensor sum = fn::addmm(in[0], in[1], in[2], beta, alpha);
  return use_gelu ? fn::gelu(sum) : fn::relu(sum);
}

// In int32, where sums past its end wrap around, as in PyTorch.
Tensor IntMm::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1];
  for (const Tensor& t : in) check(t.ndim() == 2, "_int_mm: expected matrices, but got a tensor of ", t.ndim(), " dimensions");
  check(a.size(1) == b.size(0), "_int_mm: shapes ", a.sizes(), " and ", b.sizes(), " cannot be multiplied");
  check(a.dtype() == DType::int8 || a.dtype() == DType::uint8, "_int_mm: expected input of int8 or uint8, but got ", name_of(a.dtype()));
  check(b.dtype() == DType::int8, "_int_mm: expected mat2 of int8, but got ", name_of(b.dtype()));
  return fn::mm(cast_to(a, DType::int32), cast_to(b, DType::int32));
}
void IntMm::take_out(Inputs in, const Tensor& out) const {
  check(in[0].ndim() != 2 || in[1].ndim() != 2 || out.sizes() == Dims{in[0].size(0), in[1].size(1)}, "_int_mm: expected out of the product's shape, but got ",
        out.sizes());
  check(out.is_contiguous(), "_int_mm: expected a contiguous out, but got strides ", out.strides());
}

static const NativeProductOps::Registration ops;

}  // namespace weir
