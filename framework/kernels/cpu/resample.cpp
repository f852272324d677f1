#include "framework/ops/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/indexing.h"

namespace weir {
namespace WEIR_ISA {
namespace {

/// For each new place of an axis, which old ones it sums with which weights.
struct Taps {
  /// As many old ones as `each` for every place: to be filled in by hand.
  static Taps of_each(int64_t made, int64_t each) { return Taps(made, each, made * each); }
  /// By `add` and `close`, `most` in all.
  static Taps of_some(int64_t made, int64_t most) { return Taps(made, 0, most); }

  void add(int64_t source, double w) { from[filled] = source, weight[filled++] = w; }
  void close() { begin[++closed] = filled; }
  int64_t first(int64_t j) const { return each ? j * each : begin[j]; }
  int64_t count() const { return first(made); }

  /// For each of `old` places, which new ones were made of it.
  Taps transposed(int64_t old) const {
    Taps t = of_some(old, count());
    int64_t* next = t.begin.data() + 1;  // where the next one of a place goes; in the end, where those of the place end
    for (int64_t k = 0; k < count(); k++)
      if (from[k] + 1 < old) next[from[k] + 1]++;
    std::partial_sum(next, next + old, next);
    for (int64_t j = 0; j < made; j++)
      for (int64_t k = first(j); k < first(j + 1); k++) {
        const int64_t to = next[from[k]]++;
        t.from[to] = j, t.weight[to] = weight[k];
      }
    return t;
  }

  int64_t made, each;
  Scratch<int64_t> begin, from;  // `begin` of lists of different lengths only
  Scratch<double> weight;
  bool copies = false;  // every place has one old one, with weight one

 private:
  Taps(int64_t made, int64_t each, int64_t most) : made(made), each(each), begin(each ? 0 : made + 1, 0), from(most), weight(most) {}
  int64_t filled = 0, closed = 0;
};

// Places of an axis that are copies of old ones: those whose neighbours stay neighbours go as one.
struct Run { int64_t to, from, n; };
struct Runs : std::vector<Run> {
  void add(int64_t to, int64_t from, int64_t n = 1) {
    if (!empty() && from == back().from + back().n && to == back().to + back().n) back().n += n;
    else push_back({to, from, n});
  }
  /// One line along the axis, of elements of `inner` numbers each.
  template <class T> void copy(const T* from, T* to, int64_t inner) const {
    for (const Run& run : *this)
      if (run.n * inner == 1) to[run.to] = from[run.from];
      else std::copy_n(from + run.from * inner, run.n * inner, to + run.to * inner);
  }
  /// The old place of each of `made` new ones.
  std::vector<int64_t> places(int64_t made) const {
    std::vector<int64_t> from(made);
    for (const Run& run : *this)
      for (int64_t k = 0; k < run.n; k++) from[run.to + k] = run.from + k;
    return from;
  }
};

// Few numbers at both ends and the whole axis between them.
Runs border(const Str& mode, int64_t size, int64_t before, int64_t total) {
  Runs runs;
  bool reflect = mode == "reflect", replicate = mode == "replicate";
  // What is cropped on one side does not come back from the other: circular wraps within what is left.
  int64_t after = total - size - before, low = replicate || reflect ? 0 : std::max<int64_t>(-before, 0);
  int64_t kept = replicate || reflect ? size : size - low - std::max<int64_t>(-after, 0);
  auto end = [&](int64_t begin, int64_t stop) {
    for (int64_t j = begin; j < stop; j++) {
      int64_t i = j - before;
      if (replicate) i = std::clamp<int64_t>(i, 0, size - 1);
      else if (reflect) i = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
      else i = low + ((i - low) % kept + kept) % kept;
      runs.add(j, i);
    }
  };
  const int64_t first = std::clamp<int64_t>(before, 0, total), last = std::clamp<int64_t>(before + size, first, total);
  end(0, first);
  if (last > first) runs.add(first, first - before, last - first);
  end(last, total);
  return runs;
}

// Source of both kernels: Keys 1981, with PyTorch's constants (-0.75, and -0.5 with antialias).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// A sinc in a window of three lobes to each side. Source: Duchon 1979, as PIL has it.
double lanczos(double x) {
  if (x == 0) return 1;
  if (std::abs(x) >= 3) return 0;
  const double a = std::numbers::pi * x;
  return 3 * std::sin(a) * std::sin(a / 3) / (a * a);
}

// Weights of a window as wide as the old elements that a new one covers. Source: PIL's resampling, as in PyTorch.
Taps antialiased(const Grid& g, int64_t old, int64_t made) {
  const bool linear = g.mode == "linear", sinc = g.mode == "lanczos";
  const double support = (linear ? 1 : sinc ? 3 : 2) * std::max(g.step, 1.0), scale = g.step > 1 ? 1 / g.step : 1;
  Taps t = Taps::of_some(made, made * std::min(old, int64_t(2 * support) + 2));
  std::vector<double> w;
  for (int64_t j = 0; j < made; j++) {
    double centre = g.step * (double(j) + 0.5);
    int64_t low = std::max<int64_t>(int64_t(centre - support + 0.5), 0), high = std::min<int64_t>(int64_t(centre + support + 0.5), old);
    w.clear();
    double sum = 0;
    for (int64_t i = low; i < high; i++) {
      double x = (double(i) - centre + 0.5) * scale;
      w.push_back(linear ? std::max(0.0, 1 - std::abs(x)) : sinc ? lanczos(x) : cubic(x, -0.5));
      sum += w.back();
    }
    for (int64_t i = low; i < high; i++) t.add(i, sum == 0 ? 0 : w[i - low] / sum);
    t.close();
  }
  return t;
}

// The weights of bytes, of which an old place that comes several times has one.
Taps joined(const Taps& all) {
  Taps t = Taps::of_some(all.made, all.count());
  for (int64_t j = 0; j < all.made; j++) {
    for (int64_t k = all.first(j), last = all.first(j + 1); k < last;) {
      const int64_t place = all.from[k];
      double w = 0;
      for (; k < last && all.from[k] == place; k++) w += all.weight[k];
      t.add(place, w);
    }
    t.close();
  }
  return t;
}

// Places are computed in float32 but for float64, as PyTorch does; which of two neighbours is nearest can hang on it. The sums of
// bytes have places in float64 too, and one weight for each old place. The loops are such as the compiler turns into vectors.
template <bool single> Taps plain_grid(const Grid& g, int64_t old, int64_t made) {
  auto rounded = [](double x) { return single ? double(float(x)) : x; };
  auto at = [old](int64_t i) { return std::clamp<int64_t>(i, 0, old - 1); };
  const double step = rounded(g.step), half = g.align_corners ? 0 : 0.5;
  auto centre = [=](int64_t j) { return rounded(rounded(step * (double(j) + half)) - half); };
  if (g.mode == "nearest" || g.mode == "nearest-exact") {
    Taps t = Taps::of_each(made, 1);
    const double shift = g.mode == "nearest" ? 0 : 0.5;
    for (int64_t j = 0; j < made; j++) t.from[j] = at(int64_t(std::floor(rounded((double(j) + shift) * step))));
    std::fill_n(t.weight.begin(), made, 1);
    t.copies = true;
    return t;
  }
  if (g.mode == "linear") {
    Taps t = Taps::of_each(made, 2);
    if (made == old) {  // whatever the step is, as in PyTorch
      for (int64_t j = 0; j < made; j++) t.from[2 * j] = t.from[2 * j + 1] = j, t.weight[2 * j] = 1, t.weight[2 * j + 1] = 0;
      return t;
    }
    for (int64_t j = 0; j < made; j++) {
      const double c = std::max(centre(j), 0.0);
      const int64_t first = at(int64_t(c));
      const double part = std::clamp(c - double(first), 0.0, 1.0);
      t.from[2 * j] = first, t.from[2 * j + 1] = at(first + 1);
      t.weight[2 * j] = 1 - part, t.weight[2 * j + 1] = part;
    }
    return t;
  }
  Taps t = Taps::of_each(made, 4);
  for (int64_t j = 0; j < made; j++) {
    const double c = centre(j), first = std::floor(c), part = c - first;
    for (int k = 0; k < 4; k++) t.from[4 * j + k] = at(int64_t(first) + k - 1), t.weight[4 * j + k] = cubic(part - (k - 1), -0.75);
  }
  return t;
}
Taps grid(const Grid& g, int64_t old, int64_t made, DType type) {
  if (g.antialias) return antialiased(g, old, made);
  const bool bytes = type == DType::uint8 && !g.mode.view().starts_with("nearest");
  if (bytes) return joined(plain_grid<false>(g, old, made));
  return type == DType::float64 ? plain_grid<false>(g, old, made) : plain_grid<true>(g, old, made);
}

int64_t rows_per_share(int64_t row) { return kGrain / std::max<int64_t>(row, 1); }

constexpr int64_t kLongRun = 16;  // numbers: shorter ones take as long to find as to copy

// Elements are moved, whatever they are.
template <class T> void copy_runs(const Runs& runs, int64_t made, const Axis& x, const T* in, T* out) {
  const int64_t count = int64_t(runs.size());
  parallel_for(x.outer * count, rows_per_share(made * x.inner / count), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      const Run& run = runs[i % count];
      std::copy_n(in + (i / count * x.n + run.from) * x.inner, run.n * x.inner, out + (i / count * made + run.to) * x.inner);
    }
  });
}

// The gradients of lines of few numbers: each number sums those of its copies, in their order.
template <class T> void gather_runs(const Runs& runs, int64_t made, const Axis& x, const T* grad, T* out) {
  std::vector<int64_t> begin(size_t(x.n) + 1, 0), copy(size_t(made), 0);
  for (const Run& run : runs)
    for (int64_t k = 0; k < run.n; k++) begin[run.from + k + 1]++;
  for (int64_t p = 0; p < x.n; p++) begin[p + 1] += begin[p];
  std::vector<int64_t> next(begin.begin(), begin.end() - 1);
  for (const Run& run : runs)
    for (int64_t k = 0; k < run.n; k++) copy[next[run.from + k]++] = run.to + k;
  parallel_for(x.outer, rows_per_share(made), [&](int64_t b, int64_t e) {
    for (int64_t o = b; o < e; o++)
      for (int64_t p = 0; p < x.n; p++) {
        T sum = 0;
        for (int64_t k = begin[p]; k < begin[p + 1]; k++) sum += grad[o * made + copy[k]];
        out[o * x.n + p] = sum;
      }
  });
}

// A gradient goes back to where the copy came from. Shares never meet: they split `outer`, or, where that is one, `inner`.
template <class T> void add_runs(const Runs& runs, int64_t made, const Axis& x, const T* grad, T* out) {
  if (x.inner == 1 && x.outer > 1 && int64_t(runs.size()) * kLongRun > made) return gather_runs(runs, made, x, grad, out);
  std::fill_n(out, x.outer * x.n * x.inner, T(0));
  auto rows = [&](int64_t o, int64_t begin, int64_t end) {
    for (const Run& run : runs) {
      const T* from = grad + (o * made + run.to) * x.inner;
      T* to = out + (o * x.n + run.from) * x.inner;
      if (end - begin == x.inner) for (int64_t i = 0; i < run.n * x.inner; i++) to[i] += from[i];
      else for (int64_t k = 0; k < run.n; k++)
        for (int64_t i = begin; i < end; i++) to[k * x.inner + i] += from[k * x.inner + i];
    }
  };
  if (x.outer == 1) return parallel_for(x.inner, rows_per_share(made), [&](int64_t b, int64_t e) { rows(0, b, e); });
  parallel_for(x.outer, rows_per_share(made * x.inner), [&](int64_t b, int64_t e) {
    for (int64_t o = b; o < e; o++) rows(o, 0, x.inner);
  });
}

template <class T> void copy_places(const Taps& t, const Axis& x, const T* in, T* out) {
  const int64_t made = t.made;
  Runs runs;
  for (int64_t j = 0; j < made; j++) runs.add(j, t.from[j]);
  if (x.inner > 1 || int64_t(runs.size()) * kLongRun <= made) return copy_runs(runs, made, x, in, out);
  parallel_for(x.outer, rows_per_share(made), [&](int64_t b, int64_t e) {
    for (int64_t o = b; o < e; o++)
      for (int64_t j = 0; j < made; j++) out[o * made + j] = in[o * x.n + t.from[j]];
  });
}

// Lines of single numbers, of which every place sums K, or as many as it has where K is 0.
template <int K, class T> void sum_lines(const Taps& t, const T* weight, const Axis& x, const T* in, T* out) {
  const int64_t made = t.made, *place = t.from.data(), *begin = t.begin.data();
  parallel_for(x.outer, rows_per_share(made), [&](int64_t b, int64_t e) {
    for (int64_t o = b; o < e; o++) {
      const T* from = in + o * x.n;
      T* to = out + o * made;
      for (int64_t j = 0; j < made; j++) {
        const int64_t first = K ? j * K : begin[j], last = K ? first + K : begin[j + 1];
        T sum = K ? weight[first] * from[place[first]] : T(0);
        for (int64_t k = first + (K > 0); k < last; k++) sum += weight[k] * from[place[k]];
        to[j] = sum;
      }
    }
  });
}

// The same of lines of rows.
template <int K, class T> void sum_rows(const Taps& t, const T* weight, const Axis& x, const T* in, T* out) {
  const int64_t made = t.made, inner = x.inner;
  parallel_for(x.outer * made, rows_per_share(inner * K), [&](int64_t b, int64_t e) {
    for (int64_t r = b, o = b / made, j = b % made; r < e; r++, j++) {
      if (j == made) j = 0, o++;
      const T *row[K], *w = weight + j * K;
      for (int k = 0; k < K; k++) row[k] = in + (o * x.n + t.from[j * K + k]) * inner;
      T* __restrict to = out + r * inner;
      for (int64_t i = 0; i < inner; i++) {
        T sum = w[0] * row[0][i];
        for (int k = 1; k < K; k++) sum += w[k] * row[k][i];
        to[i] = sum;
      }
    }
  });
}

template <class T> void sum_places(const Taps& t, const Axis& x, const T* in, T* out) {
  const int64_t made = t.made, each = t.each;
  const Scratch<T> weight(t.weight.begin(), t.weight.begin() + t.count());
  if (x.inner == 1) {
    const auto lines = each == 1 ? sum_lines<1, T> : each == 2 ? sum_lines<2, T> : each == 4 ? sum_lines<4, T> : sum_lines<0, T>;
    return lines(t, weight.data(), x, in, out);
  }
  if (each == 2) return sum_rows<2>(t, weight.data(), x, in, out);
  if (each == 4) return sum_rows<4>(t, weight.data(), x, in, out);
  parallel_for(x.outer * made, rows_per_share(x.inner * std::max<int64_t>(t.count() / made, 1)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      const int64_t j = r % made, first = t.first(j), last = t.first(j + 1);
      const T* from = in + r / made * x.n * x.inner;
      T* to = out + r * x.inner;
      if (first == last) std::fill_n(to, x.inner, T(0));
      for (int64_t k = first; k < last; k++) {
        const T* row = from + t.from[k] * x.inner;
        if (k == first) for (int64_t i = 0; i < x.inner; i++) to[i] = weight[k] * row[i];
        else for (int64_t i = 0; i < x.inner; i++) to[i] += weight[k] * row[i];
      }
    }
  });
}

// Lines of single numbers, each of which is added to the places that it was made of: for a few lines that is less work than to turn `t` over,
// where not many wait for one sum.
constexpr int64_t kFewLines = 8, kFewSummands = 4;
template <class T> void add_lines(const Taps& t, const Axis& x, const T* grad, T* out) {
  parallel_for(x.outer, rows_per_share(t.made), [&](int64_t b, int64_t e) {
    for (int64_t o = b; o < e; o++) {
      const T* g = grad + o * t.made;
      T* to = out + o * x.n;
      std::fill_n(to, x.n, T(0));
      if (t.copies) for (int64_t j = 0; j < t.made; j++) to[t.from[j]] += g[j];
      else for (int64_t j = 0; j < t.made; j++)
        for (int64_t k = t.first(j); k < t.first(j + 1); k++) to[t.from[k]] += T(t.weight[k]) * g[j];
    }
  });
}

// Bytes are summed in whole numbers, with weights of 16 bits, and rounded once per axis. Source: PyTorch's, after Pillow-SIMD.
void sum_bytes(const Taps& t, const Axis& x, const uint8_t* in, uint8_t* out) {
  const double largest = *std::max_element(t.weight.begin(), t.weight.begin() + t.count());
  int bits = 0;
  while (bits < 22 && int(0.5 + largest * (1 << (bits + 1))) < 1 << 15) bits++;
  std::vector<int32_t> weight;
  for (int64_t k = 0; k < t.count(); k++) weight.push_back(int32_t((t.weight[k] < 0 ? -0.5 : 0.5) + t.weight[k] * (1 << bits)));
  const int64_t made = t.made;
  auto byte = [bits](int32_t sum) { return uint8_t(std::clamp(sum >> bits, 0, 255)); };
  parallel_for(x.outer, rows_per_share(made * x.inner), [&](int64_t b, int64_t e) {
    std::vector<int32_t> sums(x.inner);
    for (int64_t o = b; o < e; o++)
      for (int64_t j = 0; j < made; j++) {
        std::fill(sums.begin(), sums.end(), bits ? 1 << (bits - 1) : 0);
        for (int64_t k = t.first(j); k < t.first(j + 1); k++) {
          const uint8_t* row = in + (o * x.n + t.from[k]) * x.inner;
          for (int64_t i = 0; i < x.inner; i++) sums[i] += weight[k] * row[i];
        }
        std::transform(sums.begin(), sums.end(), out + (o * made + j) * x.inner, byte);
      }
  });
}

// What `t` reads of x, row-major: of a tensor that is not, where they are few, these places alone, one beside the other.
Tensor places_read(Taps& t, const Tensor& x, int64_t dim) {
  constexpr int64_t kFew = 64;
  const int d = wrap_dim(dim, x.ndim(), "interpolate");
  if (x.is_contiguous() || t.count() > std::min(kFew, x.sizes()[d] / 4)) return row_major(x);
  Dims sizes = x.sizes(), place = sizes;
  sizes[d] = t.count(), place[d] = 1;
  const Tensor y = empty(sizes, x.dtype());
  for (int64_t k = 0; k < t.count(); k++) {
    run_copy(alias(x, place, x.strides(), x->offset + t.from[k] * x.strides()[d]), alias(y, place, y.strides(), y->offset + k * y.strides()[d]));
    t.from[k] = k;
  }
  return y;
}

void run(const char* op, Taps t, const Tensor& given, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor x = places_read(t, given, dim);
  Axis split(x.sizes(), dim, op);
  if (t.copies)
    return by_item_size(size_of(x.dtype()), [&](auto tag) {
      using T = typename decltype(tag)::type;
      copy_places(t, split, x.data<T>(), out.data<T>());
    });
  if (x.dtype() == DType::uint8) return sum_bytes(t, split, x.data<uint8_t>(), out.data<uint8_t>());
  if (x.dtype() == DType::float32) return sum_places(t, split, x.data<float>(), out.data<float>());
  if (x.dtype() == DType::float64) return sum_places(t, split, x.data<double>(), out.data<double>());
  throw NotImplemented(str(op, ": not implemented for ", name_of(x.dtype())));
}

// Calls `f(axis, gradient, sum)` with pointers of one type, in which a half dtype is summed.
template <class F> void run_backward(const char* op, const Tensor& given, int64_t dim, const Tensor& out, F&& f) {
  if (out.numel() == 0) return;
  Tensor g = row_major(given);
  const Axis split(out.sizes(), dim, op);
  DType wide = is_reduced(g.dtype()) ? DType::float32 : g.dtype();
  Tensor sum = wide == out.dtype() ? out : empty(out.sizes(), wide);
  if (wide != g.dtype()) g = copied(g, Meta(g.sizes(), wide));
  auto as = [&]<class T>(TypeTag<T>) { f(split, g.data<T>(), sum.data<T>()); };
  switch (wide) {
    case DType::float32: as(TypeTag<float>{}); break;
    case DType::float64: as(TypeTag<double>{}); break;
    case DType::complex64: as(TypeTag<std::complex<float>>{}); break;
    case DType::complex128: as(TypeTag<std::complex<double>>{}); break;
    default: throw NotImplemented(str(op, ": not implemented for ", name_of(g.dtype())));
  }
  if (!(sum == out)) run_copy(sum, out);
}

int64_t along(const Tensor& t, int64_t dim) { return t.sizes()[wrap_dim(dim, t.ndim(), "interpolate")]; }

// Lines along the innermost axis that is padded, each of which is written once.
void pad_border(const PadBorder& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  const Tensor x = row_major(in[0]);
  int last = 0, first = op.pad.n / 2 - 1;
  while (op.pad[2 * last] == 0 && op.pad[2 * last + 1] == 0) last++;
  while (op.pad[2 * first] == 0 && op.pad[2 * first + 1] == 0) first--;
  auto runs_of = [&](int i) { return border(op.mode, x.size(-1 - i), op.pad[2 * i], out[0].size(-1 - i)); };
  const Runs runs = runs_of(last);
  const Axis line(x.sizes(), -1 - last, "pad");
  const int64_t made = out[0].size(-1 - last);
  const bool brief = line.inner == 1 && int64_t(runs.size()) * kLongRun > made;
  const std::vector<int64_t> places = brief ? runs.places(made) : std::vector<int64_t>();
  struct Outer { std::vector<int64_t> places; int64_t old; };
  std::vector<Outer> outer;
  for (int i = last + 1; i <= first; i++) outer.push_back({runs_of(i).places(out[0].size(-1 - i)), x.size(-1 - i)});
  by_item_size(size_of(x.dtype()), [&]<class T>(TypeTag<T>) {
    parallel_for(out[0].numel() / (made * line.inner), rows_per_share(made * line.inner), [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; r++) {
        int64_t from = 0, step = 1, rest = r;
        for (const Outer& axis : outer) {
          const int64_t n = int64_t(axis.places.size());
          from += axis.places[rest % n] * step;
          rest /= n;
          step *= axis.old;
        }
        const T* source = x.data<T>() + (from + rest * step) * line.n * line.inner;
        T* to = out[0].data<T>() + r * made * line.inner;
        if (brief) for (int64_t j = 0; j < made; j++) to[j] = source[places[j]];
        else runs.copy(source, to, line.inner);
      }
    });
  });
}
void pad_border_backward(const PadBorderBackward& op, Inputs in, Outputs out) {
  const int64_t made = along(in[0], op.dim);
  const Runs runs = border(op.mode, op.size, op.before, made);
  run_backward("pad", in[0], op.dim, out[0], [&](const Axis& x, const auto* grad, auto* sum) { add_runs(runs, made, x, grad, sum); });
}
void resample(const Resample& op, Inputs in, Outputs out) {
  run("interpolate", grid(op.grid(), along(in[0], op.dim), op.size, in[0].dtype()), in[0], op.dim, out[0]);
}
void resample_backward(const ResampleBackward& op, Inputs in, Outputs out) {
  const int64_t made = along(in[0], op.dim);
  const Taps t = grid(op.grid(), op.size, made, in[0].dtype());
  run_backward("interpolate", in[0], op.dim, out[0], [&](const Axis& x, const auto* grad, auto* sum) {
    if (x.inner == 1 && x.outer <= kFewLines && made <= kFewSummands * x.n) return add_lines(t, x, grad, sum);
    Axis lines = x;
    lines.n = made;
    sum_places(t.transposed(op.size), lines, grad, sum);
  });
}

const bool bound = [] {
  set_kernel<PadBorder, pad_border>(DeviceType::cpu);
  set_kernel<PadBorderBackward, pad_border_backward>(DeviceType::cpu);
  set_kernel<Resample, resample>(DeviceType::cpu);
  set_kernel<ResampleBackward, resample_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
