#include "framework/ops/batch_norm_convolution.h"

#include <algorithm>

#include "framework/ops/conv.h"
#include "framework/ops/norm.h"

namespace weir {
namespace {

void check_kernel(const char* op, const Tensor& w, const Tensor& x) {
  check(x.ndim() > 2 && w.ndim() == x.ndim() && std::all_of(w.sizes().begin() + 2, w.sizes().end(), [](int64_t k) { return k == 1; }), op,
        ": expected pictures and a kernel of single places, got ", x.sizes(), " and ", w.sizes());
}

}  // namespace

std::array<Meta, 2> BatchNormApplyPositive::infer(Inputs in) const {
  BatchNormApply apply;
  apply.relu = true;
  const Meta y = apply.infer(in);
  return {y, Meta(Dims{(y.sizes.product() + 7) / 8}, DType::uint8, in[0].device())};
}
std::array<Meta, 5> BatchNormConvolutionStatistics::infer(Inputs in) const {
  const auto [y, positive] = BatchNormApplyPositive().infer(in.first(10));
  ConvolutionBatchNormStatistics convolution;
  convolution.momentum = momentum, convolution.eps = eps;
  const auto [convolved, mean, invstd] = convolution.infer(std::array{symbolic(y), in[10], in[11], in[12]});
  return {y, positive, convolved, mean, invstd};
}

std::array<Meta, 3> ConvolutionBatchNormStatistics::infer(Inputs in) const {
  check_kernel("convolution_batch_norm_statistics", in[1], in[0]);
  const Meta y = plain_convolution<Convolution>(in[0].ndim() - 2).infer(std::array{in[0], in[1], Tensor()});
  BatchNormStatistics statistics;
  statistics.momentum = momentum, statistics.eps = eps;
  const auto [mean, invstd] = statistics.infer(std::array{symbolic(y), in[2], in[3]});
  return {y, mean, invstd};
}

std::array<Meta, 4> ConvolutionSumReluBatchNormBackward::infer(Inputs in) const {
  constexpr auto name = "convolution_sum_relu_batch_norm_backward";
  const Tensor &dy = in[0], &w = in[1], &y = in[3], &x = in[4];
  check_kernel(name, w, x);
  Dims seen = x.sizes();
  seen[1] = w.sizes()[0];
  check(dy.sizes() == seen && w.sizes()[1] == x.sizes()[1], name, ": expected a gradient of sizes ", seen, " and a kernel for ", x.sizes()[1], " channels, got ", dy.sizes(), " and ", w.sizes());
  ConvolutionInput input = plain_convolution<ConvolutionInput>(x.ndim() - 2);
  input.input_size = x.sizes();
  const Tensor sum = symbolic(input.infer(std::array{dy, w, Tensor()}));
  BatchNormSumReluBackward whole;
  whole.training = training, whole.eps = eps, whole.step = step;
  return whole.infer(std::array{sum, in[2], y, x, in[5], in[6], in[7]});
}

std::array<Meta, 4> ConvolutionSumReluBatchNormSums::infer(Inputs in) const {
  ConvolutionSumReluBatchNormBackward whole;
  whole.training = true, whole.eps = eps, whole.step = step;
  const auto [sum, dx, dw, db] = whole.infer(in);
  return {sum, Meta(Dims{3, in[4].sizes()[1]}, DType::float64, in[4].device()), dw, db};
}

std::array<Meta, 2> BatchNormConvolutionGradients::infer(Inputs in) const {
  const Tensor &x = in[0], &dy = in[1], &y = in[2], &c = in[3], &w = in[4];
  check_kernel("batch_norm_convolution_gradients", w, x);
  check(y.sizes() == dy.sizes() && y.dtype() == dy.dtype(), "batch_norm_convolution_gradients: expected two tensors of one dtype and shape, got ", dy.sizes(), " and ", y.sizes());
  check(c.dtype() == DType::float64 && c.is_contiguous() && c.sizes() == Dims{3, w.sizes()[0]}, "batch_norm_convolution_gradients: expected float64 coefficients of sizes ", Dims{3, w.sizes()[0]}, ", got ",
        name_of(c.dtype()), " of ", c.sizes());
  return plain_convolution<ConvolutionGradients>(x.ndim() - 2).infer(std::array{x, dy, w});
}

static const BatchNormConvolutionOps::Registration ops;

}  // namespace weir
