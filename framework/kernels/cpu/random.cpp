#include "framework/ops/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "framework/core/generator.h"
#include "framework/kernels/cpu/casts.h"
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
double double_of(const uint32_t* words) { return Generator::to_double(uint64_t(words[0]) << 32 | words[1]); }

// Draws come from one thread, in PyTorch's order; what is made of them comes from all: use(words, begin, end) for the elements
// begin to end, of which each has `each` words.
template <class F> void draw(Generator& g, int64_t n, int each, F&& use) {
  constexpr int64_t kChunk = 1 << 16;
  std::vector<uint32_t> words(size_t(std::min(n, kChunk) * each));
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    int64_t count = std::min(kChunk, n - begin);
    g.random(words.data(), count * each);
    parallel_for(count, kGrain / 4, [&](int64_t b, int64_t e) { use(words.data() + b * each, begin + b, begin + e); });
  }
}
// Product and sum are rounded once, as in PyTorch's build, and what rounds to the upper bound becomes the lower one. The half
// precisions are drawn in float.
template <class T> void fill_uniform(T* p, int64_t n, Generator& g, double from, double to) {
  if constexpr (std::is_same_v<T, double>) {
    draw(g, n, 2, [=](const uint32_t* words, int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        double v = std::fma(double_of(words + 2 * (i - b)), to - from, from);
        p[i] = v == to ? from : v;
      }
    });
  } else {
    const float low = float(from), range = float(to) - low, top = float(T(float(to)));
    draw(g, n, 1, [=](const uint32_t* words, int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        T v(std::fma(Generator::to_float(words[i - b]), range, low));
        p[i] = float(v) == top ? T(low) : v;
      }
    });
  }
}

void uniform(const Uniform& op, Inputs, Outputs out) {
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  fill_with(out[0], [&](const Tensor& t) {
    by_float(t.dtype(), [&]<class T>(TypeTag<T>) { fill_uniform(t.data<T>(), t.numel(), g, op.from, op.to); });
  });
}

// PyTorch's order for 16 elements and more: all uniforms first, then Box-Muller in blocks of 16 (8 radii, 8 angles).
void normal_block(double* p, double mean, double std) {
  for (int j = 0; j < 8; j++) {
    double u1 = 1 - p[j], u2 = p[j + 8];
    double radius = std::sqrt(-2 * std::log(u1)), theta = 2 * M_PI * u2;
    p[j] = radius * std::cos(theta) * std + mean;
    p[j + 8] = radius * std::sin(theta) * std + mean;
  }
}

// The same in float, to the bit as PyTorch's vector code has it: logf, sinf and cosf of Cephes, whose products and sums GCC fused.
using F = Vec<float>;
using I = Vec<int32_t>;
F fused(F a, F b, F c) {
#ifdef __FMA__
  return lanes::fma(a, b, c);
#else
  for (int i = 0; i < F::size; i++) a.v[i] = std::fma(float(a.v[i]), float(b.v[i]), float(c.v[i]));
  return a;
#endif
}
template <int n> F horner(F x, const float (&c)[n]) {
  F r(c[0]);
  for (int i = 1; i < n; i++) r = fused(r, x, F(c[i]));
  return r;
}
F cephes_log(F x) {
  x = where(x < F(0x1p-126f), F(0x1p-126f), x);
  I whole = lanes::bits(x);
  F e = F(__builtin_convertvector((whole.v >> 23) - 127, F::V)) + F(1);
  x = lanes::of_bits(I((whole.v & 0x7fffff) | 0x3f000000));
  Mask<float> low = x < F(0.707106781186547524f);
  e = where(low, e - F(1), e);
  x = where(low, (x - F(1)) + x, x - F(1));
  F z = x * x;
  F y = horner(x, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                   2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  y = fused(y * x, z, e * F(-2.12194440e-4f));
  y = fused(z, F(-0.5f), y);
  return fused(e, F(0.693359375f), x + y);
}
void cephes_sincos(F x, F* sine, F* cosine) {  // for x >= 0
  I octant(__builtin_convertvector((x * F(1.27323954473516f)).v, I::V));
  octant = I((octant.v + 1) & ~1);
  F y(__builtin_convertvector(octant.v, F::V));
  for (float part : {-0.78515625f, -2.4187564849853515625e-4f, -3.77489497744594108e-8f}) x = fused(y, F(part), x);
  F z = x * x;
  F c = horner(z, {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f});
  c = fused(c * z, z, -(z * F(0.5f))) + F(1);
  F s = horner(z, {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f});
  s = fused(s * z, x, x);
  auto negated = [](F v, I::V sign) { return lanes::of_bits(I(lanes::bits(v).v ^ (sign << 29))); };  // by a sign bit at 4
  Mask<float> straight{(octant.v & 2) == 0};
  *sine = negated(where(straight, s, c), octant.v & 4);
  *cosine = negated(where(straight, c, s), ~(octant.v - 2) & 4);
}
void normal_blocks(float* p, int64_t blocks, float mean, float std) {
  constexpr int64_t kBlocks = 32;
  float radius[8 * kBlocks], angle[8 * kBlocks];
  for (int64_t first = 0; first < blocks; first += kBlocks, p += 16 * kBlocks) {
    int64_t n = std::min(kBlocks, blocks - first);
    for (int64_t i = 0; i < n; i++) {
      std::memcpy(radius + 8 * i, p + 16 * i, 8 * sizeof(float));
      std::memcpy(angle + 8 * i, p + 16 * i + 8, 8 * sizeof(float));
    }
    std::fill(radius + 8 * n, std::end(radius), 0.0f);  // the last registers may be longer than the rest
    std::fill(angle + 8 * n, std::end(angle), 0.0f);
    for (int64_t i = 0; i < 8 * n; i += F::size) {
      F r = sqrt(F(-2) * cephes_log(F(1) - F::load(radius + i))), s, c;
      cephes_sincos(F(float(2 * M_PI)) * F::load(angle + i), &s, &c);
      fused(r * c, F(std), F(mean)).store(radius + i);
      fused(r * s, F(std), F(mean)).store(angle + i);
    }
    for (int64_t i = 0; i < n; i++) {
      std::memcpy(p + 16 * i, radius + 8 * i, 8 * sizeof(float));
      std::memcpy(p + 16 * i + 8, angle + 8 * i, 8 * sizeof(float));
    }
  }
}
void normal_blocks(double* p, int64_t blocks, double mean, double std) {
  for (int64_t i = 0; i < blocks; i++) normal_block(p + 16 * i, mean, std);
}

template <class T> void normal_fill(T* p, int64_t n, Generator& g, double mean, double std) {
  fill_uniform(p, n, g, 0, 1);
  parallel_for(n / 16, kGrain / 64, [&](int64_t b, int64_t e) { normal_blocks(p + 16 * b, e - b, T(mean), T(std)); });
  if (n % 16 == 0) return;
  fill_uniform(p + n - 16, 16, g, 0, 1);
  normal_blocks(p + n - 16, 1, T(mean), T(std));
}
// The half precisions draw 16 numbers for each block, and 16 more for the last 16 elements where some are left over.
template <class T> void normal_fill_half(T* p, int64_t n, Generator& g, double mean, double std) {
  constexpr int64_t kBlocks = 32;
  const Converter narrow = converter(DType::float32, dtype_of<T>());
  auto fill = [=](const uint32_t* words, int64_t blocks, T* to) {
    float wide[16 * kBlocks];
    for (int64_t j = 0; j < 16 * blocks; j++) wide[j] = Generator::to_float(words[j]);
    normal_blocks(wide, blocks, float(mean), float(std));
    narrow(wide, 1, to, 1, 16 * blocks);
  };
  draw(g, n / 16, 16, [=](const uint32_t* words, int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i += kBlocks) fill(words + 16 * (i - b), std::min(kBlocks, e - i), p + 16 * i);
  });
  if (n % 16 == 0) return;
  uint32_t words[16];
  g.random(words, 16);
  fill(words, 1, p + n - 16);
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
  if (out[0].numel() == 0) return;  // of any dtype
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
      auto put = [&](int64_t i, uint64_t within) {
        int64_t v = int64_t(within + uint64_t(low));
        if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) p[i] = T(float(v));
        else p[i] = T(v);
      };
      if (wide)
        draw(g, t.numel(), 2, [&](const uint32_t* words, int64_t b, int64_t e) {
          for (int64_t i = b; i < e; i++, words += 2) {
            uint64_t x = uint64_t(words[0]) << 32 | words[1];
            put(i, range ? x % range : x);
          }
        });
      else
        draw(g, t.numel(), 1, [&](const uint32_t* words, int64_t b, int64_t e) {
          for (int64_t i = b; i < e; i++) put(i, range >> 32 ? words[i - b] : words[i - b] % uint32_t(range));
        });
    });
  });
}

void bernoulli(const Bernoulli& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return;
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  Tensor p = empty(in[0].sizes(), DType::float64);
  run_copy(in[0], p);
  double* v = p.data<double>();
  const int64_t n = p.numel();
  for (int64_t i = 0; i < n; i++) check(v[i] >= 0 && v[i] <= 1, "Expected p_in >= 0 && p_in <= 1 to be true, but got p_in=", v[i]);
  if (in[0].dtype() == DType::float64)
    draw(g, n, 2, [&](const uint32_t* words, int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) v[i] = double_of(words + 2 * (i - b)) < v[i];
    });
  else
    draw(g, n, 1, [&](const uint32_t* words, int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) v[i] = double(Generator::to_float(words[i - b])) < v[i];
    });
  run_copy(p, out[0]);
}

template <class T> T stored(double v) {
  if constexpr (std::is_integral_v<T>) return T(v);
  else return T(float_cast<T>(v));
}
// Writes T(f(u)) into every element of a view, row by row, where u is drawn from [0, 1).
template <class F> void fill_each_row(const char* name, const Tensor& view, Generator& g, F&& f) {
  fill_rows(view, [&](const Tensor& t) {
    visit_real_dtype(name, t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* p = t.data<T>();
      draw(g, t.numel(), 2, [&](const uint32_t* words, int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) p[i] = stored<T>(f(double_of(words + 2 * (i - b))));
      });
    });
  });
}
template <class F> void fill_each(const char* name, const Tensor& out, Generator& g, F&& f) {
  fill_each_row(name, out.is_contiguous() ? out : in_order(out, memory_order(out)), g, f);
}
template <class Op> void bernoulli_fill(const Op& op, Inputs, Outputs out) {
  if (out[0].numel() == 0) return;  // of any dtype
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  fill_each("bernoulli_", out[0], g, [p = op.p](double u) { return double(u < p); });
}
// Each is made of a normal number, of which they come in pairs.
void fill_log_normal(const Tensor& out, Generator& g, double mean, double std) {
  fill_with(out, [&](const Tensor& t) {
    visit_real_dtype("log_normal_", t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < t.numel(); i++) t.data<T>()[i] = stored<T>(std::exp(g.normal() * std + mean));
    });
  });
}
void drawn_around(const DrawnAround&, Inputs in, Outputs out) {
  if (out[0].raw() != in[0].raw()) run_copy(in[0], out[0]);  // in place there is nothing to do but to be recorded
}

void drawn_fill(const DrawnFill& op, Inputs, Outputs out) {
  if (out[0].numel() == 0) return;  // of any dtype
  Generator& g = of(op.generator);
  std::lock_guard lock(g.mutex);
  const double a = op.a, b = op.b;
  if (op.distribution == "exponential") {
    fill_each("exponential_", out[0], g, [=](double u) { return -1.0 / a * std::log1p(-u); });
  } else if (op.distribution == "geometric") {
    // The draw 0 has no logarithm; the largest integer stands for it where the dtype has no infinity.
    fill_each("geometric_", out[0], g, [scale = std::log1p(-a)](double u) { return std::ceil(std::log(std::max(u, 0x1p-53)) / scale); });
  } else if (op.distribution == "cauchy") {
    fill_each("cauchy_", out[0], g, [=](double u) { return a + b * std::tan(M_PI * (u - 0.5)); });
  } else {
    fill_log_normal(out[0], g, a, b);
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
    const T* __restrict p = x.data<T>();
    T* __restrict q = y.data<T>();
    const auto* __restrict bytes = reinterpret_cast<const uint8_t*>(mask);  // loops over bool are not vectorised
    // A product where the mask is 0 too: a NaN that is dropped stays NaN. The factor is rounded to T, as PyTorch's noise is.
    if constexpr (std::is_same_v<T, double>) {
      const double scale = 1 / keep;
      for (int64_t i = b; i < e; i++) q[i] = p[i] * (bytes[i] * scale);
    } else if constexpr (std::is_same_v<T, float>) {
      const float scale = 1.0f / float(keep);
      for (int64_t i = b; i < e; i++) q[i] = p[i] * (float(bytes[i]) * scale);
    } else {  // some at a time, which convert in vectors
      constexpr int64_t kSome = 256;
      const float scale = float(T(1.0f / float(keep)));
      const Converter widen = converter(dtype_of<T>(), DType::float32), narrow = converter(DType::float32, dtype_of<T>());
      float some[kSome];
      for (int64_t i = b; i < e; i += kSome) {
        const int64_t m = std::min(kSome, e - i);
        widen(p + i, 1, some, 1, m);
        for (int64_t j = 0; j < m; j++) some[j] *= float(bytes[i + j]) * scale;
        narrow(some, 1, q + i, 1, m);
      }
    }
  };
  by_float(x.dtype(), run);
}

// Which of the next draws are below `keep`: a number of 53 bits is compared before it becomes a fraction.
void draw_mask(const Tensor& out, Generator& g, double keep) {
  const auto limit = int64_t(std::ceil(keep * 0x1p53));
  fill_rows(out, [&](const Tensor& t) {
    auto* p = reinterpret_cast<uint8_t*>(t.raw());  // loops over bool are not vectorised
    draw(g, t.numel(), 2, [=](const uint32_t* words, int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        uint64_t word;
        std::memcpy(&word, words + 2 * (i - b), sizeof word);  // the high half comes first
        p[i] = int64_t((word << 32 | word >> 32) & ((uint64_t(1) << 53) - 1)) < limit;
      }
    });
  });
}

void dropout(const DropoutWithMask& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  const double keep = 1 - op.p;
  {
    Generator& g = default_generator();
    std::lock_guard lock(g.mutex);
    draw_mask(in_order(out[1], memory_order(in[0])), g, keep);
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
  set_kernel<BernoulliFill, bernoulli_fill<BernoulliFill>>(cpu);
  set_kernel<BernoulliOf, bernoulli_fill<BernoulliOf>>(cpu);
  set_kernel<DrawnAround, drawn_around>(cpu);
  set_kernel<DrawnFill, drawn_fill>(cpu);
  set_kernel<RReluNoise, rrelu_noise>(cpu);
  set_kernel<RandPerm, randperm>(cpu);
  set_kernel<DropoutWithMask, dropout>(cpu);
  set_kernel<MaskScale, mask_scale>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
