#include "framework/ops/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/core/generator.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr double kMostCounted = 0x1p63;  // counts are whole numbers of 64 bits to PyTorch

Tensor doubles(const Tensor& t, const Dims& sizes) {
  Dims strides(sizes.n, 0);
  for (int d = sizes.n, e = t.ndim(); d-- > 0 && e-- > 0;) strides[d] = t.sizes()[e] == 1 ? 0 : t.strides()[e];
  return copied(alias(t, sizes, strides, t->offset), Meta(sizes, DType::float64));
}

// Calls f(generator, i) for each element in order.
template <class F> void drawn(Generator* given, const Tensor& out, F&& f) {
  Generator& g = given ? *given : default_generator();
  std::lock_guard lock(g.mutex);
  Tensor y = empty(out.sizes(), DType::float64);
  for (int64_t i = 0; i < y.numel(); i++) y.data<double>()[i] = f(g, i);
  run_copy(y, out);
}

// Source: Hoermann 1993, "The transformed rejection method for generating Poisson random variables"; below 10, products of uniforms.
double poisson_draw(double rate, Generator& g) {
  if (rate == 0) return 0;
  if (rate < 10) {
    const double least = std::exp(-rate);
    double product = g.uniform_double();
    int64_t count = 0;
    for (; product > least; count++) product *= g.uniform_double();
    return double(count);
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = g.uniform_double() - 0.5, v = g.uniform_double(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= -rate + k * std::log(rate) - std::lgamma(k + 1)) return k;
  }
}

void poisson(const Poisson& op, Inputs in, Outputs out) {
  Tensor rates = doubles(in[0], out[0].sizes());
  const double* rate = rates.data<double>();
  for (int64_t i = 0; i < rates.numel(); i++) check(rate[i] >= 0 && rate[i] < kMostCounted, "invalid Poisson rate, expected rate to be non-negative, got ", rate[i]);
  drawn(op.generator, out[0], [&](Generator& g, int64_t i) { return poisson_draw(rate[i], g); });
}

// What Stirling's formula lacks of log(k!).
double stirling_rest(double k) {
  constexpr double first[] = {0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                              0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return first[int(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Successes in n draws of probability p <= 0.5. Source: Hoermann 1993, "The generation of binomial random variates" (BTRS); for few
// expected successes, the geometric distances between them.
double successes(double n, double p, Generator& g) {
  if (n * p < 10) {
    const double log_failure = std::log1p(-p);
    double sum = 0, count = 0;
    for (;; count++) {
      sum += std::ceil(std::log(g.uniform_double()) / log_failure);
      if (!(sum <= n)) return count;
    }
  }
  const double deviation = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double v_r = 0.92 - 4.2 / b, r = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((n + 1) * p);
  for (;;) {
    const double u = g.uniform_double() - 0.5, v = g.uniform_double(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > n) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (n - m + 1))) + (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(r * (n - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

void binomial(const Binomial& op, Inputs in, Outputs out) {
  Tensor counts = doubles(in[0], out[0].sizes()), chances = doubles(in[1], out[0].sizes());
  drawn(op.generator, out[0], [&](Generator& g, int64_t i) {
    const double n = counts.data<double>()[i], p = chances.data<double>()[i];
    if (n != n || p != p) return n + p;
    if (n <= 0 || p <= 0) return 0.0;
    if (p >= 1) return n;
    return p <= 0.5 ? successes(n, p, g) : n - successes(n, 1 - p, g);  // what is rarer is counted
  });
}

void gamma_draws(const StandardGamma& op, Inputs in, Outputs out) {
  const Tensor concentrations = doubles(in[0], out[0].sizes());
  const bool single = in[0].dtype() != DType::float64;
  const double least = least_normal(in[0].dtype());
  drawn(op.generator, out[0], [&](Generator& g, int64_t i) {
    double a = concentrations.data<double>()[i], scale = 1;
    if (!(a > 0)) return least;
    if (std::isinf(a)) return a;
    // The constants and the concentration are PyTorch's, floats but for float64.
    if (a < 1) {
      const double u = 1 - g.uniform_double();
      scale = std::pow(u, single ? double(1 / float(a)) : 1 / a), a = single ? double(float(a) + 1) : a + 1;
    }
    const double d = single ? double(float(a) - 1.0f / 3.0f) : a - double(1.0f / 3.0f), c = 1 / std::sqrt(9 * d);
    for (;;) {
      double x, y;
      do x = g.normal(), y = 1 + c * x;
      while (y <= 0);
      const double v = y * y * y, u = 1 - g.uniform_double(), xx = x * x;
      if (u < 1 - double(0.0331f) * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return std::max(least, scale * d * v);
    }
  });
}

void shares(const MovingShares&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }

// Source: PyTorch's kernel, draw by draw: the first place whose running sum is not below a uniform number.
template <class T> void draw_rows(const Tensor& x, Generator& g, int64_t* to, int64_t samples) {
  const int64_t n = x.size(1);
  Scratch<T> sums(n);
  for (int64_t r = 0; r < x.size(0); r++) {
    const T* p = x.data<T>() + r * n;
    T sum = 0;
    for (int64_t i = 0; i < n; i++) sums[size_t(i)] = sum += p[i];
    for (T& s : sums) s /= sum;
    sums.back() = 1;
    for (int64_t k = 0; k < samples; k++) {
      const double u = g.uniform_double();
      *to++ = std::partition_point(sums.begin(), sums.end(), [u](T s) { return s < u; }) - sums.begin();
    }
  }
}

void multinomial(const MultinomialDraws& op, Inputs in, Outputs out) {
  Generator& g = op.generator ? *op.generator : default_generator();
  std::lock_guard lock(g.mutex);
  const bool wide = in[0].dtype() == DType::float64;
  const Tensor x = copied(in[0], Meta(in[0].sizes(), wide ? DType::float64 : DType::float32));
  int64_t* to = out[0].data<int64_t>();
  if (wide) draw_rows<double>(x, g, to, op.num_samples);
  else draw_rows<float>(x, g, to, op.num_samples);
}

const bool bound = [] {
  set_kernel<Poisson, poisson>(DeviceType::cpu);
  set_kernel<Binomial, binomial>(DeviceType::cpu);
  set_kernel<StandardGamma, gamma_draws>(DeviceType::cpu);
  set_kernel<MovingShares, shares>(DeviceType::cpu);
  set_kernel<MultinomialDraws, multinomial>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
