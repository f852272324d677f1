#include "framework/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/halves.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/registers.h"
#include "framework/kernels/cpu/transpose.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class T> void convert_line(const Tensor& x, int64_t offset, int64_t stride, T* buffer, int64_t n) {
  convert(x.dtype(), x.raw() + offset * int64_t(size_of(x.dtype())), stride, dtype_of<T>(), buffer, 1, n);
}
// A line along dim as contiguous numbers of the compute type: the tensor's own memory when it is that already.
template <class T> const T* read_line(const Tensor& x, int64_t offset, int64_t stride, T* buffer, int64_t n) {
  if (stride == 1 && x.dtype() == dtype_of<T>()) return x.data<T>() + offset;
  convert_line(x, offset, stride, buffer, n);
  return buffer;
}
template <class T> void write_line(const Tensor& y, int64_t offset, int64_t stride, const T* line, int64_t n) {
  convert(dtype_of<T>(), line, 1, y.dtype(), y.raw() + offset * int64_t(size_of(y.dtype())), stride, n);
}

// Runs `f(read offset, stride, write offset, line buffers)` for every line along dim of same-shaped tensors.
template <class T, class F> void for_lines(const Tensor& x, int64_t dim, const Tensor& y, F&& f) {
  if (y.numel() == 0) return;
  const Axis axis(x.sizes(), dim, "softmax");
  const int64_t n = axis.n, inner = axis.inner;
  parallel_for(y.numel() / n, kGrain / 8 / n, [&](int64_t b, int64_t e) {
    Scratch<T> one(n), two(n);
    for (int64_t l = b; l < e; l++) {
      f(axis.line(l), inner, n, one.data(), two.data());
    }
  });
}

// Where lines are columns: panels of kPanel neighbouring ones go row by row. `f(offset of the panel, columns, rows, row stride)`.
constexpr int64_t kPanel = 64;
constexpr int64_t kWide = 512;  // where they are read in place: a load waits for a store a multiple of 4 KiB before it, so that rows are walked for long
template <class F> bool for_panels(const Tensor& y, int64_t dim, bool direct, F&& f) {
  const Axis axis(y.sizes(), dim, "softmax");
  const int64_t n = axis.n, inner = axis.inner;
  if (!direct || inner < 8 || y.numel() == 0) return false;
  int64_t panels = (inner + kWide - 1) / kWide;
  parallel_for(axis.outer * panels, kGrain / 8 / n / kWide, [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; p++) {
      int64_t column = p % panels * kWide;
      f(p / panels * n * inner + column, std::min(kWide, inner - column), n, inner);
    }
  });
  return true;
}
// Short dense lines, a panel of them turned at a time: `f(the inputs, the result, columns)`, each as n rows of kPanel numbers.
// Below how many numbers that pays: forward, where a line by itself has two sums of few vectors and a logarithm, and backward.
constexpr int64_t kShortLine = 64, kShortGradient = 25;
template <class T, size_t N, class F> bool for_turned_panels(const Tensor (&in)[N], int64_t dim, const Tensor& y, int64_t limit, F&& f) {
  const Axis axis(y.sizes(), dim, "softmax");
  const int64_t n = axis.n;
  if (axis.inner != 1 || n >= limit || axis.outer < 8 || y.numel() == 0) return false;
  const int64_t panels = (axis.outer + kPanel - 1) / kPanel;
  const bool direct = y.dtype() == dtype_of<T>();
  using Item = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  parallel_for(panels, kGrain / 8 / n / kPanel, [&](int64_t b, int64_t e) {
    alignas(64) T turned[N + 1][kShortLine * kPanel], lines[kShortLine * kPanel];
    for (int64_t p = b; p < e; p++) {
      const int64_t first = p * kPanel, columns = std::min(kPanel, axis.outer - first);
      for (size_t k = 0; k < N; k++) turn<Item>(read_line(in[k], first * n, 1, lines, columns * n), n, turned[k], kPanel, columns, n);
      f(turned, turned[N], columns, n);
      turn<Item>(turned[N], kPanel, direct ? y.data<T>() + first * n : lines, n, n, columns);
      if (!direct) write_line(y, first * n, 1, lines, columns * n);
    }
  });
  return true;
}

// Columns of numbers in another type than they are computed in, a panel of them converted at a time; `f` as above.
template <class T, size_t N, class F> bool for_converted_panels(const Tensor (&in)[N], int64_t dim, const Tensor& y, F&& f) {
  constexpr int64_t kLongest = 1024;  // a panel of as many rows still fits into the second-level cache
  const Axis axis(y.sizes(), dim, "softmax");
  const int64_t n = axis.n;
  if (axis.inner < 8 || n > kLongest || y.numel() == 0) return false;
  const int64_t panels = (axis.inner + kPanel - 1) / kPanel;
  parallel_for(axis.outer * panels, kGrain / 8 / n / kPanel, [&](int64_t b, int64_t e) {
    Scratch<T> converted((N + 1) * n * kPanel);
    T* rows[N + 1];
    for (size_t k = 0; k <= N; k++) rows[k] = converted.data() + k * n * kPanel;
    for (int64_t p = b; p < e; p++) {
      const int64_t column = p % panels * kPanel, columns = std::min(kPanel, axis.inner - column), at = p / panels * n * axis.inner + column;
      for (size_t k = 0; k < N; k++)
        for (int64_t r = 0; r < n; r++) convert_line(in[k], at + r * axis.inner, 1, rows[k] + r * kPanel, columns);
      f(rows, rows[N], columns, n);
      for (int64_t r = 0; r < n; r++) write_line(y, at + r * axis.inner, 1, rows[N] + r * kPanel, columns);
    }
  });
  return true;
}

// Blocks of neighbouring columns that fit into registers: f(first column, registers as a constant, how many columns the last of them has).
template <class T, class F> void for_blocks(int64_t columns, F&& f) {
  constexpr int w = Vec<T>::size, k = 4;
  int64_t c = 0;
  for (; c + k * w <= columns; c += k * w) f(c, std::integral_constant<int, k>(), w);
  for_registers<T>(columns - c, [&](int64_t i, int count) { f(c + i, std::integral_constant<int, 1>(), count); });
}

// n rows of neighbouring columns, `stride` apart.
template <class T, bool kLog, int k> void forward_block(const T* from, T* to, int count, int64_t n, int64_t stride) {
  constexpr int w = Vec<T>::size;
  Vec<T> top[k], total[k];
  for (int j = 0; j < k; j++) top[j] = Vec<T>(-std::numeric_limits<T>::infinity()), total[j] = Vec<T>(0);
  for (int64_t r = 0; r < n; r++)
    for (int j = 0; j < k; j++) {
      const Vec<T> v = load(from + r * stride + j * w, count);
      top[j] = where((v > top[j]) | (v != v), v, top[j]);
    }
  for (int64_t r = 0; r < n; r++)
    for (int j = 0; j < k; j++) {
      const Vec<T> e = exp(load(from + r * stride + j * w, count) - top[j]);
      if (!kLog) store(e, to + r * stride + j * w, count);
      total[j] = total[j] + e;
    }
  for (int j = 0; j < k; j++) total[j] = kLog ? log(total[j]) : Vec<T>(1) / total[j];
  for (int64_t r = 0; r < n; r++)
    for (int j = 0; j < k; j++) {
      const Vec<T> v = load((kLog ? from : to) + r * stride + j * w, count);
      store(kLog ? v - top[j] - total[j] : v * total[j], to + r * stride + j * w, count);
    }
}
template <class T, bool kLog> void forward_panel(const T* from, T* to, int64_t columns, int64_t n, int64_t stride) {
  for_blocks<T>(columns, [&](int64_t c, auto k, int count) { forward_block<T, kLog, k>(from + c, to + c, count, n, stride); });
}
template <class T, bool kLog> bool forward_columns(const Tensor& x, int64_t dim, const Tensor& y) {
  auto panel = [](const auto& in, T* out, int64_t columns, int64_t n) { forward_panel<T, kLog>(in[0], out, columns, n, kPanel); };
  return for_panels(y, dim, x.dtype() == dtype_of<T>() && y.dtype() == dtype_of<T>(), [&](int64_t at, int64_t columns, int64_t n, int64_t stride) {
    forward_panel<T, kLog>(x.data<T>() + at, y.data<T>() + at, columns, n, stride);
  }) || for_turned_panels<T>({x}, dim, y, kShortLine + (x.dtype() != dtype_of<T>()), panel) || for_converted_panels<T>({x}, dim, y, panel);
}

// A register of the first n numbers at p, which are stored as S and computed with as T, and back.
template <class T, class S> Vec<T> load_as(const S* p, int n) {
  if constexpr (std::is_same_v<T, S>) {
    return load(p, n);
  } else {
    S pad[Vec<T>::size] = {};
    return widened(n < Vec<T>::size ? std::copy_n(p, n, pad), pad : p);
  }
}
template <class T, class S> void store_as(Vec<T> v, S* p, int n) {
  if constexpr (std::is_same_v<T, S>) {
    store(v, p, n);
  } else if (n == Vec<T>::size) {
    narrow(v, p);
  } else {
    S pad[Vec<T>::size];
    narrow(v, pad), std::copy_n(pad, n, p);
  }
}

template <class T, bool kLog, class S> void backward_panel(const S* g, const S* v, S* to, int64_t columns, int64_t n, int64_t stride) {
  T total[kWide] = {};
  for (int64_t r = 0; r < n; r++)
    for_registers<T>(columns, [&](int64_t c, int count) {
      const Vec<T> gr = load_as<T>(g + r * stride + c, count);
      store(load(total + c, count) + (kLog ? gr : gr * load_as<T>(v + r * stride + c, count)), total + c, count);
    });
  for (int64_t r = 0; r < n; r++)
    for_registers<T>(columns, [&](int64_t c, int count) {
      const int64_t at = r * stride + c;
      const Vec<T> gr = load_as<T>(g + at, count), vr = load_as<T>(v + at, count), sum = load(total + c, count);
      store_as(kLog ? gr - exp(vr) * sum : vr * (gr - sum), to + at, count);
    });
}
template <class T, bool kLog> bool backward_columns(const Tensor& dy, const Tensor& y, int64_t dim, const Tensor& dx) {
  auto in_place = [&]<class S>(TypeTag<S>) {
    const DType t = dtype_of<S>();
    return for_panels(dx, dim, dy.dtype() == t && y.dtype() == t && dx.dtype() == t, [&](int64_t at, int64_t columns, int64_t n, int64_t stride) {
      backward_panel<T, kLog>(dy.data<S>() + at, y.data<S>() + at, dx.data<S>() + at, columns, n, stride);
    });
  };
  if (in_place(TypeTag<T>{})) return true;
  if constexpr (std::is_same_v<T, float>) {
    if (in_place(TypeTag<BFloat16>{})) return true;
#ifdef __F16C__
    if (in_place(TypeTag<Half>{})) return true;
#endif
  }
  auto panel = [](const auto& in, T* out, int64_t columns, int64_t n) { backward_panel<T, kLog, T>(in[0], in[1], out, columns, n, kPanel); };
  return for_turned_panels<T>({dy, y}, dim, dx, kShortGradient, panel) || for_converted_panels<T>({dy, y}, dim, dx, panel);
}

template <class T, bool kLog> void forward(const Tensor& in, int64_t dim, const Tensor& y) {
  Tensor x = row_major(in);
  if (forward_columns<T, kLog>(x, dim, y)) return;
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
  if (backward_columns<T, kLog>(dy, y, dim, dx)) return;
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
// Whether there are numbers beyond infinity, as bits.
template <class U> bool any_nan(const Tensor& y, U infinity) {
  const U* bits = reinterpret_cast<const U*>(y.raw());
  bool found = false;
  for (int64_t i = 0; i < y.numel(); i++) found |= (bits[i] & U(U(-1) >> 1)) > infinity;
  return found;
}
bool any_nan(const Tensor& y) {
  switch (y.dtype()) {
    case DType::float64: return any_nan(y, uint64_t(0x7ff) << 52);
    case DType::float32: return any_nan(y, uint32_t(0xff) << 23);
    case DType::bfloat16: return any_nan(y, uint16_t(0xff << 7));
    default: return any_nan(y, uint16_t(0x1f << 10));
  }
}

/// Softmax, and zeros for the lines of -infinity alone, which it makes NaN of.
void run_safe(const SafeSoftmax& op, Inputs in, Outputs out) {
  run_forward<false>(op, in, out);
  const Tensor &y = out[0];
  if (!any_nan(y)) return;
  const Tensor x = row_major(in[0]);
  by_type(y.dtype(), [&]<class T>(TypeTag<T>) {
    for_lines<T>(x, op.dim, y, [&](int64_t at, int64_t stride, int64_t n, T* a, T* b) {
      T first;
      convert_line(y, at, stride, &first, 1);
      if (!std::isnan(first)) return;
      const T* v = read_line<T>(x, at, stride, a, n);
      if (std::any_of(v, v + n, [](T e) { return e != -std::numeric_limits<T>::infinity(); })) return;
      std::fill_n(b, n, T(0));
      write_line(y, at, stride, b, n);
    });
  });
}
template <bool kLog, class Op> void run_backward(const Op& op, Inputs in, Outputs out) {
  by_type(out[0].dtype(), [&]<class T>(TypeTag<T>) { backward<T, kLog>(in[0], in[1], op.dim, out[0]); });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Softmax, run_forward<false, Softmax>>(cpu);
  set_kernel<SafeSoftmax, run_safe>(cpu);
  set_kernel<LogSoftmax, run_forward<true, LogSoftmax>>(cpu);
  set_kernel<SoftmaxBackward, run_backward<false, SoftmaxBackward>>(cpu);
  set_kernel<LogSoftmaxBackward, run_backward<true, LogSoftmaxBackward>>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
