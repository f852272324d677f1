// Normalisation layers. Source: Ioffe and Szegedy 2015 (batch), Ba et al. 2016 (layer), Wu and He 2018 (group).
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Of so few float32 numbers cancellation can leave next to nothing of a norm's gradients (of two, one part in var / eps), so
/// they are computed in double.
constexpr int64_t kShortRow = 16;

struct BatchNormForward : Op {
  static constexpr Signature signature =
      "batch_norm_forward(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr Module module = Module::hidden;
  static constexpr auto doc = "Normalises axis 1 over the others, and the statistics, in float32 of halves; in training updates the running statistics in place. Shape: as input.";
  static constexpr Notation notation = "ncX, c, c, c, c -> ncX, c, c";
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b11011, .outputs = 0b110};
  static constexpr GradientRule gradient{.outputs = 0b1};
  bool training;
  double momentum, eps;
  static constexpr Fields fields{&BatchNormForward::training, &BatchNormForward::momentum, &BatchNormForward::eps};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// What a graph makes of batch norm, an addition and ReLU: one pass over memory instead of three.
struct BatchNormRelu : Op {
  static constexpr Signature signature =
      "batch_norm_relu(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, other: Tensor | None, other_mean: Tensor | None, other_invstd: Tensor | None, other_weight: Tensor | None, other_bias: Tensor | None, training: bool, momentum: float, eps: float) -> (output: Tensor, save_mean: Tensor, save_invstd: Tensor)";
  static constexpr auto doc = "relu(batch_norm(input) + other), rounded after each step. Other is normalised first, as by batch_norm_apply, where its statistics are given.";
  static constexpr Notation notation = "ncX, c, c, c, c, ncX, c, c, c, c -> ncX, c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  bool training;
  double momentum, eps;
  static constexpr Fields fields{&BatchNormRelu::training, &BatchNormRelu::momentum, &BatchNormRelu::eps};
  std::array<Meta, 3> infer(Inputs in) const;
};

/// Batch norm once more, from the statistics that were saved: the same bits without another pass over the input to find them.
struct BatchNormApply : Op {
  static constexpr Signature signature =
      "batch_norm_apply(input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, other: Tensor | None, other_mean: Tensor | None, other_invstd: Tensor | None, other_weight: Tensor | None, other_bias: Tensor | None, relu: bool) -> Tensor";
  static constexpr auto doc = "(input - mean) * invstd * weight + bias, and with relu relu(that + other), rounded after each step. Other is normalised too where its statistics are given.";
  static constexpr Notation notation = "ncX, c, c, c, c, ncX, c, c, c, c -> ncX";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  bool relu;
  static constexpr Fields fields{&BatchNormApply::relu};
  Meta infer(Inputs in) const;
};

/// The statistics of batch norm alone, where another node normalises.
struct BatchNormStatistics : Op {
  static constexpr Signature signature =
      "batch_norm_statistics(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float, eps: float) -> (save_mean: Tensor, save_invstd: Tensor)";
  static constexpr auto doc = "What batch_norm_forward saves in training; updates the running statistics in place.";
  static constexpr Notation notation = "ncX, c, c -> c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double momentum, eps;
  static constexpr Fields fields{&BatchNormStatistics::momentum, &BatchNormStatistics::eps};
  std::array<Meta, 2> infer(Inputs in) const;
};

struct BatchNormBackward : Op {
  static constexpr Signature signature =
      "batch_norm_backward(grad_output: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, training: bool, eps: float) -> (grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc = "Gradients of batch_norm_forward.";
  static constexpr Notation notation = "ncX, ncX, c, c, c -> ncX, c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b11111};
  bool training;
  double eps;
  static constexpr Fields fields{&BatchNormBackward::training, &BatchNormBackward::eps};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// What a graph makes of the gradients of ReLU and of the batch norm in front of it: one pass over memory less for each of three tensors.
struct BatchNormReluBackward : Op {
  static constexpr Signature signature =
      "batch_norm_relu_backward(grad_output: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> (grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc = "Gradients of relu(batch_norm(input)) in training, from the statistics that were saved. What ReLU gave is computed again, to the same bits.";
  static constexpr Notation notation = "ncX, ncX, c, c, c, c -> ncX, c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double eps;
  static constexpr Fields fields{&BatchNormReluBackward::eps};
  std::array<Meta, 3> infer(Inputs in) const;
};

/// What a graph makes of the gradients of an addition, the ReLU behind it and the batch norm that was added: the first pass over memory makes what
/// others read of them.
struct BatchNormSumReluBackward : Op {
  static constexpr Signature signature =
      "batch_norm_sum_relu_backward(grad_output: Tensor, other: Tensor, output: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None, training: bool, eps: float, step: list[int]) -> (grad_sum: Tensor, grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc =
      "grad_output + other where output is not 0, rounded after each step, and what batch_norm_backward makes of that. With a `step` for each axis X other has those "
      "places alone that are multiples of it, and is 0 between them. Output may be the bits of batch_norm_apply_positive, in the order of grad_sum's memory.";
  static constexpr Notation notation = "ncX, ncY, Z, ncX, c, c, c -> ncX, ncX, c, c";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  bool training;
  double eps;
  Dims step;
  static constexpr Fields fields{&BatchNormSumReluBackward::training, &BatchNormSumReluBackward::eps, &BatchNormSumReluBackward::step};
  std::array<Meta, 4> infer(Inputs in) const;
};

struct BatchNorm : Op {
  static constexpr Signature signature =
      "batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float, eps: float, cudnn_enabled: bool) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "Normalises axis 1 over the others; in training updates the running statistics in place. Shape: as input.";
  static constexpr OutRule out{Out::none};
  bool training;
  double momentum, eps;
  bool cudnn_enabled;
  static constexpr Fields fields{&BatchNorm::training, &BatchNorm::momentum, &BatchNorm::eps, &BatchNorm::cudnn_enabled};
  Tensor compose(Inputs in) const;
};

struct LayerNormForward : Op {
  static constexpr Signature signature =
      "layer_norm_forward(input: Tensor, normalized_shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float) -> (output: Tensor, mean: Tensor, rstd: Tensor)";
  static constexpr Module module = Module::hidden;
  static constexpr auto doc = "Normalises the last axes, those of normalized_shape. Shape: as input.";
  static constexpr Notation notation = "along normalized_shape";
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b110};
  static constexpr GradientRule gradient{.outputs = 0b1};
  static constexpr OutRule out{Out::none};
  Dims normalized_shape;
  double eps;
  static constexpr Fields fields{&LayerNormForward::normalized_shape, &LayerNormForward::eps};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LayerNormBackward : Op {
  static constexpr Signature signature =
      "layer_norm_backward(grad_output: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, normalized_ndim: int, eps: float, parameters: bool) -> (grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc = "Gradients of layer_norm_forward; without `parameters` those of weight and bias are empty.";
  static constexpr Notation notation = "along normalized_shape";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11111};
  int64_t normalized_ndim;
  double eps;
  bool parameters;
  static constexpr Fields fields{&LayerNormBackward::normalized_ndim, &LayerNormBackward::eps, &LayerNormBackward::parameters};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LayerNorm : Op {
  static constexpr Signature signature =
      "layer_norm(input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05, cudnn_enable: bool = True) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "Normalises the last axes, those of normalized_shape, then scales and shifts. Shape: as input.";
  static constexpr OutRule out{Out::none};
  Dims normalized_shape;
  double eps;
  bool cudnn_enable;
  static constexpr Fields fields{&LayerNorm::normalized_shape, &LayerNorm::eps, &LayerNorm::cudnn_enable};
  Tensor compose(Inputs in) const;
};

/// The one dtype of the parameters that are given, else x's. RuntimeError unless it is x's or, of halves, float32.
DType check_parameters(const char* op, const Tensor& x, Inputs parameters);

struct GroupNormForward : Op {
  static constexpr Signature signature =
      "group_norm_forward(input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float) -> (output: Tensor, mean: Tensor, rstd: Tensor)";
  static constexpr Module module = Module::hidden;
  static constexpr auto doc = "group_norm in one pass, and its statistics. Shapes: input (N, C, *), row-major or channels_last; weight and bias (C); mean and rstd (N, num_groups).";
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b110};
  static constexpr GradientRule gradient{.outputs = 0b1};
  static constexpr OutRule out{Out::none};
  int64_t num_groups;
  double eps;
  static constexpr Fields fields{&GroupNormForward::num_groups, &GroupNormForward::eps};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GroupNormBackward : Op {
  static constexpr Signature signature =
      "group_norm_backward(grad_output: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, num_groups: int, eps: float) -> (grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor)";
  static constexpr auto doc = "Gradients of group_norm_forward.";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b11111};
  int64_t num_groups;
  double eps;
  static constexpr Fields fields{&GroupNormBackward::num_groups, &GroupNormBackward::eps};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GroupNorm : Op {
  static constexpr Signature signature =
      "group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05, cudnn_enabled: bool = True) -> Tensor";
  static constexpr Module module = Module::function;
  static constexpr auto doc = "Normalises groups of channels with their positions, then scales and shifts per channel. Shape: as input.";
  static constexpr OutRule out{Out::none};
  int64_t num_groups;
  double eps;
  bool cudnn_enabled;
  static constexpr Fields fields{&GroupNorm::num_groups, &GroupNorm::eps, &GroupNorm::cudnn_enabled};
  Tensor compose(Inputs in) const;
};

struct InstanceNorm : Op {
  static constexpr Signature signature =
      "instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool) -> Tensor";
  static constexpr auto doc =
      "Batch norm of every sample by itself; the running statistics become the means over the samples. Shape: as input. Source: Ulyanov et al. 2016.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  bool use_input_stats;
  double momentum, eps;
  bool cudnn_enabled;
  static constexpr Fields fields{&InstanceNorm::use_input_stats, &InstanceNorm::momentum, &InstanceNorm::eps, &InstanceNorm::cudnn_enabled};
  Tensor compose(Inputs in) const;
};

struct RmsNorm : Op {
  static constexpr Signature signature =
      "rms_norm(input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor";
  static constexpr auto doc =
      "x / sqrt(mean(x^2) + eps) * weight over the last axes; eps defaults to the dtype's. Shape: as input. Source: Zhang and Sennrich 2019.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Dims normalized_shape;
  std::optional<double> eps;
  static constexpr Fields fields{&RmsNorm::normalized_shape, &RmsNorm::eps};
  Tensor compose(Inputs in) const;
};

using NormOps = OpList<BatchNormForward, BatchNormRelu, BatchNormApply, BatchNormStatistics, BatchNormBackward, BatchNormReluBackward, BatchNormSumReluBackward, BatchNorm, LayerNormForward, LayerNormBackward,
                       LayerNorm, GroupNormForward, GroupNormBackward, GroupNorm, InstanceNorm, RmsNorm>;

namespace fn {
inline constexpr Fn<BatchNormForward> batch_norm_forward;
inline constexpr Fn<BatchNormBackward> batch_norm_backward;
inline constexpr Fn<BatchNorm> batch_norm;
inline constexpr Fn<LayerNormForward> layer_norm_forward;
inline constexpr Fn<LayerNormBackward> layer_norm_backward;
inline constexpr Fn<LayerNorm> layer_norm;
inline constexpr Fn<GroupNormForward> group_norm_forward;
inline constexpr Fn<GroupNormBackward> group_norm_backward;
inline constexpr Fn<GroupNorm> group_norm;
inline constexpr Fn<InstanceNorm> instance_norm;
inline constexpr Fn<RmsNorm> rms_norm;
}  // namespace fn

/// Raises where the running statistics would require grad, which batch norm does not give them, as PyTorch does before all else.
void check_statistics(const Tensor& mean, const Tensor& var);

/// x * weight + bias by the elements of axis 1, in x's dtype; either may be missing.
Tensor by_channel(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace weir
