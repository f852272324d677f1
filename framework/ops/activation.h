// Activation functions, and the fused gradients of those that training runs in every step.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

struct Relu : Pointwise<Relu, Rule::promote> {
  static constexpr Signature signature = "relu(input: Tensor) -> Tensor";
  static constexpr auto doc = "max(x, 0).";
  static constexpr OutRule out{Out::none};
  static constexpr Save saves{.outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Hardtanh : Pointwise<Hardtanh, Rule::promote> {
  static constexpr Signature signature = "hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor";
  static constexpr auto doc = "x limited to [min_val, max_val].";
  static constexpr CallRule calling{.scalars = true};
  static constexpr Held held = Held::own;
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  double min_val;
  double max_val;
  static constexpr Fields fields{&Hardtanh::min_val, &Hardtanh::max_val};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LeakyRelu : Pointwise<LeakyRelu, Rule::real> {
  static constexpr Signature signature = "leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor";
  static constexpr auto doc = "x above 0, negative_slope * x below.";
  static constexpr CallRule calling{.scalars = true};
  static constexpr Held held = Held::wide;
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  double negative_slope;
  static constexpr Fields fields{&LeakyRelu::negative_slope};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Elu : Pointwise<Elu, Rule::real> {
  static constexpr Signature signature = "elu(input: Tensor, alpha: float = 1.0) -> Tensor";
  static constexpr auto doc = "x above 0, alpha * (exp(x) - 1) below.";
  static constexpr CallRule calling{.scalars = true};
  static constexpr Held held = Held::wide;
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  double alpha;
  static constexpr Fields fields{&Elu::alpha};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Selu : Pointwise<Selu, Rule::real> {
  static constexpr Signature signature = "selu(input: Tensor) -> Tensor";
  static constexpr auto doc = "Elu with the self-normalising constants. Source: Klambauer et al. 2017.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Celu : Pointwise<Celu, Rule::real> {
  static constexpr Signature signature = "celu(input: Tensor, alpha: float = 1.0) -> Tensor";
  static constexpr auto doc = "x above 0, alpha * (exp(x / alpha) - 1) below. RuntimeError for an alpha of 0.";
  static constexpr Module module = Module::function;
  static constexpr CallRule calling{.scalars = true};
  static constexpr Held held = Held::wide;
  static constexpr OutRule out{Out::none};
  static constexpr Save saves{.inputs = 0b1};
  Meta infer(Inputs in) const;
  double alpha;
  static constexpr Fields fields{&Celu::alpha};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Gelu : Pointwise<Gelu, Rule::real> {
  static constexpr Signature signature = "gelu(input: Tensor, *, approximate: str = 'none') -> Tensor";
  static constexpr auto doc = "x times the normal distribution function of x; approximate='tanh' for the fast form.";
  static constexpr OutRule out{Out::same};
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  Str approximate;
  static constexpr Fields fields{&Gelu::approximate};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Silu : Pointwise<Silu, Rule::real> {
  static constexpr Signature signature = "silu(input: Tensor) -> Tensor";
  static constexpr auto doc = "x * sigmoid(x).";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Mish : Pointwise<Mish, Rule::real> {
  static constexpr Signature signature = "mish(input: Tensor) -> Tensor";
  static constexpr auto doc = "x * tanh(softplus(x)).";
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Softplus : Pointwise<Softplus, Rule::real> {
  static constexpr Signature signature = "softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor";
  static constexpr auto doc = "log(1 + exp(beta x)) / beta; x itself where beta x > threshold.";
  static constexpr CallRule calling{.scalars = true};
  static constexpr Held held = Held::wide;
  static constexpr OutRule out{Out::same};
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  double beta;
  double threshold;
  static constexpr Fields fields{&Softplus::beta, &Softplus::threshold};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Softshrink : Pointwise<Softshrink, Rule::real> {
  static constexpr Signature signature = "softshrink(input: Tensor, lambd: float = 0.5) -> Tensor";
  static constexpr auto doc = "x moved towards 0 by lambd.";
  static constexpr CallRule calling{.scalars = true};
  static constexpr OutRule out{Out::same};
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  double lambd;
  static constexpr Fields fields{&Softshrink::lambd};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Hardshrink : Pointwise<Hardshrink, Rule::real> {
  static constexpr Signature signature = "hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor";
  static constexpr auto doc = "x where |x| > lambd, else 0.";
  static constexpr InplaceRule inplace{.offered = false};
  static constexpr CallRule calling{.scalars = true};
  static constexpr Held held = Held::own;
  static constexpr OutRule out{Out::same};
  static constexpr Save saves{.inputs = 0b1};
  double lambd;
  static constexpr Fields fields{&Hardshrink::lambd};
  bool rounds(Inputs, const Meta& m) const { return is_reduced(m.dtype); }  // the kernel computes in float32, PyTorch compares halves
  void round(Tensors&, const Meta& m) { lambd = rounded(lambd, m.dtype); }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Hardsigmoid : Pointwise<Hardsigmoid, Rule::real> {
  static constexpr Signature signature = "hardsigmoid(input: Tensor) -> Tensor";
  static constexpr auto doc = "clamp(x / 6 + 1/2, 0, 1).";
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Hardswish : Pointwise<Hardswish, Rule::real> {
  static constexpr Signature signature = "hardswish(input: Tensor) -> Tensor";
  static constexpr auto doc = "x * hardsigmoid(x).";
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Threshold : Pointwise<Threshold, Rule::promote> {
  static constexpr Signature signature = "threshold(input: Tensor, threshold: Number, value: Number) -> Tensor";
  static constexpr auto doc = "x above the threshold, value elsewhere.";
  static constexpr Module module = Module::function;
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  static constexpr Save saves{.inputs = 0b1};
  Scalar threshold, value;
  static constexpr Fields fields{&Threshold::threshold, &Threshold::value};
  /// Numbers below zero wrap around beside bytes, as those that c10::Scalar converts do.
  static bool wraps(const Scalar& x) { return x.kind == Scalar::Kind::integer && x.i < 0; }
  bool rounds(Inputs, const Meta& m) const { return m.dtype == DType::uint8 && (wraps(threshold) || wraps(value)); }
  void round(Tensors&, const Meta&) {
    for (Scalar* x : {&threshold, &value}) x->i += 256 * wraps(*x);
  }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogSigmoid : Pointwise<LogSigmoid, Rule::real> {
  static constexpr Signature signature = "logsigmoid(input: Tensor) -> Tensor";
  static constexpr auto doc = "log(sigmoid(x)).";
  static constexpr OutRule out{Out::same};
  static constexpr Module module = Module::functional;
  static constexpr Save saves{.inputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ReluBackward : Pointwise<ReluBackward, Rule::promote> {
  static constexpr Signature signature = "relu_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of relu from its result.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b10};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GeluBackward : Pointwise<GeluBackward, Rule::real> {
  static constexpr Signature signature = "gelu_backward(grad_output: Tensor, input: Tensor, *, approximate: str = 'none') -> Tensor";
  static constexpr auto doc = "Gradient of gelu.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Str approximate;
  static constexpr Fields fields{&GeluBackward::approximate};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SiluBackward : Pointwise<SiluBackward, Rule::real> {
  static constexpr Signature signature = "silu_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of silu.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SigmoidBackward : Pointwise<SigmoidBackward, Rule::real> {
  static constexpr Signature signature = "sigmoid_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of sigmoid from its result.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct TanhBackward : Pointwise<TanhBackward, Rule::real> {
  static constexpr Signature signature = "tanh_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of tanh from its result.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct EluBackward : Pointwise<EluBackward, Rule::real> {
  static constexpr Signature signature = "elu_backward(grad_output: Tensor, input: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor";
  static constexpr auto doc = "Gradient of elu with scales: negcoef, poscoef, negiptcoef.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  double alpha;
  double scale;
  double input_scale;
  static constexpr Fields fields{&EluBackward::alpha, &EluBackward::scale, &EluBackward::input_scale};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct HardtanhBackward : Pointwise<HardtanhBackward, Rule::real> {
  static constexpr Signature signature = "hardtanh_backward(grad_output: Tensor, input: Tensor, min_val: float, max_val: float) -> Tensor";
  static constexpr auto doc = "Gradient of hardtanh.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  double min_val;
  double max_val;
  static constexpr Fields fields{&HardtanhBackward::min_val, &HardtanhBackward::max_val};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LeakyReluBackward : Pointwise<LeakyReluBackward, Rule::real> {
  static constexpr Signature signature = "leaky_relu_backward(grad_output: Tensor, input: Tensor, negative_slope: float) -> Tensor";
  static constexpr auto doc = "Gradient of leaky_relu.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  double negative_slope;
  static constexpr Fields fields{&LeakyReluBackward::negative_slope};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SoftplusBackward : Pointwise<SoftplusBackward, Rule::real> {
  static constexpr Signature signature = "softplus_backward(grad_output: Tensor, input: Tensor, beta: float, threshold: float) -> Tensor";
  static constexpr auto doc = "Gradient of softplus.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  double beta;
  double threshold;
  static constexpr Fields fields{&SoftplusBackward::beta, &SoftplusBackward::threshold};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ShrinkBackward : Pointwise<ShrinkBackward, Rule::real> {
  static constexpr Signature signature = "shrink_backward(grad_output: Tensor, input: Tensor, lambd: float) -> Tensor";
  static constexpr auto doc = "Gradient of softshrink and hardshrink.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  double lambd;
  static constexpr Fields fields{&ShrinkBackward::lambd};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct HardsigmoidBackward : Pointwise<HardsigmoidBackward, Rule::real> {
  static constexpr Signature signature = "hardsigmoid_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of hardsigmoid.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct HardswishBackward : Pointwise<HardswishBackward, Rule::real> {
  static constexpr Signature signature = "hardswish_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of hardswish.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogSigmoidBackward : Pointwise<LogSigmoidBackward, Rule::real> {
  static constexpr Signature signature = "log_sigmoid_backward(grad_output: Tensor, input: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of logsigmoid.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct PreluKernel : Pointwise<PreluKernel, Rule::real> {
  static constexpr Signature signature = "prelu_kernel(input: Tensor, weight: Tensor) -> Tensor";
  static constexpr auto doc = "x above 0, weight x below, with weight in a shape that broadcasts.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SquaredDifference : Pointwise<SquaredDifference, Rule::real> {
  static constexpr Signature signature = "squared_difference(input: Tensor, target: Tensor) -> Tensor";
  static constexpr auto doc = "(input - target)^2, which mse_loss averages.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Bowl : Pointwise<Bowl, Rule::real> {
  static constexpr Signature signature = "bowl(input: Tensor, target: Tensor, width: float, scale: float) -> Tensor";
  static constexpr auto doc = "scale d^2 / 2 where d = |input - target| < width, its tangents elsewhere: what smooth_l1_loss and huber_loss average.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  double width;
  double scale;
  static constexpr Fields fields{&Bowl::width, &Bowl::scale};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct BowlBackward : Pointwise<BowlBackward, Rule::real> {
  static constexpr Signature signature = "bowl_backward(grad_output: Tensor, input: Tensor, target: Tensor, width: float, scale: float) -> Tensor";
  static constexpr auto doc = "Gradient of bowl by input, where it is not differentiated itself.";
  static constexpr Module module = Module::hidden;
  double width;
  double scale;
  static constexpr Fields fields{&BowlBackward::width, &BowlBackward::scale};
};

struct ThresholdBackward : Pointwise<ThresholdBackward, Rule::real> {
  static constexpr Signature signature = "threshold_backward(grad_output: Tensor, input: Tensor, threshold: float) -> Tensor";
  static constexpr auto doc = "Gradient of threshold: where the input is above it.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b10};
  double threshold;
  static constexpr Fields fields{&ThresholdBackward::threshold};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct BinaryCrossEntropyBackward : Pointwise<BinaryCrossEntropyBackward, Rule::real> {
  static constexpr Signature signature = "binary_cross_entropy_backward(grad_output: Tensor, input: Tensor, target: Tensor) -> Tensor";
  static constexpr auto doc = "Gradient of binary_cross_entropy_forward by input.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b111};
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// The family, for registration and for the kernels.
using ActivationOps = OpList<Relu, Hardtanh, LeakyRelu, Elu, Selu, Celu, Gelu, Silu, Mish, Softplus,
    Softshrink, Hardshrink, Hardsigmoid, Hardswish, Threshold, LogSigmoid, ReluBackward, GeluBackward,
    SiluBackward, SigmoidBackward, TanhBackward, EluBackward, HardtanhBackward, LeakyReluBackward, SoftplusBackward,
    ShrinkBackward, HardsigmoidBackward, HardswishBackward, LogSigmoidBackward, PreluKernel, SquaredDifference, Bowl, BowlBackward,
    ThresholdBackward, BinaryCrossEntropyBackward>;

namespace fn {
inline constexpr Fn<Relu> relu;
inline constexpr Fn<Hardtanh> hardtanh;
inline constexpr Fn<LeakyRelu> leaky_relu;
inline constexpr Fn<Elu> elu;
inline constexpr Fn<Selu> selu;
inline constexpr Fn<Celu> celu;
inline constexpr Fn<Gelu> gelu;
inline constexpr Fn<Silu> silu;
inline constexpr Fn<Mish> mish;
inline constexpr Fn<Softplus> softplus;
inline constexpr Fn<Softshrink> softshrink;
inline constexpr Fn<Hardshrink> hardshrink;
inline constexpr Fn<Hardsigmoid> hardsigmoid;
inline constexpr Fn<Hardswish> hardswish;
inline constexpr Fn<Threshold> threshold;
inline constexpr Fn<LogSigmoid> logsigmoid;
inline constexpr Fn<ReluBackward> relu_backward;
inline constexpr Fn<GeluBackward> gelu_backward;
inline constexpr Fn<SiluBackward> silu_backward;
inline constexpr Fn<SigmoidBackward> sigmoid_backward;
inline constexpr Fn<TanhBackward> tanh_backward;
inline constexpr Fn<EluBackward> elu_backward;
inline constexpr Fn<HardtanhBackward> hardtanh_backward;
inline constexpr Fn<LeakyReluBackward> leaky_relu_backward;
inline constexpr Fn<SoftplusBackward> softplus_backward;
inline constexpr Fn<ShrinkBackward> shrink_backward;
inline constexpr Fn<HardsigmoidBackward> hardsigmoid_backward;
inline constexpr Fn<HardswishBackward> hardswish_backward;
inline constexpr Fn<LogSigmoidBackward> log_sigmoid_backward;
inline constexpr Fn<PreluKernel> prelu_kernel;
inline constexpr Fn<SquaredDifference> squared_difference;
inline constexpr Fn<Bowl> bowl;
inline constexpr Fn<BowlBackward> bowl_backward;
inline constexpr Fn<ThresholdBackward> threshold_backward;
inline constexpr Fn<BinaryCrossEntropyBackward> binary_cross_entropy_backward;
}  // namespace fn

}  // namespace weir
