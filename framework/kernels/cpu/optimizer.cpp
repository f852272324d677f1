#include "framework/ops/optimizer.h"

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

using V = Vec<float>;

// Applies `f` to every vector of n numbers behind up to four pointers; the rest in one padded vector.
template <int k, class F> void sweep(float* const (&p)[k], int64_t n, F&& f) {
  parallel_for(n, kGrain, [&](int64_t b, int64_t e) {
    V x[k];
    int64_t i = b;
    for (; i + V::size <= e; i += V::size) {
      for (int j = 0; j < k; j++) x[j] = V::load(p[j] + i);
      f(x);
      for (int j = 0; j < k; j++)
        if (j != 1) x[j].store(p[j] + i);  // position 1 is the gradient: read only
    }
    if (i == e) return;
    float pad[k][V::size] = {};
    for (int j = 0; j < k; j++) std::copy(p[j] + i, p[j] + e, pad[j]), x[j] = V::load(pad[j]);
    f(x);
    for (int j = 0; j < k; j++)
      if (j != 1) x[j].store(pad[j]), std::copy(pad[j], pad[j] + (e - i), p[j] + i);
  });
}

// Kingma and Ba 2015, Loshchilov and Hutter 2019.
void adam(const AdamStep& o, const Tensor& param, const Tensor& grad, const Tensor& m, const Tensor& v) {
  double c1 = 1 - std::pow(o.beta1, o.step), c2 = 1 - std::pow(o.beta2, o.step);
  V decay(o.decoupled ? float(1 - o.lr * o.weight_decay) : 1.0f), l2(o.decoupled ? 0.0f : float(o.weight_decay)), sign(o.maximize ? -1.0f : 1.0f);
  V b1(float(1 - o.beta1)), b2(float(o.beta2)), rest2(float(1 - o.beta2)), step(float(o.lr / c1)), root(float(1 / std::sqrt(c2))), eps(float(o.eps));
  float* p[4] = {param.data<float>(), grad.data<float>(), m.data<float>(), v.data<float>()};
  sweep(p, param.numel(), [=](V* x) {
    x[0] = x[0] * decay;
    V g = x[1] * sign + x[0] * l2;
    x[2] = x[2] + (g - x[2]) * b1;
    x[3] = x[3] * b2 + g * g * rest2;
    x[0] = x[0] - step * (x[2] / (sqrt(x[3]) * root + eps));
  });
}

void sgd(const SgdStep& o, const Tensor& param, const Tensor& grad, const Tensor& momentum) {
  V lr(float(o.lr)), decay(float(o.weight_decay)), sign(o.maximize ? -1.0f : 1.0f), mu(float(o.momentum)), damp(float(1 - o.dampening));
  if (!momentum) {
    float* p[2] = {param.data<float>(), grad.data<float>()};
    return sweep(p, param.numel(), [=](V* x) { x[0] = x[0] - lr * (x[1] * sign + x[0] * decay); });
  }
  float* p[3] = {param.data<float>(), grad.data<float>(), momentum.data<float>()};
  bool first = o.first, nesterov = o.nesterov;
  sweep(p, param.numel(), [=](V* x) {
    V g = x[1] * sign + x[0] * decay;
    x[2] = first ? g : x[2] * mu + g * damp;
    x[0] = x[0] - lr * (nesterov ? g + mu * x[2] : x[2]);
  });
}

}  // namespace

static const bool registered = [] {
  optimizer_kernels = {adam, sgd};
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
