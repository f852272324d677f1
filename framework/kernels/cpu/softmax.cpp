#include "framework/ops/softmax.h"

#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// A line along dim as contiguous numbers of the compute type: the tensor's own memory when it is that already.
template <class T> const T* read_line(const Tensor& x, int64_t offset, int64_t stride, T* buffer, int64_t n) {
  const std::byte* p = x.raw() + offset * int64_t(size_of(x.dtype()));
  if (stride == 1 && x.dtype() == dtype_of<T>()) return reinterpret_cast<const T*>(p);
  convert(x.dtype(), p, stride, dtype_of<T>(), buffer, 1, n);
  return buffer;
}
template <class T> void write_line(const Tensor& y, int64_t offset, int64_t stride, const T* line, int64_t n) {
  convert(dtype_of<T>(), line, 1, y.dtype(), y.raw() + offset * int64_t(size_of(y.dtype())), stride, n);
}

template <class T, class F> T fold(const T* x, int64_t n, T start, F&& join) {
  constexpr int w = Vec<T>::size, k = 4;  // four chains, since one waits for its own result
  Vec<T> acc[k] = {Vec<T>(start), Vec<T>(start), Vec<T>(start), Vec<T>(start)};
  int64_t i = 0;
  for (; i + k * w <= n; i += k * w)
    for (int j = 0; j < k; j++) acc[j] = join(acc[j], Vec<T>::load(x + i + j * w));
  for (; i + w <= n; i += w) acc[0] = join(acc[0], Vec<T>::load(x + i));
  T r = across_lanes(join(join(acc[0], acc[1]), join(acc[2], acc[3])), join);
  for (; i < n; i++) r = join(Vec<T>(r), Vec<T>(x[i])).v[0];
  return r;
}
template <class T, class F> void map(const T* x, T* y, int64_t n, F&& f) {
  constexpr int w = Vec<T>::size;
  int64_t i = 0;
  for (; i + w <= n; i += w) f(Vec<T>::load(x + i)).store(y + i);
  if (i == n) return;
  T pad[w] = {};
  std::copy(x + i, x + n, pad);
  f(Vec<T>::load(pad)).store(pad);
  std::copy(pad, pad + (n - i), y + i);
}
template <class T> T largest_of(const T* x, int64_t n) {
  return fold(x, n, -std::numeric_limits<T>::infinity(), [](auto a, auto b) { return where((a > b) | (a != a), a, b); });
}
template <class T> T sum_of(const T* x, int64_t n) {
  return fold(x, n, T(0), [](auto a, auto b) { return a + b; });
}

// Runs `f(read offset, stride, write offset, line buffers)` for every line along dim of same-shaped tensors.
template <class T, class F> void for_lines(const Tensor& x, int64_t dim, const Tensor& y, F&& f) {
  if (y.numel() == 0) return;
  int d = wrap_dim(dim, x.ndim(), "softmax");
  int64_t n = x.ndim() ? x.sizes()[d] : 1, inner = 1;
  for (int i = d + 1; i < x.ndim(); i++) inner *= x.sizes()[i];
  parallel_for(y.numel() / n, std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t b, int64_t e) {
    std::vector<T> one(n), two(n);
    for (int64_t l = b; l < e; l++) {
      int64_t at = l / inner * n * inner + l % inner;
      f(at, inner, n, one.data(), two.data());
    }
  });
}


template <class T, bool kLog> void forward(const Tensor& in, int64_t dim, const Tensor& y) {
  Tensor x = row_major(in);
  for_lines<T>(x, dim, y, [&](int64_t at, int64_t stride, int64_t n, T* a, T* b) {
    const T* v = read_line<T>(x, at, stride, a, n);
    bool direct = stride == 1 && y.dtype() == dtype_of<T>();
    T* to = direct ? y.data<T>() + at : b;
    T top = largest_of(v, n);
    // A line of -inf has no maximum to subtract: NaN follows, as in PyTorch.
    Vec<T> shift(top);
    map(v, to, n, [shift](Vec<T> e) { return exp(e - shift); });
    T total = sum_of(to, n);
    if (kLog) {
      Vec<T> less(std::log(total));
      map(v, to, n, [=](Vec<T> e) { return e - shift - less; });
    } else {
      Vec<T> scale(T(1) / total);
      map(to, to, n, [scale](Vec<T> e) { return e * scale; });
    }
    if (!direct) write_line(y, at, stride, to, n);
  });
}

template <class T, bool kLog> void backward(const Tensor& grad, const Tensor& output, int64_t dim, const Tensor& dx) {
  Tensor dy = row_major(grad), y = row_major(output);
  for_lines<T>(y, dim, dx, [&](int64_t at, int64_t stride, int64_t n, T* a, T* b) {
    const T *g = read_line<T>(dy, at, stride, a, n), *v = read_line<T>(y, at, stride, b, n);
    constexpr int w = Vec<T>::size;
    Vec<T> acc(0);
    int64_t i = 0;
    for (; i + w <= n; i += w) acc = acc + (kLog ? Vec<T>::load(g + i) : Vec<T>::load(g + i) * Vec<T>::load(v + i));
    T total = sum_lanes(acc);
    for (; i < n; i++) total += kLog ? g[i] : g[i] * v[i];
    bool direct = stride == 1 && dx.dtype() == dtype_of<T>();
    T* to = direct ? dx.data<T>() + at : a;
    Vec<T> s(total);
    for (i = 0; i + w <= n; i += w) {
      Vec<T> gi = Vec<T>::load(g + i), vi = Vec<T>::load(v + i);
      (kLog ? gi - exp(vi) * s : vi * (gi - s)).store(to + i);
    }
    for (; i < n; i++) to[i] = kLog ? g[i] - std::exp(v[i]) * total : v[i] * (g[i] - total);
    if (!direct) write_line(dx, at, stride, to, n);
  });
}

template <class F> void by_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}
template <bool kLog, class Op> void run_forward(const Op& op, Inputs in, Outputs out) {
  by_type(out[0].dtype(), [&]<class T>(TypeTag<T>) { forward<T, kLog>(in[0], op.dim, out[0]); });
}
template <bool kLog, class Op> void run_backward(const Op& op, Inputs in, Outputs out) {
  by_type(out[0].dtype(), [&]<class T>(TypeTag<T>) { backward<T, kLog>(in[0], in[1], op.dim, out[0]); });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Softmax, run_forward<false, Softmax>>(cpu);
  set_kernel<LogSoftmax, run_forward<true, LogSoftmax>>(cpu);
  set_kernel<SoftmaxBackward, run_backward<false, SoftmaxBackward>>(cpu);
  set_kernel<LogSoftmaxBackward, run_backward<true, LogSoftmaxBackward>>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
