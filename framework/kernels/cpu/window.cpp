#include "framework/ops/window.h"

#include <numbers>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/special.h"

namespace weir {
namespace WEIR_ISA {
namespace {

using V = Vec<double>;

// f(i) at every point i: in vectors of doubles, then in the result's dtype.
template <class F> void each(const Tensor& out, F&& f) {
  const int64_t item = size_of(out.dtype());
  V lane(0);
  for (int i = 0; i < V::size; i++) lane.v[i] = i;
  parallel_for(out.numel(), kGrain, [&](int64_t b, int64_t e) {
    double made[kTile];
    for (int64_t i = b; i < e; i += kTile) {
      const int64_t count = std::min(kTile, e - i);
      for (int64_t k = 0; k < count; k += V::size) f(V(double(i + k)) + lane).store(made + k);
      convert(DType::float64, made, 1, out.dtype(), out.raw() + i * item, 1, count);
    }
  });
}
// f(x) at every point, x running over one period from 0 to 1; 1 where there is one point.
template <class F> void points(const Window& op, const Tensor& out, F&& f) {
  const int64_t n = out.numel();
  if (n == 1) return convert(DType::float64, std::array{1.0}.data(), 0, out.dtype(), out.raw(), 1, 1);
  const V period(1.0 / double(op.periodic ? n : n - 1));
  each(out, [&](V i) { return f(i * period); });
}
V cosine(V x, double turns) { return cos(x * V(2 * std::numbers::pi * turns)); }

void bartlett(const BartlettWindow& op, Inputs, Outputs out) {
  points(op, out[0], [](V x) { return V(1) - abs(x + x - V(1)); });
}
void blackman(const BlackmanWindow& op, Inputs, Outputs out) {
  points(op, out[0], [](V x) { return V(0.42) - V(0.5) * cosine(x, 1) + V(0.08) * cosine(x, 2); });
}
void hann(const HannWindow& op, Inputs, Outputs out) {
  points(op, out[0], [](V x) { return V(0.5) - V(0.5) * cosine(x, 1); });
}
void hamming(const HammingWindow& op, Inputs, Outputs out) {
  points(op, out[0], [&](V x) { return V(op.alpha) - V(op.beta) * cosine(x, 1); });
}
void kaiser(const KaiserWindow& op, Inputs, Outputs out) {
  const double beta = std::abs(op.beta);
  const V middle = formulas::i0_scaled(V(beta));
  // Source: PyTorch, whose quotient of two Bessel functions has exponentials beyond the dtype in it.
  const bool wide = out[0].dtype() == DType::float64;
  const double top = std::log(wide ? std::numeric_limits<double>::max() : double(std::numeric_limits<float>::max()));
  const bool beyond = beta > top, infinite = beta > (wide ? std::numeric_limits<double>::max() : double(std::numeric_limits<float>::max()));
  points(op, out[0], [&](V x) {
    const V t = x + x - V(1), inside = V(1) - t * t, a = V(beta) * sqrt(where(inside > V(0), inside, V(0)));
    if (infinite) return V(NAN);
    if (beyond) return where(a > V(top), V(NAN), V(0));
    return formulas::i0_scaled(a) / middle * exp(a - V(beta));
  });
}

void general_cosine(const GeneralCosineWindow& op, Inputs in, Outputs out) {
  const Tensor a = row_major(in[0]);
  const double* weights = a.data<double>();
  points(op, out[0], [&](V x) {
    V sum(0);
    for (int64_t i = 0; i < a.numel(); i++) sum = sum + V(i % 2 ? -weights[i] : weights[i]) * cosine(x, double(i));
    return sum;
  });
}
void half_sine(const CosineWindow& op, Inputs, Outputs out) {
  const int64_t n = out[0].numel();
  const V step(std::numbers::pi / double(op.periodic && n > 1 ? n + 1 : n));
  each(out[0], [&](V i) { return sin((i + V(0.5)) * step); });
}
void exponential(const ExponentialWindow& op, Inputs, Outputs out) {
  each(out[0], [&](V i) { return exp(-abs((i - V(op.center)) / V(op.width))); });
}
void gaussian(const GaussianWindow& op, Inputs, Outputs out) {
  each(out[0], [&](V i) {
    const V t = (i - V(op.center)) / V(op.width);
    return exp(V(-0.5) * t * t);
  });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<BartlettWindow, bartlett>(cpu), set_kernel<BlackmanWindow, blackman>(cpu), set_kernel<HannWindow, hann>(cpu);
  set_kernel<HammingWindow, hamming>(cpu), set_kernel<KaiserWindow, kaiser>(cpu), set_kernel<GeneralCosineWindow, general_cosine>(cpu);
  set_kernel<CosineWindow, half_sine>(cpu), set_kernel<ExponentialWindow, exponential>(cpu), set_kernel<GaussianWindow, gaussian>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
