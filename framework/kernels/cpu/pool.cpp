#include "framework/ops/pool.h"

#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// A pooling problem as (batch, planes of `lanes` interleaved channels): row-major tensors have one lane, channels_last
// ones have all channels as lanes, so the innermost loop is dense in both.
struct Planes {
  int64_t count, lanes, in_area = 1, out_area = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};  // depth, height, width
  Planes(const Dims& in_sizes, const Dims& out_sizes, bool last) {
    int n = in_sizes.n - 2;
    for (int i = 0; i < n; i++) {
      in[3 - n + i] = in_sizes[i + 2], out[3 - n + i] = out_sizes[i + 2];
      in_area *= in_sizes[i + 2], out_area *= out_sizes[i + 2];
    }
    lanes = last ? in_sizes[1] : 1;
    count = in_sizes[0] * (last ? 1 : in_sizes[1]);
  }
};
struct Window {
  int64_t k[3] = {1, 1, 1}, s[3] = {1, 1, 1}, p[3] = {0, 0, 0}, d[3] = {1, 1, 1};
  template <class Op> explicit Window(const Op& op) {
    int n = op.kernel_size.n;
    for (int i = 0; i < n; i++) {
      k[3 - n + i] = op.kernel_size[i], s[3 - n + i] = op.stride[i], p[3 - n + i] = op.padding[i];
      if constexpr (requires { op.dilation; }) d[3 - n + i] = op.dilation[i];
    }
  }
};

bool last_layout(const Tensor& t) { return !t.is_contiguous() && is_channels_last(t.sizes(), t.strides()); }
Tensor in_layout(const Tensor& t, bool last) {
  if (last ? is_channels_last(t.sizes(), t.strides()) : t.is_contiguous()) return t;
  return last ? copied(t, Meta(t.sizes(), channels_last_strides(t.sizes()), t.dtype(), {})) : row_major(t);
}

// Calls f(plane, output position, output coordinates) in parallel.
template <class F> void for_outputs(const Planes& p, F&& f) {
  parallel_for(p.count * p.out_area, std::max<int64_t>(1, kGrain / 8 / p.lanes), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      int64_t o = i % p.out_area;
      int64_t at[3] = {o / (p.out[1] * p.out[2]), o / p.out[2] % p.out[1], o % p.out[2]};
      f(i / p.out_area, o, at);
    }
  });
}
template <class F> void for_window(const Planes& p, const Window& w, const int64_t* at, F&& f) {
  for (int64_t a = 0; a < w.k[0]; a++)
    for (int64_t b = 0; b < w.k[1]; b++)
      for (int64_t c = 0; c < w.k[2]; c++) {
        int64_t z = at[0] * w.s[0] - w.p[0] + a * w.d[0], y = at[1] * w.s[1] - w.p[1] + b * w.d[1], x = at[2] * w.s[2] - w.p[2] + c * w.d[2];
        if (z < 0 || z >= p.in[0] || y < 0 || y >= p.in[1] || x < 0 || x >= p.in[2]) continue;
        f((z * p.in[1] + y) * p.in[2] + x);
      }
}

template <class F> void by_type(DType t, F&& f) {
  visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) throw NotImplemented("pooling: not implemented for 'bool'");
    else f(tag);
  });
}
template <class T> using Acc = std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

constexpr int64_t kLanes = 64;

void max_pool(const MaxPool& op, Inputs in, Outputs out) {
  bool last = last_layout(out[0]);
  Tensor x = in_layout(in[0], last);
  Planes p(x.sizes(), out[0].sizes(), last);
  Window w(op);
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    using A = Acc<T>;
    for_outputs(p, [&](int64_t plane, int64_t o, const int64_t* at) {
      const T* src = x.data<T>() + plane * p.in_area * p.lanes;
      int64_t to = (plane * p.out_area + o) * p.lanes;
      // In blocks of lanes, in the compute type and with 32-bit positions: dense vector code for every dtype.
      for (int64_t b = 0; b < p.lanes; b += kLanes) {
        int64_t m = std::min(kLanes, p.lanes - b);
        alignas(64) A best[kLanes], row[kLanes];
        alignas(64) int32_t index[kLanes];
        bool first = true;
        for_window(p, w, at, [&](int64_t i) {
          const A* v = row;
          if constexpr (std::is_same_v<T, A>) v = src + i * p.lanes + b;
          else convert(x.dtype(), src + i * p.lanes + b, 1, dtype_of<A>(), row, 1, m);
          if (first) std::copy(v, v + m, best), std::fill(index, index + m, int32_t(i));
#pragma omp simd
          for (int64_t l = 0; l < m; l++) {
            bool better = v[l] > best[l] || v[l] != v[l];
            best[l] = better ? v[l] : best[l];
            index[l] = better ? int32_t(i) : index[l];
          }
          first = false;
        });
        convert(dtype_of<A>(), best, 1, out[0].dtype(), out[0].data<T>() + to + b, 1, m);
        std::copy(index, index + m, out[1].data<int64_t>() + to + b);
      }
    });
  });
}

void max_pool_backward(const MaxPoolBackward& op, Inputs in, Outputs out) {
  bool last = last_layout(out[0]);
  Tensor dy = in_layout(in[0], last), index = in_layout(in[1], last);
  Planes p(op.input_size, dy.sizes(), last);
  by_type(dy.dtype(), [&]<class T>(TypeTag<T>) {
    parallel_for(p.count, 1, [&](int64_t b, int64_t e) {
      std::vector<Acc<T>> sum(std::is_same_v<Acc<T>, T> ? 0 : p.in_area * p.lanes);
      for (int64_t plane = b; plane < e; plane++) {
        T* dx = out[0].data<T>() + plane * p.in_area * p.lanes;
        Acc<T>* acc;
        if constexpr (std::is_same_v<Acc<T>, T>) acc = dx;
        else acc = sum.data();
        std::fill_n(acc, p.in_area * p.lanes, Acc<T>(0));
        for (int64_t o = 0; o < p.out_area; o++) {
          int64_t at = (plane * p.out_area + o) * p.lanes;
          for (int64_t l = 0; l < p.lanes; l++) acc[index.data<int64_t>()[at + l] * p.lanes + l] += Acc<T>(dy.data<T>()[at + l]);
        }
        if constexpr (!std::is_same_v<Acc<T>, T>)
          for (int64_t i = 0; i < p.in_area * p.lanes; i++) dx[i] = T(float(acc[i]));
      }
    });
  });
}

// The divisor of a window: its size with padding, without, or a given one.
double divisor(const Planes& p, const Window& w, const int64_t* at, bool count_pad, const std::optional<int64_t>& given) {
  if (given) return double(*given);
  double n = 1;
  for (int i = 0; i < 3; i++) {
    int64_t b = at[i] * w.s[i] - w.p[i], e = std::min(b + w.k[i], p.in[i] + w.p[i]);
    n *= double(count_pad ? e - b : std::max<int64_t>(1, std::min(e, p.in[i]) - std::max<int64_t>(b, 0)));
  }
  return n;
}

void avg_pool(const AvgPool& op, Inputs in, Outputs out) {
  bool last = last_layout(out[0]);
  Tensor x = in_layout(in[0], last);
  Planes p(x.sizes(), out[0].sizes(), last);
  Window w(op);
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    for_outputs(p, [&](int64_t plane, int64_t o, const int64_t* at) {
      const T* src = x.data<T>() + plane * p.in_area * p.lanes;
      T* dst = out[0].data<T>() + (plane * p.out_area + o) * p.lanes;
      thread_local std::vector<Acc<T>> sum;  // kept: an allocation per output would cost more than its window
      sum.assign(p.lanes, 0);
      for_window(p, w, at, [&](int64_t i) {
        for (int64_t l = 0; l < p.lanes; l++) sum[l] += Acc<T>(src[i * p.lanes + l]);
      });
      double d = divisor(p, w, at, op.count_include_pad, op.divisor_override);
      for (int64_t l = 0; l < p.lanes; l++) dst[l] = T(Acc<T>(double(sum[l]) / d));
    });
  });
}

// Adds dy / divisor over every window; planes are independent, so threads share planes.
template <class Each> void spread(const Tensor& grad, const Tensor& dx, Each&& each) {
  bool last = last_layout(dx);
  Tensor dy = in_layout(grad, last);
  Planes p(dx.sizes(), dy.sizes(), last);
  by_type(dx.dtype(), [&]<class T>(TypeTag<T>) {
    parallel_for(p.count, 1, [&](int64_t b, int64_t e) {
      std::vector<Acc<T>> sum(p.in_area * p.lanes);
      for (int64_t plane = b; plane < e; plane++) {
        std::fill(sum.begin(), sum.end(), Acc<T>(0));
        for (int64_t o = 0; o < p.out_area; o++) {
          int64_t at[3] = {o / (p.out[1] * p.out[2]), o / p.out[2] % p.out[1], o % p.out[2]};
          const T* g = dy.data<T>() + (plane * p.out_area + o) * p.lanes;
          each(p, at, [&](int64_t i, double d) {
            Acc<T> scale = Acc<T>(1 / d);
            for (int64_t l = 0; l < p.lanes; l++) sum[i * p.lanes + l] += Acc<T>(g[l]) * scale;
          });
        }
        T* to = dx.data<T>() + plane * p.in_area * p.lanes;
        for (int64_t i = 0; i < p.in_area * p.lanes; i++) to[i] = T(sum[i]);
      }
    });
  });
}

void avg_pool_backward(const AvgPoolBackward& op, Inputs in, Outputs out) {
  Window w(op);
  spread(in[0], out[0], [&](const Planes& p, const int64_t* at, auto&& add) {
    double d = divisor(p, w, at, op.count_include_pad, op.divisor_override);
    for_window(p, w, at, [&](int64_t i) { add(i, d); });
  });
}

// Window i of n over a size: [floor(i * size / n), ceil((i + 1) * size / n)).
template <class F> void adaptive_window(const Planes& p, const int64_t* at, F&& f) {
  int64_t b[3], e[3], n = 1;
  for (int i = 0; i < 3; i++) {
    b[i] = at[i] * p.in[i] / p.out[i];
    e[i] = ((at[i] + 1) * p.in[i] + p.out[i] - 1) / p.out[i];
    n *= e[i] - b[i];
  }
  for (int64_t z = b[0]; z < e[0]; z++)
    for (int64_t y = b[1]; y < e[1]; y++)
      for (int64_t x = b[2]; x < e[2]; x++) f((z * p.in[1] + y) * p.in[2] + x, double(n));
}
void adaptive_avg_pool(const AdaptiveAvgPool&, Inputs in, Outputs out) {
  bool last = last_layout(out[0]) || (last_layout(in[0]) && is_channels_last(out[0].sizes(), out[0].strides()));
  Tensor x = in_layout(in[0], last);
  Planes p(x.sizes(), out[0].sizes(), last);
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    for_outputs(p, [&](int64_t plane, int64_t o, const int64_t* at) {
      const T* src = x.data<T>() + plane * p.in_area * p.lanes;
      T* dst = out[0].data<T>() + (plane * p.out_area + o) * p.lanes;
      thread_local std::vector<Acc<T>> sum;  // kept: an allocation per output would cost more than its window
      sum.assign(p.lanes, 0);
      double n = 1;
      adaptive_window(p, at, [&](int64_t i, double count) {
        n = count;
        for (int64_t l = 0; l < p.lanes; l++) sum[l] += Acc<T>(src[i * p.lanes + l]);
      });
      for (int64_t l = 0; l < p.lanes; l++) dst[l] = T(Acc<T>(double(sum[l]) / n));
    });
  });
}
void adaptive_avg_pool_backward(const AdaptiveAvgPoolBackward&, Inputs in, Outputs out) {
  spread(in[0], out[0], [](const Planes& p, const int64_t* at, auto&& add) { adaptive_window(p, at, add); });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<MaxPool, max_pool>(cpu);
  set_kernel<MaxPoolBackward, max_pool_backward>(cpu);
  set_kernel<AvgPool, avg_pool>(cpu);
  set_kernel<AvgPoolBackward, avg_pool_backward>(cpu);
  set_kernel<AdaptiveAvgPool, adaptive_avg_pool>(cpu);
  set_kernel<AdaptiveAvgPoolBackward, adaptive_avg_pool_backward>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
