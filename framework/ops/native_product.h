// Products under the names of PyTorch's kernels: convolutions of any rank, a product with its activation, and one of bytes.
// Source of each: native_functions.yaml.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct NativeConvolution : Op {
  static constexpr Signature signature =
      "_convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: list[int], padding: list[int], dilation: list[int], transposed: bool, output_padding: list[int], groups: int, benchmark: bool, deterministic: bool, cudnn_enabled: bool, allow_tf32: bool = True) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "conv1d, conv2d or conv3d, or their transposes, by the weight's rank. The flags choose between kernels of other devices.";
  static constexpr OutRule out{Out::none};
  Dims stride, padding, dilation;
  bool transposed;
  Dims output_padding;
  int64_t groups;
  bool benchmark, deterministic, cudnn_enabled, allow_tf32;
  static constexpr Fields fields{&NativeConvolution::stride, &NativeConvolution::padding, &NativeConvolution::dilation,
                                     &NativeConvolution::transposed, &NativeConvolution::output_padding, &NativeConvolution::groups,
                                     &NativeConvolution::benchmark, &NativeConvolution::deterministic, &NativeConvolution::cudnn_enabled,
                                     &NativeConvolution::allow_tf32};
  Tensor compose(Inputs in) const;
};

struct AddmmActivation : Op {
  static constexpr Signature signature =
      "_addmm_activation(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1, use_gelu: bool = False) -> Tensor";
  static constexpr auto doc = "relu of addmm, or gelu of it.";
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::lower;
  Scalar beta, alpha;
  bool use_gelu;
  static constexpr Fields fields{&AddmmActivation::beta, &AddmmActivation::alpha, &AddmmActivation::use_gelu};
  Tensor compose(Inputs in) const;
};

struct IntMm : Op {
  static constexpr Signature signature = "_int_mm(input: Tensor, mat2: Tensor) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "The product of matrices of int8 or uint8 and of int8, in int32. Shapes: (n, m), (m, p) -> (n, p).";
  static constexpr OutRule out{Out::exact};
  Tensor compose(Inputs in) const;
  void take_out(Inputs in, const Tensor& out) const;
};

using NativeProductOps = OpList<NativeConvolution, AddmmActivation, IntMm>;

}  // namespace weir
