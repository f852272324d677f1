#include "framework/ops/random.h"

#include <bit>
#include <limits>
#include <numeric>

#include "framework/core/generator.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

Generator& of(Generator* g) { return g ? *g : default_generator(); }

// Fills in row-major order whatever the strides: the sequence must not depend on the layout. Complex numbers come as their
// parts, a last axis of 2.
template <class F> void fill_with(const Tensor& out, F&& f) {
  if (out.numel() == 0) return;
  Tensor t = out.is_contiguous() ? out : empty(out.sizes(), out.dtype());
  f(is_complex(t.dtype()) ? alias(t->storage, real_type(t.dtype()), Dims{2 * t.numel()}, Dims{1}, 2 * t->offset) : t);
  if (!out.is_contiguous()) run_copy(t, out);
}

template <class F> void by_float(DType t, F&& f) {
  visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) f(tag);
    else throw NotImplemented(str("not implemented for '", name_of(t), "'"));
  });
}
template <class T> T uniform_of(Generator& g) {
  if constexpr (std::is_same_v<T, double>) return g.uniform_double();
  else if constexpr (std::is_same_v<T, float>) return g.uniform_float();
  else return T(float(g.random() & ((1u << (std::is_same_v<T, Half> ? 11 : 8)) - 1)) * (std::is_same_v<T, Half> ? 0x1p-11f : 0x1p-8f));
}

void uniform(const Uniform& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  fill_with(out[0], [&](const Tensor& t) {
    by_float(t.dtype(), [&]<class T>(TypeTag<T>) {
      T* p = t.data<T>();
      for (int64_t i = 0; i < t.numel(); i++) p[i] = T(float_cast<T>(double(uniform_of<T>(g)) * (op.to - op.from) + op.from));
    });
  });
}

// PyTorch's order for 16 elements and more: all uniforms first, then Box-Muller in blocks of 16 (8 radii, 8 angles).
template <class T> void normal_block(T* p, double mean, double std) {
  for (int j = 0; j < 8; j++) {
    T u1 = T(1) - p[j], u2 = p[j + 8];
    T radius = std::sqrt(T(-2) * std::log(u1)), theta = T(2 * M_PI) * u2;
    p[j] = radius * std::cos(theta) * T(std) + T(mean);
    p[j + 8] = radius * std::sin(theta) * T(std) + T(mean);
  }
}
template <class T> void normal_fill(T* p, int64_t n, Generator& g, double mean, double std) {
  if (n < 16) {
    for (int64_t i = 0; i < n; i++) p[i] = T(g.normal() * std + mean);
    return;
  }
  for (int64_t i = 0; i < n; i++) p[i] = uniform_of<T>(g);
  for (int64_t i = 0; i + 16 <= n; i += 16) normal_block(p + i, mean, std);
  if (n % 16 == 0) return;
  for (int64_t i = n - 16; i < n; i++) p[i] = uniform_of<T>(g);
  normal_block(p + n - 16, mean, std);
}
void normal(const Normal& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  const double std = is_complex(out[0].dtype()) ? op.std / M_SQRT2 : op.std;  // each part has half of the variance
  fill_with(out[0], [&](const Tensor& t) {
    if (t.dtype() == DType::float64) return normal_fill(t.data<double>(), t.numel(), g, op.mean, std);
    if (t.dtype() == DType::float32) return normal_fill(t.data<float>(), t.numel(), g, op.mean, std);
    Tensor wide = empty(t.sizes(), DType::float32);
    normal_fill(wide.data<float>(), wide.numel(), g, op.mean, op.std);
    run_copy(wide, t);
  });
}

// What random_ without a bound counts up to: all whole numbers, for a floating dtype those that it holds exactly.
template <class T> constexpr uint64_t whole_limit() {
  if constexpr (std::is_same_v<T, bool>) return 1;
  else if constexpr (std::is_integral_v<T>) return uint64_t(std::numeric_limits<T>::max());
  else if constexpr (std::is_same_v<T, double>) return 1ull << 53;
  else if constexpr (std::is_same_v<T, float>) return 1ull << 24;
  else return 1ull << (std::is_same_v<T, Half> ? 11 : 8);
}
template <class T> int64_t rounded(int64_t x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return int64_t(float(T(float(x))));
  else return int64_t(T(x));
}
// A bound that rounds outwards in T moves inwards to the next number of T. Source: PyTorch's update_from and update_to.
template <class T> int64_t inwards(int64_t bound, int sign) {
  if constexpr (std::is_integral_v<T>) return bound;
  else {
    int64_t neighbour = bound + sign, there = rounded<T>(neighbour);
    if (sign > 0 ? there >= bound : there < bound) return bound;
    int log2 = 63 - std::countl_zero(uint64_t(std::abs(neighbour)));
    return there + sign * (int64_t(1) << (log2 - std::countr_zero(whole_limit<T>()) + 1));
  }
}

void random_range(const RandomInt& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  check<NotImplemented>(!is_complex(out[0].dtype()), "\"random_\" not implemented for '", name_of(out[0].dtype()), "'");
  fill_with(out[0], [&](const Tensor& t) {
    visit_real_dtype("random_", t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      bool bounded = op.low || op.high, all = op.low == INT64_MIN && !op.high;
      int64_t low = op.low && !all ? inwards<T>(*op.low, 1) : 0;
      uint64_t end = op.high ? uint64_t(inwards<T>(*op.high, -1)) : whole_limit<T>() + 1;
      uint64_t range = all ? 0 : end - uint64_t(low);  // 0 stands for 2^64
      // PyTorch draws 64 bits for the widest dtypes, or where 32 would be felt.
      bool wide = bounded ? range == 0 || range >= 1ull << 28 : sizeof(T) == 8;
      T* p = t.data<T>();
      for (int64_t i = 0; i < t.numel(); i++) {
        uint64_t draw = wide ? g.random64() : g.random();
        int64_t v = int64_t((range ? draw % range : draw) + uint64_t(low));
        if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) p[i] = T(float(v));
        else p[i] = T(v);
      }
    });
  });
}

void bernoulli(const Bernoulli& op, Inputs in, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  Tensor p = empty(in[0].sizes(), DType::float64);
  run_copy(in[0], p);
  for (int64_t i = 0; i < p.numel(); i++) {
    double& v = p.data<double>()[i];
    check(v >= 0 && v <= 1, "Expected p_in >= 0 && p_in <= 1 to be true, but got p_in=", v);
    v = (in[0].dtype() == DType::float64 ? g.uniform_double() : double(g.uniform_float())) < v;
  }
  run_copy(p, out[0]);
}

void randperm(const RandPerm& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  int64_t* p = out[0].data<int64_t>();
  std::iota(p, p + op.n, 0);
  for (int64_t i = 0; i + 1 < op.n; i++) std::swap(p[i], p[i + int64_t(g.random() % uint64_t(op.n - i))]);
}

// Philox 4x32-10 on 16 counters at once. Source: Salmon et al. 2011. Element i depends on the seed and i alone, so
// the mask does not depend on the number of threads.
constexpr int kCounters = 16;
void philox(uint64_t key, uint64_t counter, uint32_t (&out)[4][kCounters]) {
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  uint32_t a[kCounters], b[kCounters], c[kCounters], d[kCounters];
  for (int i = 0; i < kCounters; i++) a[i] = uint32_t(counter + i), b[i] = uint32_t((counter + i) >> 32), c[i] = 0, d[i] = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < kCounters; i++) {
      uint64_t p = uint64_t(a[i]) * 0xD2511F53u, q = uint64_t(c[i]) * 0xCD9E8D57u;
      uint32_t na = uint32_t(q >> 32) ^ b[i] ^ k0, nc = uint32_t(p >> 32) ^ d[i] ^ k1;
      b[i] = uint32_t(q), d[i] = uint32_t(p), a[i] = na, c[i] = nc;
    }
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kCounters; i++) out[0][i] = a[i], out[1][i] = b[i], out[2][i] = c[i], out[3][i] = d[i];
}

void scale_masked(const Tensor& x, const bool* mask, float scale, const Tensor& y, int64_t b, int64_t e) {
  auto run = [&]<class T>(TypeTag<T>) {
    const T* p = x.data<T>();
    T* q = y.data<T>();
    for (int64_t i = b; i < e; i++) {
      // A product where the mask is 0 too: a NaN that is dropped stays NaN.
      if constexpr (std::is_same_v<T, double>) q[i] = p[i] * (mask[i] ? double(scale) : 0.0);
      else q[i] = T(float(p[i]) * (mask[i] ? scale : 0.0f));
    }
  };
  by_float(x.dtype(), run);
}

void dropout(const NativeDropout& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  uint64_t key;
  {
    Generator& g = default_generator();
    std::lock_guard lock(g.mutex);
    key = g.random64();
  }
  // Kept where a 32-bit draw is at least p * 2^32.
  uint64_t limit = uint64_t(op.p * 4294967296.0);
  bool* mask = out[1].data<bool>();
  float scale = float(1 / (1 - op.p));
  constexpr int64_t kBlock = 4 * kCounters;
  int64_t n = x.numel(), blocks = (n + kBlock - 1) / kBlock;
  parallel_for(blocks, kGrain / kBlock / 4, [&](int64_t b, int64_t e) {
    uint32_t draws[4][kCounters];
    for (int64_t k = b; k < e; k++) {
      philox(key, uint64_t(k) * kCounters, draws);
      const uint32_t* flat = &draws[0][0];
      int64_t m = std::min(kBlock, n - k * kBlock);
      for (int64_t i = 0; i < m; i++) mask[k * kBlock + i] = flat[i] >= limit;
    }
    scale_masked(x, mask, scale, out[0], b * kBlock, std::min(e * kBlock, n));
  });
}

void mask_scale(const MaskScale& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), mask = row_major(in[1]);
  parallel_for(x.numel(), kGrain, [&](int64_t b, int64_t e) { scale_masked(x, mask.data<bool>(), float(op.scale), out[0], b, e); });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Uniform, uniform>(cpu);
  set_kernel<Normal, normal>(cpu);
  set_kernel<RandomInt, random_range>(cpu);
  set_kernel<Bernoulli, bernoulli>(cpu);
  set_kernel<RandPerm, randperm>(cpu);
  set_kernel<NativeDropout, dropout>(cpu);
  set_kernel<MaskScale, mask_scale>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
