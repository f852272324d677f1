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

// The axes from the largest stride to the smallest: PyTorch draws in the order of memory.
Dims memory_order(const Tensor& t) {
  Dims order(t.ndim(), 0);
  std::iota(order.begin(), order.end(), 0);
  // An insertion sort, since axes of one element compare with none.
  auto stride = [&](int64_t d) { return t.sizes()[int(d)] == 1 ? 0 : t.strides()[int(d)]; };
  for (int i = 1; i < t.ndim(); i++)
    for (int j = i; j > 0 && stride(order[j - 1]) < stride(order[j]); j--) std::swap(order[j - 1], order[j]);
  return order;
}
// `t`, or a tensor of its shape, with the axes in the given order.
Tensor in_order(const Tensor& t, const Dims& order) {
  Dims sizes = t.sizes(), strides = t.strides();
  for (int i = 0; i < t.ndim(); i++) sizes[i] = t.sizes()[int(order[i])], strides[i] = t.strides()[int(order[i])];
  return alias(t->storage, t.dtype(), sizes, strides, t->offset);
}
// Fills `view` row by row through contiguous memory. Complex numbers come as their parts, a last axis of 2.
template <class F> void fill_rows(const Tensor& view, F&& f) {
  if (view.numel() == 0) return;
  Tensor t = view.is_contiguous() ? view : empty(view.sizes(), view.dtype());
  f(is_complex(t.dtype()) ? alias(t->storage, real_type(t.dtype()), Dims{2 * t.numel()}, Dims{1}, 2 * t->offset) : t);
  if (!view.is_contiguous()) run_copy(t, view);
}
// Fills in the order of memory.
template <class F> void fill_with(const Tensor& out, F&& f) {
  fill_rows(out.is_contiguous() ? out : in_order(out, memory_order(out)), f);
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
  else return T(g.uniform_float());
}

void uniform(const Uniform& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  fill_with(out[0], [&](const Tensor& t) {
    by_float(t.dtype(), [&]<class T>(TypeTag<T>) {
      T* p = t.data<T>();
      if constexpr (std::is_same_v<T, double>) {
        for (int64_t i = 0; i < t.numel(); i++) p[i] = g.uniform_double() * (op.to - op.from) + op.from;
      } else {  // the half precisions too are drawn in float
        for (int64_t i = 0; i < t.numel(); i++) p[i] = T(float(double(g.uniform_float()) * (op.to - op.from) + op.from));
      }
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
  for (int64_t i = 0; i < n; i++) p[i] = uniform_of<T>(g);
  for (int64_t i = 0; i + 16 <= n; i += 16) normal_block(p + i, mean, std);
  if (n % 16 == 0) return;
  for (int64_t i = n - 16; i < n; i++) p[i] = uniform_of<T>(g);
  normal_block(p + n - 16, mean, std);
}
// The half precisions draw 16 numbers for each block, and 16 more for the last 16 elements where some are left over.
template <class T> void normal_fill_half(T* p, int64_t n, Generator& g, double mean, double std) {
  auto block = [&](int64_t at) {
    float wide[16];
    for (float& v : wide) v = g.uniform_float();
    normal_block(wide, mean, std);
    for (int j = 0; j < 16; j++) p[at + j] = T(wide[j]);
  };
  for (int64_t i = 0; i + 16 <= n; i += 16) block(i);
  if (n % 16) block(n - 16);
}
void normal(const Normal& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  const double std = is_complex(out[0].dtype()) ? op.std / M_SQRT2 : op.std;  // each part has half of the variance
  const bool serial = !out[0].is_contiguous();
  fill_with(out[0], [&](const Tensor& t) {
    by_float(t.dtype(), [&]<class T>(TypeTag<T>) {
      T* p = t.data<T>();
      const int64_t n = t.numel();
      if (serial || n < 16) {
        for (int64_t i = 0; i < n; i++) p[i] = T(float_cast<T>(g.normal() * std + op.mean));
      } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
        normal_fill(p, n, g, op.mean, std);
      } else {
        normal_fill_half(p, n, g, op.mean, std);
      }
    });
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
  if (in[0].numel() == 0) return;
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

// Writes T(draw()) into every element of a view, row by row.
template <class F> void fill_each_row(const char* name, const Tensor& view, F&& draw) {
  fill_rows(view, [&](const Tensor& t) {
    visit_real_dtype(name, t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* p = t.data<T>();
      for (int64_t i = 0; i < t.numel(); i++) {
        if constexpr (std::is_integral_v<T>) p[i] = T(draw());
        else p[i] = T(float_cast<T>(draw()));
      }
    });
  });
}
template <class F> void fill_each(const char* name, const Tensor& out, F&& draw) {
  fill_each_row(name, out.is_contiguous() ? out : in_order(out, memory_order(out)), draw);
}
void bernoulli_fill(const BernoulliFill& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  fill_each("bernoulli_", out[0], [&] { return double(g.uniform_double() < op.p); });
}
void drawn_fill(const DrawnFill& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  const double a = op.a, b = op.b;
  if (op.distribution == "exponential") {
    fill_each("exponential_", out[0], [&] { return -1.0 / a * std::log1p(-g.uniform_double()); });
  } else if (op.distribution == "geometric") {
    const double scale = std::log1p(-a);
    // The draw 0 has no logarithm; the largest integer stands for it where the dtype has no infinity.
    fill_each("geometric_", out[0], [&] { return std::ceil(std::log(std::max(g.uniform_double(), 0x1p-53)) / scale); });
  } else if (op.distribution == "cauchy") {
    fill_each("cauchy_", out[0], [&] { return a + b * std::tan(M_PI * (g.uniform_double() - 0.5)); });
  } else {
    fill_each("log_normal_", out[0], [&] { return std::exp(g.normal() * b + a); });
  }
}
void rrelu_noise(const RReluNoise& op, Inputs in, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  Tensor x = row_major(in[0]);
  by_float(x.dtype(), [&]<class T>(TypeTag<T>) {
    const T* p = x.data<T>();
    // PyTorch rounds the bounds to float for all but float64.
    const bool wide = std::is_same_v<T, double>;
    const double low = wide ? op.lower : double(float(op.lower)), high = wide ? op.upper : double(float(op.upper));
    for (int64_t i = 0; i < x.numel(); i++)
      out[0].data<T>()[i] = double(p[i]) <= 0 ? T(float_cast<T>(g.uniform_double() * (high - low) + low)) : T(1.0f);
  });
}

void randperm(const RandPerm& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  int64_t* p = out[0].data<int64_t>();
  std::iota(p, p + op.n, 0);
  for (int64_t i = 0; i + 1 < op.n; i++) std::swap(p[i], p[i + int64_t(g.random() % uint64_t(op.n - i))]);
}

void scale_masked(const Tensor& x, const bool* mask, double keep, const Tensor& y, int64_t b, int64_t e) {
  auto run = [&]<class T>(TypeTag<T>) {
    const T* p = x.data<T>();
    T* q = y.data<T>();
    // A product where the mask is 0 too: a NaN that is dropped stays NaN. The factor is rounded to T, as PyTorch's noise is.
    if constexpr (std::is_same_v<T, double>) {
      const double scale = 1 / keep;
      for (int64_t i = b; i < e; i++) q[i] = p[i] * (mask[i] ? scale : 0.0);
    } else {
      const float scale = float(T(1.0f / float(keep)));
      for (int64_t i = b; i < e; i++) q[i] = T(float(p[i]) * (mask[i] ? scale : 0.0f));
    }
  };
  by_float(x.dtype(), run);
}

void dropout(const NativeDropout& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  const double keep = 1 - op.p;
  {
    Generator& g = default_generator();
    std::lock_guard lock(g.mutex);
    fill_each_row("dropout", in_order(out[1], memory_order(in[0])), [&] { return g.uniform_double() < keep; });
  }
  const bool* mask = out[1].data<bool>();
  parallel_for(x.numel(), kGrain, [&](int64_t b, int64_t e) { scale_masked(x, mask, keep, out[0], b, e); });
}

void mask_scale(const MaskScale& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), mask = row_major(in[1]);
  parallel_for(x.numel(), kGrain, [&](int64_t b, int64_t e) { scale_masked(x, mask.data<bool>(), op.keep, out[0], b, e); });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Uniform, uniform>(cpu);
  set_kernel<Normal, normal>(cpu);
  set_kernel<RandomInt, random_range>(cpu);
  set_kernel<Bernoulli, bernoulli>(cpu);
  set_kernel<BernoulliFill, bernoulli_fill>(cpu);
  set_kernel<DrawnFill, drawn_fill>(cpu);
  set_kernel<RReluNoise, rrelu_noise>(cpu);
  set_kernel<RandPerm, randperm>(cpu);
  set_kernel<NativeDropout, dropout>(cpu);
  set_kernel<MaskScale, mask_scale>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
