#include "framework/ops/pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/layouts.h"
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

template <class F> void by_type(DType t, F&& f) {
  visit_real_dtype("pooling", t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) throw NotImplemented("pooling: not implemented for 'bool'");
    else f(tag);
  });
}
template <class T> using Acc = std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

constexpr int64_t kLanes = 64;

// The largest numbers so far and where they stood, for a block of outputs: channels, or columns of an output row.
template <class A> struct Best {
  alignas(64) A value[kLanes];
  alignas(64) int32_t index[kLanes];  // 32-bit positions: as wide as float, so one vector holds both; -1 before the first
  void clear() {
    for (int64_t l = 0; l < kLanes; l++) index[l] = -1;  // all of them, in a few stores
  }
};

// Lanes [b, e) see src[l * step], which stands at position at + l * move. `step` may be a compile-time constant.
template <class T, class A, class Step>
void keep_larger(const T* src, Step step, int32_t at, int32_t move, int64_t b, int64_t e, Best<A>& best) {
  const int32_t first = int32_t(b), end = int32_t(e);  // as wide as a position, so that both are counted in the same lanes
#pragma omp simd
  for (int32_t l = first; l < end; l++) {
    A v = A(src[l * step]);
    bool better = best.index[l] < 0 || v > best.value[l] || v != v;
    best.value[l] = better ? v : best.value[l];
    best.index[l] = better ? at + l * move : best.index[l];
  }
}
template <class T, class A> void keep_larger_strided(const T* src, int64_t step, int32_t at, int64_t b, int64_t e, Best<A>& best) {
  if (step == 1) keep_larger(src, std::integral_constant<int64_t, 1>{}, at, 1, b, e, best);
  else if (step == 2) keep_larger(src, std::integral_constant<int64_t, 2>{}, at, 2, b, e, best);
  else keep_larger(src, step, at, int32_t(step), b, e, best);
}

// Calls f(position of the input row's first column) for every input row under output row `row`.
template <class F> void for_input_rows(const Planes& p, const Window& w, int64_t row, F&& f) {
  int64_t z0 = row / p.out[1] * w.s[0] - w.p[0], y0 = row % p.out[1] * w.s[1] - w.p[1];
  for (int64_t a = 0; a < w.k[0]; a++)
    for (int64_t b = 0; b < w.k[1]; b++) {
      int64_t z = z0 + a * w.d[0], y = y0 + b * w.d[1];
      if (z >= 0 && z < p.in[0] && y >= 0 && y < p.in[1]) f((z * p.in[1] + y) * p.in[2]);
    }
}

// Output columns [x0, x0 + m) of a row-major plane.
template <class T, class A> void best_of_columns(const Planes& p, const Window& w, const T* src, int64_t row, int64_t x0, int64_t m, Best<A>& best) {
  int64_t s = w.s[2];
  for_input_rows(p, w, row, [&](int64_t line) {
    for (int64_t c = 0; c < w.k[2]; c++) {
      int64_t first = x0 * s + c * w.d[2] - w.p[2];  // the column that lane 0 sees, perhaps in the padding
      int64_t b = first < 0 ? (-first + s - 1) / s : 0, e = first < p.in[2] ? std::min(m, (p.in[2] - 1 - first) / s + 1) : 0;
      keep_larger_strided(src + line + first, s, int32_t(line + first), b, e, best);
    }
  });
}
// The same of a short row, column by column: too few for a loop over columns to pay. False where a number is NaN, which is left to that.
constexpr int64_t kFew = 16;
template <class T, class A> bool best_of_few(const Planes& p, const Window& w, const T* src, int64_t row, int64_t m, Best<A>& best) {
  const int64_t s = w.s[2], d = w.d[2];
  int64_t from[kFew], to[kFew];  // the part of each column's window that lies in the row
  for (int64_t l = 0; l < m; l++) {
    const int64_t first = l * s - w.p[2], left = p.in[2] - first;
    from[l] = first < 0 ? (-first + d - 1) / d : 0;
    to[l] = std::min(w.k[2], left > 0 ? (left + d - 1) / d : 0);
  }
  int unordered = 0;
  // A window of nothing above the lowest number has its first place in the end, as an empty one has.
  std::fill_n(best.value, m, std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity() : A(std::numeric_limits<T>::lowest()));
  for_input_rows(p, w, row, [&](int64_t line) {
    for (int64_t l = 0; l < m; l++) {
      A most = best.value[l];
      int32_t where = best.index[l], at = int32_t(line + l * s - w.p[2] + from[l] * d);
      for (int64_t c = from[l]; c < to[l]; c++, at += int32_t(d)) {
        const A v = A(src[at]);
        where = v > most ? at : where;
        most = v > most ? v : most;
        unordered |= v != v;
      }
      best.value[l] = most;
      best.index[l] = where;
    }
  });
  return !unordered;
}
// Channels [lane, lane + m) of output column x where channels are dense.
template <class T, class A> void best_of_channels(const Planes& p, const Window& w, const T* src, int64_t row, int64_t x, int64_t lane, int64_t m, Best<A>& best) {
  for_input_rows(p, w, row, [&](int64_t line) {
    for (int64_t c = 0; c < w.k[2]; c++) {
      int64_t at = x * w.s[2] + c * w.d[2] - w.p[2];
      if (at < 0 || at >= p.in[2]) continue;
      keep_larger(src + (line + at) * p.lanes + lane, std::integral_constant<int64_t, 1>{}, int32_t(line + at), 0, 0, m, best);
    }
  });
}

// Windows that dilation leads past every element: the lowest number, at PyTorch's index, the first place not before the input,
// which may lie behind it. `first` is the column of lane 0, `move` how far the next lane's is.
template <class T, class A> void fill_empty_windows(const Planes& p, const Window& w, int64_t row, int64_t first, int64_t move, int64_t m, Best<A>& best) {
  int32_t signs = 0;
  for (int64_t l = 0; l < m; l++) signs |= best.index[l];
  if (signs >= 0) return;
  auto start = [&](int axis, int64_t o) {
    int64_t at = o * w.s[axis] - w.p[axis];
    return at < 0 ? at + (-at + w.d[axis] - 1) / w.d[axis] * w.d[axis] : at;
  };
  int64_t line = (start(0, row / p.out[1]) * p.in[1] + start(1, row % p.out[1])) * p.in[2];
  for (int64_t l = 0; l < m; l++)
    if (best.index[l] < 0) {
      best.index[l] = int32_t(line + start(2, first + l * move));
      if constexpr (std::is_integral_v<A>) best.value[l] = A(std::numeric_limits<T>::lowest());
      else best.value[l] = -std::numeric_limits<A>::infinity();
    }
}

void max_pool(const MaxPool& op, Inputs in, Outputs out) {
  bool last = only_channels_last(out[0]);
  Tensor x = in_layout(in[0], last);
  Planes p(x.sizes(), out[0].sizes(), last);
  Window w(op);
  int64_t rows = p.out[0] * p.out[1], width = p.out[2] * p.lanes;
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    using A = Acc<T>;
    int64_t grain = kGrain / (width * w.k[0] * w.k[1] * w.k[2]);
    parallel_for(p.count * rows, grain, [&](int64_t begin, int64_t end) {
      Best<A> best;
      for (int64_t i = begin; i < end; i++) {
        const T* src = x.data<T>() + i / rows * p.in_area * p.lanes;
        // A block is some columns of the row, or some channels of one column.
        int64_t line = p.lanes == 1 ? width : p.lanes;
        for (int64_t at = 0, m; at < width; at += m) {
          m = std::min(kLanes, line - at % line);
          best.clear();
          if (p.lanes != 1) {
            best_of_channels(p, w, src, i % rows, at / p.lanes, at % p.lanes, m, best);
          } else if (width > kFew) {
            best_of_columns(p, w, src, i % rows, at, m, best);
          } else if (!best_of_few(p, w, src, i % rows, m, best)) {
            best.clear();
            best_of_columns(p, w, src, i % rows, at, m, best);
          }
          fill_empty_windows<T>(p, w, i % rows, at / p.lanes, p.lanes == 1, m, best);
          convert(dtype_of<A>(), best.value, 1, x.dtype(), out[0].data<T>() + i * width + at, 1, m);
          std::copy_n(best.index, m, out[1].data<int64_t>() + i * width + at);
        }
      }
    });
  });
}

void max_pool_backward(const MaxPoolBackward& op, Inputs in, Outputs out) {
  bool last = only_channels_last(out[0]);
  Tensor dy = in_layout(in[0], last), index = in_layout(in[1], last);
  Planes p(op.input_size, dy.sizes(), last);
  auto inside = [&](int64_t place) { return uint64_t(place) < uint64_t(p.in_area); };  // the place of an empty window need not be
  by_type(dy.dtype(), [&]<class T>(TypeTag<T>) {
    parallel_for(p.count, 1, [&](int64_t b, int64_t e) {
      Scratch<Acc<T>> sum(std::is_same_v<Acc<T>, T> ? 0 : p.in_area * p.lanes);
      for (int64_t plane = b; plane < e; plane++) {
        T* dx = out[0].data<T>() + plane * p.in_area * p.lanes;
        Acc<T>* acc;
        if constexpr (std::is_same_v<Acc<T>, T>) acc = dx;
        else acc = sum.data();
        std::fill_n(acc, p.in_area * p.lanes, Acc<T>(0));
        const T* g = dy.data<T>() + plane * p.out_area * p.lanes;
        const int64_t* to = index.data<int64_t>() + plane * p.out_area * p.lanes;
        if (p.lanes == 1) {
          for (int64_t o = 0; o < p.out_area; o++)
            if (inside(to[o])) acc[to[o]] += Acc<T>(g[o]);
        } else {
          for (int64_t o = 0; o < p.out_area; o++, g += p.lanes, to += p.lanes)
            for (int64_t l = 0; l < p.lanes; l++)
              if (inside(to[l])) acc[to[l] * p.lanes + l] += Acc<T>(g[l]);
        }
        if constexpr (!std::is_same_v<Acc<T>, T>)
          for (int64_t i = 0; i < p.in_area * p.lanes; i++) dx[i] = T(float(acc[i]));
      }
    });
  });
}

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
template <class T> void average_columns(const OutputRow& row, const T* src, Acc<T>* line, T* dst) {
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
  if (row.has_one_input_row()) return row.for_input_rows([&](int64_t at) { average(src + at); });
  std::fill_n(line, row.p.in[2], Acc<T>(0));
  row.for_input_rows([&](int64_t at) {
    for (int64_t x = 0; x < row.p.in[2]; x++) line[x] = plus(line[x], Acc<T>(src[at + x]));
  });
  average(line);
}
template <class T> void average_channels(const OutputRow& row, const T* src, Acc<T>* sum, T* dst) {
  int64_t lanes = row.p.lanes;
  for (const Span& x : row.columns) {
    std::fill_n(sum, lanes, Acc<T>(0));
    row.for_input_rows([&](int64_t at) {
      for (int64_t i = at + x.begin; i < at + x.end; i++)
        for (int64_t l = 0; l < lanes; l++) sum[l] = plus(sum[l], Acc<T>(src[i * lanes + l]));
    });
    double divisor = row.divisor(x);
    for (int64_t l = 0; l < lanes; l++) *dst++ = mean_of<T>(sum[l], divisor);
  }
}

template <class SpansOf> void average(const Tensor& input, const Tensor& out, bool last, SpansOf&& spans_of) {
  if (out.numel() == 0) return;
  Tensor x = in_layout(input, last);
  Planes p(x.sizes(), out.sizes(), last);
  Spans spans = spans_of(p);
  int64_t rows = p.out[0] * p.out[1], width = p.out[2] * p.lanes, work = std::max(p.in_area * p.lanes / rows, width);
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    parallel_for(p.count * rows, kGrain / std::max<int64_t>(work, 1), [&](int64_t b, int64_t e) {
      Scratch<Acc<T>> sums(p.lanes == 1 ? p.in[2] : p.lanes, 0);
      for (int64_t i = b, plane = b / rows, r = b % rows; i < e; i++, r++) {
        if (r == rows) r = 0, plane++;
        OutputRow row(p, spans, r);
        const T* src = x.data<T>() + plane * p.in_area * p.lanes;
        T* dst = out.data<T>() + i * width;
        if (p.lanes == 1) average_columns(row, src, sums.data(), dst);
        else average_channels(row, src, sums.data(), dst);
      }
    });
  });
}

// The transposes of the two functions above: they add gradients divided by the windows' divisors.
template <class T> void spread_columns(const OutputRow& row, const T* grad, Acc<T>* line, Acc<T>* dx) {
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
template <class T> void spread_channels(const OutputRow& row, const T* grad, Acc<T>* dx) {
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
      for (int64_t plane = b; plane < e; plane++) {
        T* to = dx.data<T>() + plane * size;
        Acc<T>* sum;
        if constexpr (direct) sum = to;
        else sum = sums.data();
        std::fill_n(sum, size, Acc<T>(0));
        for (int64_t r = 0; r < rows; r++) {
          OutputRow row(p, spans, r);
          const T* g = dy.data<T>() + (plane * rows + r) * width;
          if (p.lanes == 1) spread_columns(row, g, line.data(), sum);
          else spread_channels(row, g, sum);
        }
        if constexpr (!direct)
          for (int64_t i = 0; i < size; i++) to[i] = T(sum[i]);
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
