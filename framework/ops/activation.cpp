#include "framework/ops/activation.h"

#include <cmath>
#include <limits>

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/unary.h"

namespace weir {
using namespace fn;
namespace {

// Source: Klambauer et al. 2017, section 2.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluScale = 1.0507009873554804934193349852946;

Tensor elu_gradient(const Saved& s, const Tensor& dy, double alpha, double scale, double input_scale) {
  return fn::elu_backward(dy, s.input(0), alpha, scale, input_scale);
}

}  // namespace

Meta Softshrink::infer(Inputs in) const {
  const Meta m = pointwise_meta("softshrink(", Rule::real, in);
  check(lambd >= 0 && (is_complex(m.dtype) || lambd <= largest_number(m.dtype)), "softshrink: lambda must be in range [0, ", largest_number(m.dtype),
        "] for input dtype ", name_of(m.dtype), ", but found to be ", lambd);
  return m;
}
Meta Gelu::infer(Inputs in) const {
  check(approximate == "none" || approximate == "tanh", "gelu: approximate argument must be either none or tanh, got ", approximate.view());
  return pointwise_meta("gelu(", Rule::real, in);
}

Meta Relu::infer(Inputs in) const {
  check(in[0].dtype() != DType::boolean, "relu: Boolean inputs not supported for relu");
  return pointwise_meta("relu(", Rule::promote, in);
}
Tensors Relu::vjp(const Saved& s, const Tensor& dy) const { return {fn::relu_backward(dy, s.output())}; }
Meta Hardtanh::infer(Inputs in) const {
  const DType t = in[0].dtype();
  check(t != DType::boolean, "hardtanh: Bool inputs are not supported");
  check(t != DType::uint8 || (min_val > -1 && max_val > -1), "hardtanh: cannot be done on an unsigned type with negative limits, got ", min_val, " and ", max_val);
  Hardtanh whole = *this;  // Source: PyTorch, which asks whether whole numbers hold the limits when these are whole
  if (is_integral(t)) whole.min_val = std::trunc(min_val), whole.max_val = std::trunc(max_val);
  return with_strides(whole.Pointwise::infer(in), in[0]);
}
Tensors Hardtanh::vjp(const Saved& s, const Tensor& dy) const { return {fn::hardtanh_backward(dy, s.input(0), min_val, max_val)}; }
Tensors LeakyRelu::vjp(const Saved& s, const Tensor& dy) const { return {fn::leaky_relu_backward(dy, s.input(0), negative_slope)}; }
Tensors Elu::vjp(const Saved& s, const Tensor& dy) const { return {elu_gradient(s, dy, alpha, 1, 1)}; }
Tensors Selu::vjp(const Saved& s, const Tensor& dy) const { return {elu_gradient(s, dy, kSeluAlpha, kSeluScale, 1)}; }
Meta Celu::infer(Inputs in) const {
  check(alpha != 0, "celu: alpha cannot be 0");
  return Pointwise::infer(in);
}
Tensors Celu::vjp(const Saved& s, const Tensor& dy) const { return {elu_gradient(s, dy, alpha, 1, 1 / alpha)}; }
Tensors Gelu::vjp(const Saved& s, const Tensor& dy) const { return {fn::gelu_backward(dy, s.input(0), approximate)}; }
Tensors Silu::vjp(const Saved& s, const Tensor& dy) const { return {fn::silu_backward(dy, s.input(0))}; }
Tensors Mish::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = in_single(s.input(0)), t = tanh(fn::log1p(exp(x)));  // of terms that cancel
  return {in_single(dy) * (t + x * sigmoid(x) * (1.0 - t * t))};
}
Tensors Softplus::vjp(const Saved& s, const Tensor& dy) const { return {fn::softplus_backward(dy, s.input(0), beta, threshold)}; }
// The bound as a number of x's dtype, as PyTorch compares it.
static double bound_of(double lambd, const Tensor& x) {
  const float f = float(lambd);
  switch (x.dtype()) {
    case DType::float16: return double(Half(f));
    case DType::bfloat16: return double(float(BFloat16(f)));
    case DType::float32: return f;
    default: return lambd;
  }
}
Tensors Softshrink::vjp(const Saved& s, const Tensor& dy) const { return {fn::shrink_backward(dy, s.input(0), bound_of(lambd, s.input(0)))}; }
Tensors Hardshrink::vjp(const Saved& s, const Tensor& dy) const { return {fn::shrink_backward(dy, s.input(0), bound_of(lambd, s.input(0)))}; }
Tensors Hardsigmoid::vjp(const Saved& s, const Tensor& dy) const { return {fn::hardsigmoid_backward(dy, s.input(0))}; }
Tensors Hardswish::vjp(const Saved& s, const Tensor& dy) const { return {fn::hardswish_backward(dy, s.input(0))}; }
Meta Threshold::infer(Inputs in) const {
  const Meta m = Pointwise::infer(in);
  check<NotImplemented>(m.dtype != DType::boolean, "threshold: not implemented for 'bool'");
  check_held(Held::wide, threshold, m.dtype);
  check_held(Held::own, value, m.dtype);
  return m;
}
Tensors Threshold::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::threshold_backward(dy, s.input(0), threshold.to_double())};
}
Tensors ThresholdBackward::vjp(const Saved& s, const Tensor& dy) const { return {fn::threshold_backward(dy, s.input(1), threshold), Tensor()}; }
// Row-major, however the input lies. Source: PyTorch's log_sigmoid_forward, which resizes its results.
Meta LogSigmoid::infer(Inputs in) const {
  const Meta m = Pointwise::infer(in);
  return {m.sizes, m.dtype, m.device};
}
Tensors LogSigmoid::vjp(const Saved& s, const Tensor& dy) const { return {fn::log_sigmoid_backward(dy, s.input(0))}; }

Tensors ReluBackward::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::relu_backward(dy, s.input(1)), Tensor()};
}
Tensors SigmoidBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), y = s.input(1);
  return {dy * (y * (1.0 - y)), dy * g * (1.0 - 2.0 * y)};
}
Tensors TanhBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), y = s.input(1);
  return {dy * (1.0 - y * y), -2.0 * dy * g * y};
}
Tensors SiluBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1), y = sigmoid(x), slope = y * (1.0 - y);
  return {fn::silu_backward(dy, x), dy * g * slope * (2.0 + x * (1.0 - 2.0 * y))};
}
Tensors GeluBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1), dx;
  if (approximate == "tanh") {
    const double k = M_SQRT2 * M_2_SQRTPI * 0.5, c = 0.044715;
    Tensor u = k * (x + c * (x * x * x)), t = tanh(u), du = k * (1.0 + 3 * c * (x * x)), sech = 1.0 - t * t;
    dx = sech * du + 0.5 * x * sech * (k * 6 * c * x - 2.0 * t * du * du);
  } else {
    dx = exp(x * x * -0.5) * (M_SQRT1_2 * M_2_SQRTPI * 0.5) * (2.0 - x * x);
  }
  return {fn::gelu_backward(dy, x, approximate), dy * g * dx};
}
Tensors EluBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1);
  Tensor curve = (alpha * scale * input_scale * input_scale) * exp(x * input_scale);
  return {fn::elu_backward(dy, x, alpha, scale, input_scale), where(x < 0.0, dy * g * curve, num(0.0))};
}

// Of functions that are straight in pieces, the slope has no gradient.
Tensors HardtanhBackward::vjp(const Saved& s, const Tensor& dy) const { return {fn::hardtanh_backward(dy, s.input(1), min_val, max_val), Tensor()}; }
Tensors LeakyReluBackward::vjp(const Saved& s, const Tensor& dy) const { return {fn::leaky_relu_backward(dy, s.input(1), negative_slope), Tensor()}; }
Tensors ShrinkBackward::vjp(const Saved& s, const Tensor& dy) const { return {fn::shrink_backward(dy, s.input(1), lambd), Tensor()}; }
Tensors HardsigmoidBackward::vjp(const Saved& s, const Tensor& dy) const { return {fn::hardsigmoid_backward(dy, s.input(1)), Tensor()}; }
Tensors SoftplusBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1), z = x * beta, y = sigmoid(z);
  return {fn::softplus_backward(dy, x, beta, threshold), where(z > threshold, num(0.0), dy * g * (beta * y * (1.0 - y)))};
}
Tensors HardswishBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1);
  return {fn::hardswish_backward(dy, x), where(abs(x) < 3.0, dy * g / 3.0, num(0.0))};
}
// Beside certain predictions a slope is bounded: PyTorch's answer there, so that steps of training are its steps.
// Source: PyTorch's binary_cross_entropy_double_backward.
Tensors BinaryCrossEntropyBackward::vjp(const Saved& s, const Tensor& dy) const {
  constexpr double kSmallest = 1e-12;
  Tensor g = s.input(0), p = s.input(1), t = s.input(2), spread = square(p + kSmallest) * square(1.0 - p + kSmallest);
  Tensors found(3);
  if (s.needs(0)) found[0] = fn::binary_cross_entropy_backward(dy, p, t);
  if (s.needs(1)) found[1] = dy * g * ((p * p - 2.0 * p * t + t) / spread);
  if (s.needs(2)) found[2] = -(dy * g) / fn::clamp((1.0 - p) * p, Scalar(kSmallest));
  return found;
}
Tensors LogSigmoidBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = s.input(0), x = s.input(1), y = sigmoid(x);
  return {fn::log_sigmoid_backward(dy, x), -(dy * g * (y * (1.0 - y)))};
}
Meta PreluKernel::infer(Inputs in) const { return with_strides(Pointwise::infer(in), in[0]); }
Tensors PreluKernel::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), w = s.input(1), above = x > 0.0;
  return {s.needs(0) ? where(above, dy, dy * w) : Tensor(), s.needs(1) ? where(above, num(0.0), dy * x) : Tensor()};
}
Tensors SquaredDifference::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor x = s.input(0), target = s.input(1);
  const Tensor g = mode.grad ? dy * (x - target) * 2.0 : fn::bowl_backward(dy, x, target, std::numeric_limits<double>::infinity(), 2.0);
  return {s.needs(0) ? g : Tensor(), s.needs(1) ? -g : Tensor()};
}
Tensors Bowl::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor x = cast_to(s.input(0), dy.dtype()), target = cast_to(s.input(1), dy.dtype());
  if (!mode.grad) {
    Tensor g = fn::bowl_backward(dy, x, target, width, scale);
    return {g, s.needs(1) ? -g : Tensor()};
  }
  Tensor d = x - target;
  Tensor g = dy * scale * where(isnan(d), d, clamp(d, Scalar(-width), Scalar(width)));  // clamp's own gradient at NaN is 0
  return {g, s.needs(1) ? -g : Tensor()};
}

static const ActivationOps::Registration ops;

}  // namespace weir
