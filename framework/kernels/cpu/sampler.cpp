#include "framework/ops/sampler.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "framework/core/generator.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// The generator as the standard library's distributions want one.
struct Bits {
  using result_type = uint32_t;
  Generator& g;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return UINT32_MAX; }
  uint32_t operator()() { return g.random(); }
};

Tensor doubles(const Tensor& t, const Dims& sizes) {
  Dims strides(sizes.n, 0);
  for (int d = sizes.n, e = t.ndim(); d-- > 0 && e-- > 0;) strides[d] = t.sizes()[e] == 1 ? 0 : t.strides()[e];
  return copied(alias(t, sizes, strides, t->offset), Meta(sizes, DType::float64));
}

template <class F> void drawn(Generator* given, const Tensor& out, F&& f) {
  Generator& g = given ? *given : default_generator();
  std::lock_guard lock(g.mutex);
  Bits bits{g};
  Tensor y = empty(out.sizes(), DType::float64);
  for (int64_t i = 0; i < y.numel(); i++) y.data<double>()[i] = f(bits, i);
  run_copy(y, out);
}

void poisson(const Poisson& op, Inputs in, Outputs out) {
  Tensor rates = doubles(in[0], out[0].sizes());
  const double* rate = rates.data<double>();
  for (int64_t i = 0; i < rates.numel(); i++) check(rate[i] >= 0, "invalid Poisson rate, expected rate to be non-negative");
  drawn(op.generator, out[0], [&](Bits& bits, int64_t i) {
    return rate[i] > 0 ? double(std::poisson_distribution<int64_t>(rate[i])(bits)) : 0.0;
  });
}

void binomial(const Binomial& op, Inputs in, Outputs out) {
  Tensor counts = doubles(in[0], out[0].sizes()), chances = doubles(in[1], out[0].sizes());
  drawn(op.generator, out[0], [&](Bits& bits, int64_t i) {
    double n = counts.data<double>()[i], p = chances.data<double>()[i];
    if (n != n || p != p) return n + p;
    if (n <= 0 || p <= 0) return 0.0;
    if (p >= 1) return n;
    // Source: PyTorch's sampler, which counts failures where they are rarer; a count with a fraction keeps it there.
    const bool failures = p > 0.5;
    if (n > 1e15) return std::rint(n * p + std::sqrt(n * p * (1 - p)) * std::normal_distribution<double>()(bits));  // no integer algorithm holds it
    double k = double(std::binomial_distribution<int64_t>(int64_t(n), failures ? 1 - p : p)(bits));
    return failures ? n - k : k;
  });
}

// Source: PyTorch's kernel, draw by draw: the first place whose running sum is not below a uniform number.
template <class T> void draw_rows(const Tensor& x, Generator& g, int64_t* to, int64_t samples) {
  const int64_t n = x.size(1);
  std::vector<T> sums(size_t(n), 0);
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
  set_kernel<MultinomialDraws, multinomial>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
