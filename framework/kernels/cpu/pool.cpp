#include "framework/ops/pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/kernels/cpu/pool_max.h"
#include "framework/kernels/cpu/pool_planes.h"

namespace weir {
namespace WEIR_ISA {
namespace {

using namespace pool;

// What outputs average, axis by axis: output i of an axis takes inputs [begin, end), and the divisor of a window is the
// product of its axes' sizes. Found once a call: the divisions would cost more than a small window's sum.
struct Span {
  int64_t begin, end;
  double size;
};
struct Spans {
  std::vector<std::pair<Span, Span>> rows;  // depth and height of every output row
  Scratch<Span> columns;

  explicit Spans(Scratch<Span> (&axes)[3]) : columns(std::move(axes[2])) {
    for (const Span& z : axes[0])
      for (const Span& y : axes[1]) rows.emplace_back(z, y);
  }
  /// Whether a window's columns are added up anew for each output, not once for all that share them.
  bool overlap_little(const Planes& p) const {
    int64_t taps = 0;
    for (const Span& x : columns) taps += x.end - x.begin;
    return taps <= 2 * p.in[2] + p.out[2];
  }
};

// Windows clipped to the input; the divisor counts padding, does not, or is a given number.
template <class Op> Spans window_spans(const Op& op, const Planes& p) {
  Window w(op);
  Scratch<Span> axes[3];
  for (int a = 0; a < 3; a++)
    for (int64_t i = 0; i < p.out[a]; i++) {
      int64_t b = i * w.s[a] - w.p[a], e = std::min(b + w.k[a], p.in[a] + w.p[a]);
      int64_t first = std::max<int64_t>(b, 0), end = std::max(std::min(e, p.in[a]), first);
      double size = double(op.count_include_pad ? e - b : std::max<int64_t>(1, end - first));
      if (op.divisor_override) size = a == 0 ? double(*op.divisor_override) : 1;
      axes[a].push_back({first, end, size});
    }
  return Spans(axes);
}
// Window i of n over a size: [floor(i * size / n), ceil((i + 1) * size / n)).
Spans adaptive_spans(const Planes& p) {
  Scratch<Span> axes[3];
  for (int a = 0; a < 3; a++)
    for (int64_t i = 0, n = p.out[a]; i < n; i++) {
      int64_t b = i * p.in[a] / n, e = ((i + 1) * p.in[a] + n - 1) / n;
      axes[a].push_back({b, e, double(e - b)});
    }
  return Spans(axes);
}

// A row of outputs of one plane and the input rows under it.
struct OutputRow {
  const Planes& p;
  const Span &z, &y;
  const Scratch<Span>& columns;
  OutputRow(const Planes& planes, const Spans& spans, int64_t row)
      : p(planes), z(spans.rows[row].first), y(spans.rows[row].second), columns(spans.columns) {}

  double divisor(const Span& x) const { return z.size * y.size * x.size; }
  /// Calls f(position of the first column) for every input row.
  template <class F> void for_input_rows(F&& f) const {
    for (int64_t i = z.begin; i < z.end; i++)
      for (int64_t j = y.begin; j < y.end; j++) f((i * p.in[1] + j) * p.in[2]);
  }
  bool has_one_input_row() const { return z.end - z.begin == 1 && y.end - y.begin == 1; }
  /// Calls f(position, length) for the runs under the only output of the row. Short full rows make one run; long ones
  /// stay apart, so that a sum of runs adds few numbers in a row.
  template <class F> void for_runs(F&& f) const {
    int64_t n = columns[0].end - columns[0].begin;
    if (n == p.in[2] && n < kLanes)
      for (int64_t i = z.begin; i < z.end; i++) f((i * p.in[1] + y.begin) * p.in[2], n * (y.end - y.begin));
    else
      for_input_rows([&](int64_t line) { f(line + columns[0].begin, n); });
  }
};

/// Sums of integers wrap, and their means are cut off, as in PyTorch.
template <class A> A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>) return A(std::make_unsigned_t<A>(a) + std::make_unsigned_t<A>(b));
  else return a + b;
}
template <class T, class A> T mean_of(A sum, double divisor) {
  if constexpr (std::is_integral_v<T>) return T(sum / A(divisor));
  else return T(Acc<T>(double(sum) / divisor));
}
// Makes means of n sums, in the type of the sums.
template <class T> void divide(Acc<T>* sum, double divisor, int64_t n) {
  if constexpr (std::is_same_v<Acc<T>, float>) {
    if (const float d = float(divisor); double(d) == divisor) {  // a quotient of floats in double precision rounds to the same float
#pragma omp simd
      for (int64_t i = 0; i < n; i++) sum[i] /= d;
      return;
    }
  }
  for (int64_t i = 0; i < n; i++) sum[i] = mean_of<Acc<T>>(sum[i], divisor);
}

template <class T> Acc<T> sum_run(const T* x, int64_t n) {
  Acc<T> sum = 0;
  int64_t i = 0;
  if constexpr (std::is_floating_point_v<T>) {
    // By hand: the compiler's reduction costs more than a 7x7 plane has to add.
    constexpr int w = Vec<T>::size;
    Vec<T> acc(0);
    for (; i + w <= n; i += w) acc = acc + Vec<T>::load(x + i);
    sum = sum_lanes(acc);
  }
  for (; i < n; i++) sum = plus(sum, Acc<T>(x[i]));
  return sum;
}

// A row of a row-major plane: first whole input rows into one line of sums, then the columns of each window.
template <class T> void average_columns(const OutputRow& row, const T* src, Acc<T>* line, Scratch<Wide<T>>& run, T* dst) {
  if (row.p.out[2] == 1) {
    using Total = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    Total total = 0;
    row.for_runs([&](int64_t i, int64_t n) { total = plus(total, Total(sum_run(src + i, n))); });
    *dst = mean_of<T>(total, row.divisor(row.columns[0]));
    return;
  }
  auto average = [&](const auto* from) {
    for (const Span& x : row.columns) {
      Acc<T> sum = 0;
      for (int64_t i = x.begin; i < x.end; i++) sum = plus(sum, Acc<T>(from[i]));
      *dst++ = mean_of<T>(sum, row.divisor(x));
    }
  };
  if (row.has_one_input_row()) return row.for_input_rows([&](int64_t at) { average(widened(src + at, run, row.p.in[2])); });
  std::fill_n(line, row.p.in[2], Acc<T>(0));
  row.for_input_rows([&](int64_t at) {
    const Wide<T>* from = widened(src + at, run, row.p.in[2]);
    for (int64_t x = 0; x < row.p.in[2]; x++) line[x] = plus(line[x], Acc<T>(from[x]));
  });
  average(line);
}
// Channels side by side that fill registers, in which the sums of a window stay: of every output column, in the order of its rows. T is a floating type.
template <class T> void average_registers(const OutputRow& row, const T* src, T* dst) {
  using A = Acc<T>;
  using V = Vec<A>;
  const int64_t lanes = row.p.lanes;
  for (const Span& x : row.columns) {
    const double divisor = row.divisor(x);
    const bool exact = double(A(divisor)) == divisor;  // a quotient of floats in double precision rounds to the same float
    for_lanes<A>(lanes, [&]<int kVectors>(std::integral_constant<int, kVectors>, int64_t lane) {
      V sum[kVectors];
      for (V& s : sum) s = V(0);
      row.for_input_rows([&](int64_t at) {
        for (const T *p = src + (at + x.begin) * lanes + lane, *end = p + (x.end - x.begin) * lanes; p != end; p += lanes)
          for (int v = 0; v < kVectors; v++) sum[v] = sum[v] + vector_of<A>(p + v * V::size);
      });
      A some[kVectors * V::size], *mean = target<T, A>(dst + lane, some);
      for (int v = 0; v < kVectors; v++) (exact ? sum[v] / V(A(divisor)) : sum[v]).store(mean + v * V::size);
      if (!exact) divide<T>(mean, divisor, kVectors * V::size);
      narrow<T, A>(dst + lane, mean, kVectors * V::size);
    });
    dst += lanes;
  }
}
// The same where channels are dense: a line holds those of all columns.
template <class T> void average_channels(const OutputRow& row, const T* src, Acc<T>* line, Scratch<Wide<T>>& run, T* dst) {
  const int64_t lanes = row.p.lanes, first = row.columns.front().begin * lanes, width = row.columns.back().end * lanes - first;
  std::fill_n(line, width, Acc<T>(0));
  row.for_input_rows([&](int64_t at) {
    const Wide<T>* from = widened(src + at * lanes + first, run, width);
    for (int64_t i = 0; i < width; i++) line[i] = plus(line[i], Acc<T>(from[i]));
  });
  Acc<T>* sums = line + row.p.in[2] * lanes;
  int64_t done = 0;
  for (size_t c = 0; c < row.columns.size(); c++, done += lanes) {
    const Span& x = row.columns[c];
    Acc<T>* sum = sums + done;
    std::fill_n(sum, lanes, Acc<T>(0));
    for (int64_t i = x.begin * lanes - first; i < x.end * lanes - first; i += lanes)
      for (int64_t l = 0; l < lanes; l++) sum[l] = plus(sum[l], line[i + l]);
    divide<T>(sum, row.divisor(x), lanes);
  }
  convert(dtype_of<Acc<T>>(), sums, 1, dtype_of<T>(), dst, 1, done);
}

template <class SpansOf> void average(const Tensor& input, const Tensor& out, bool last, SpansOf&& spans_of) {
  if (out.numel() == 0) return;
  Tensor x = in_layout(input, last);
  Planes p(x.sizes(), out.sizes(), last);
  Spans spans = spans_of(p);
  int64_t rows = p.out[0] * p.out[1], width = p.out[2] * p.lanes, work = std::max(p.in_area * p.lanes / rows, width);
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    const bool in_registers = !std::is_integral_v<T> && p.lanes >= Vec<Acc<T>>::size && spans.overlap_little(p);
    parallel_for(p.count * rows, kGrain / std::max<int64_t>(work, 1), [&](int64_t b, int64_t e) {
      Scratch<Acc<T>> sums((p.in[2] + p.out[2]) * p.lanes, 0);
      Scratch<Wide<T>> run;
      for (int64_t i = b, plane = b / rows, r = b % rows; i < e; i++, r++) {
        if (r == rows) r = 0, plane++;
        OutputRow row(p, spans, r);
        const T* src = x.data<T>() + plane * p.in_area * p.lanes;
        T* dst = out.data<T>() + i * width;
        if (p.lanes == 1) average_columns(row, src, sums.data(), run, dst);
        else if (!in_registers) average_channels(row, src, sums.data(), run, dst);
        else if constexpr (!std::is_integral_v<T>) average_registers(row, src, dst);
      }
    });
  });
}

// The transposes of the two functions above: they add gradients divided by the windows' divisors.
template <class T> void spread_columns(const OutputRow& row, const Wide<T>* grad, Acc<T>* line, Acc<T>* dx) {
  if (row.p.out[2] == 1) {
    Acc<T> v = Acc<T>(double(Acc<T>(*grad)) / row.divisor(row.columns[0]));
    row.for_runs([&](int64_t i, int64_t n) {
      for (int64_t k = 0; k < n; k++) dx[i + k] += v;
    });
    return;
  }
  auto spread = [&](Acc<T>* to) {
    for (const Span& x : row.columns) {
      Acc<T> v = Acc<T>(double(Acc<T>(*grad++)) / row.divisor(x));
      for (int64_t i = x.begin; i < x.end; i++) to[i] += v;
    }
  };
  if (row.has_one_input_row()) return row.for_input_rows([&](int64_t at) { spread(dx + at); });
  std::fill_n(line, row.p.in[2], Acc<T>(0));
  spread(line);
  row.for_input_rows([&](int64_t at) {
    for (int64_t x = 0; x < row.p.in[2]; x++) dx[at + x] += line[x];
  });
}
template <class T> void spread_channels(const OutputRow& row, const Wide<T>* grad, Acc<T>* dx) {
  int64_t lanes = row.p.lanes;
  for (const Span& x : row.columns) {
    Acc<T> scale = Acc<T>(1 / row.divisor(x));
    row.for_input_rows([&](int64_t at) {
      for (int64_t i = at + x.begin; i < at + x.end; i++)
        for (int64_t l = 0; l < lanes; l++) dx[i * lanes + l] += Acc<T>(grad[l]) * scale;
    });
    grad += lanes;
  }
}

// Planes are independent, so threads share planes.
template <class SpansOf> void spread(const Tensor& grad, const Tensor& dx, SpansOf&& spans_of) {
  bool last = only_channels_last(dx);
  Tensor dy = in_layout(grad, last);
  Planes p(dx.sizes(), dy.sizes(), last);
  Spans spans = spans_of(p);
  int64_t rows = p.out[0] * p.out[1], width = p.out[2] * p.lanes, size = p.in_area * p.lanes;
  by_type(dx.dtype(), [&]<class T>(TypeTag<T>) {
    constexpr bool direct = std::is_same_v<Acc<T>, T>;
    parallel_for(p.count, kGrain / std::max<int64_t>(size, 1), [&](int64_t b, int64_t e) {
      Scratch<Acc<T>> line(p.in[2], 0), sums(direct ? 0 : size);
      Scratch<Wide<T>> grads;
      for (int64_t plane = b; plane < e; plane++) {
        T* to = dx.data<T>() + plane * size;
        Acc<T>* sum;
        if constexpr (direct) sum = to;
        else sum = sums.data();
        std::fill_n(sum, size, Acc<T>(0));
        for (int64_t r = 0; r < rows; r++) {
          OutputRow row(p, spans, r);
          const Wide<T>* g = widened(dy.data<T>() + (plane * rows + r) * width, grads, width);
          if (p.lanes == 1) spread_columns<T>(row, g, line.data(), sum);
          else spread_channels<T>(row, g, sum);
        }
        if constexpr (!direct) convert(dtype_of<Acc<T>>(), sum, 1, dtype_of<T>(), to, 1, size);
      }
    });
  });
}

void avg_pool(const AvgPool& op, Inputs in, Outputs out) {
  average(in[0], out[0], only_channels_last(out[0]), [&](const Planes& p) { return window_spans(op, p); });
}
void avg_pool_backward(const AvgPoolBackward& op, Inputs in, Outputs out) {
  spread(in[0], out[0], [&](const Planes& p) { return window_spans(op, p); });
}
void adaptive_avg_pool(const AdaptiveAvgPool&, Inputs in, Outputs out) {
  bool last = only_channels_last(out[0]) || (only_channels_last(in[0]) && is_channels_last(out[0].sizes(), out[0].strides()));
  average(in[0], out[0], last, adaptive_spans);
}
void adaptive_avg_pool_backward(const AdaptiveAvgPoolBackward&, Inputs in, Outputs out) { spread(in[0], out[0], adaptive_spans); }

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
