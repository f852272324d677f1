// Pooling over the last two or three axes. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct MaxPool : Op {
  static constexpr Signature signature =
      "max_pool_nd(input: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil_mode: bool) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc = "Largest element of each window and its int64 index in the flattened plane. Shape: (N, C, *in) -> (N, C, *out).";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.outputs = 0b10};
  Dims kernel_size, stride, padding, dilation;
  bool ceil_mode;
  static constexpr Fields fields{&MaxPool::kernel_size, &MaxPool::stride, &MaxPool::padding, &MaxPool::dilation, &MaxPool::ceil_mode};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MaxPoolBackward : Op {
  static constexpr Signature signature = "max_pool_backward(grad_output: Tensor, indices: Tensor, input_size: list[int]) -> Tensor";
  static constexpr auto doc = "Adds each gradient at its index. Shape: input_size.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b10};
  Dims input_size;
  static constexpr Fields fields{&MaxPoolBackward::input_size};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct AvgPool : Op {
  static constexpr Signature signature =
      "avg_pool_nd(input: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], ceil_mode: bool, count_include_pad: bool, divisor_override: int | None) -> Tensor";
  static constexpr auto doc = "Mean of each window. Shape: (N, C, *in) -> (N, C, *out).";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  Dims kernel_size, stride, padding;
  bool ceil_mode, count_include_pad;
  std::optional<int64_t> divisor_override;
  static constexpr Fields fields{&AvgPool::kernel_size, &AvgPool::stride, &AvgPool::padding, &AvgPool::ceil_mode,
                                     &AvgPool::count_include_pad, &AvgPool::divisor_override};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct AvgPoolBackward : Op {
  static constexpr Signature signature =
      "avg_pool_backward(grad_output: Tensor, input_size: list[int], kernel_size: list[int], stride: list[int], padding: list[int], ceil_mode: bool, count_include_pad: bool, divisor_override: int | None) -> Tensor";
  static constexpr auto doc = "Spreads each gradient over its window. Shape: input_size.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  Dims input_size, kernel_size, stride, padding;
  bool ceil_mode, count_include_pad;
  std::optional<int64_t> divisor_override;
  static constexpr Fields fields{&AvgPoolBackward::input_size, &AvgPoolBackward::kernel_size, &AvgPoolBackward::stride,
                                     &AvgPoolBackward::padding, &AvgPoolBackward::ceil_mode, &AvgPoolBackward::count_include_pad,
                                     &AvgPoolBackward::divisor_override};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct AdaptiveAvgPool : Op {
  static constexpr Signature signature = "adaptive_avg_pool_nd(input: Tensor, output_size: list[int]) -> Tensor";
  static constexpr auto doc = "Means over windows chosen so that the result has output_size. Shape: (N, C, *in) -> (N, C, *output_size).";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Layouts layouts = Layouts::any;
  Dims output_size;
  static constexpr Fields fields{&AdaptiveAvgPool::output_size};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct AdaptiveAvgPoolBackward : Op {
  static constexpr Signature signature = "adaptive_avg_pool_backward(grad_output: Tensor, input_size: list[int]) -> Tensor";
  static constexpr auto doc = "Spreads each gradient over its window. Shape: input_size.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  Dims input_size;
  static constexpr Fields fields{&AdaptiveAvgPoolBackward::input_size};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MaxPool2dWithIndices : Op {
  static constexpr Signature signature =
      "max_pool2d_with_indices(input: Tensor, kernel_size: int | list[int], stride: int | list[int] = [], padding: int | list[int] = 0, dilation: int | list[int] = 1, ceil_mode: bool = False) -> list[Tensor]";
  static constexpr auto doc = "Largest element of each window and its index; an empty stride means kernel_size.";
  static constexpr Module module = Module::hidden;
  Dims kernel_size, stride, padding, dilation;
  bool ceil_mode;
  static constexpr Fields fields{&MaxPool2dWithIndices::kernel_size, &MaxPool2dWithIndices::stride, &MaxPool2dWithIndices::padding,
                                     &MaxPool2dWithIndices::dilation, &MaxPool2dWithIndices::ceil_mode};
  Tensors compose(Inputs in) const;
};

struct AvgPool2d : Op {
  static constexpr Signature signature =
      "avg_pool2d(input: Tensor, kernel_size: int | list[int], stride: int | list[int] = [], padding: int | list[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor";
  static constexpr auto doc = "Mean of each window; an empty stride means kernel_size.";
  static constexpr OutRule out{Out::same};
  static constexpr Module module = Module::functional;
  Dims kernel_size, stride, padding;
  bool ceil_mode, count_include_pad;
  std::optional<int64_t> divisor_override;
  static constexpr Fields fields{&AvgPool2d::kernel_size, &AvgPool2d::stride, &AvgPool2d::padding, &AvgPool2d::ceil_mode,
                                     &AvgPool2d::count_include_pad, &AvgPool2d::divisor_override};
  Tensor compose(Inputs in) const;
};

struct MaxPool3dWithIndices : Op {
  static constexpr Signature signature =
      "max_pool3d_with_indices(input: Tensor, kernel_size: int | list[int], stride: int | list[int] = [], padding: int | list[int] = 0, dilation: int | list[int] = 1, ceil_mode: bool = False) -> list[Tensor]";
  static constexpr auto doc = "Largest element of each window and its index; an empty stride means kernel_size.";
  static constexpr Module module = Module::hidden;
  Dims kernel_size, stride, padding, dilation;
  bool ceil_mode;
  static constexpr Fields fields{&MaxPool3dWithIndices::kernel_size, &MaxPool3dWithIndices::stride, &MaxPool3dWithIndices::padding,
                                     &MaxPool3dWithIndices::dilation, &MaxPool3dWithIndices::ceil_mode};
  Tensors compose(Inputs in) const;
};

struct AvgPool3d : Op {
  static constexpr Signature signature =
      "avg_pool3d(input: Tensor, kernel_size: int | list[int], stride: int | list[int] = [], padding: int | list[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> Tensor";
  static constexpr auto doc = "Mean of each window; an empty stride means kernel_size.";
  static constexpr OutRule out{Out::same};
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr Module module = Module::functional;
  Dims kernel_size, stride, padding;
  bool ceil_mode, count_include_pad;
  std::optional<int64_t> divisor_override;
  static constexpr Fields fields{&AvgPool3d::kernel_size, &AvgPool3d::stride, &AvgPool3d::padding, &AvgPool3d::ceil_mode,
                                     &AvgPool3d::count_include_pad, &AvgPool3d::divisor_override};
  Tensor compose(Inputs in) const;
};

using PoolOps = OpList<MaxPool, MaxPoolBackward, AvgPool, AvgPoolBackward, AdaptiveAvgPool,
                       AdaptiveAvgPoolBackward, MaxPool2dWithIndices, AvgPool2d, MaxPool3dWithIndices, AvgPool3d>;

namespace fn {
inline constexpr Fn<MaxPool> max_pool_nd;
inline constexpr Fn<MaxPoolBackward> max_pool_backward;
inline constexpr Fn<AvgPool> avg_pool_nd;
inline constexpr Fn<AvgPoolBackward> avg_pool_backward;
inline constexpr Fn<AdaptiveAvgPool> adaptive_avg_pool_nd;
inline constexpr Fn<AdaptiveAvgPoolBackward> adaptive_avg_pool_backward;
inline constexpr Fn<MaxPool2dWithIndices> max_pool2d_with_indices;
inline constexpr Fn<AvgPool2d> avg_pool2d;
inline constexpr Fn<MaxPool3dWithIndices> max_pool3d_with_indices;
inline constexpr Fn<AvgPool3d> avg_pool3d;
}  // namespace fn

}  // namespace weir
