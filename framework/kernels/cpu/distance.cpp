#include "framework/ops/distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/lapack.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// A norm as what a difference adds to a sum, and what becomes of the sum. The slope of a distance in one difference d has a factor that
// is the same for all differences of a pair.
template <class T> struct Zero {
  T p;
  static Vec<T> add(Vec<T> sum, Vec<T> d, Vec<T>) { return where(d != d, d, sum + where(d != Vec<T>(0), Vec<T>(1), Vec<T>(0))); }
  T finish(T sum) const { return sum; }
  T factor(T, T) const { return T(0); }
  T slope(T, T, T) const { return T(0); }
};
template <class T> struct One {
  T p;
  static Vec<T> add(Vec<T> sum, Vec<T> d, Vec<T>) { return sum + abs(d); }
  T finish(T sum) const { return sum; }
  T factor(T, T dy) const { return dy; }
  T slope(T d, T, T factor) const { return d > 0 ? factor : d < 0 ? -factor : T(0); }
};
template <class T> struct Two {
  T p;
  static Vec<T> add(Vec<T> sum, Vec<T> d, Vec<T>) { return fma(d, d, sum); }
  T finish(T sum) const { return std::sqrt(sum); }
  T factor(T distance, T dy) const { return distance == 0 ? T(0) : dy / distance; }
  T slope(T d, T, T factor) const { return factor * d; }
  static Vec<T> plus_slope(Vec<T> sum, Vec<T> d, Vec<T> factor) { return fma(factor, d, sum); }
};
template <class T> struct Most {
  T p;
  static Vec<T> add(Vec<T> sum, Vec<T> d, Vec<T>) { return where((abs(d) > sum) | (d != d), abs(d), sum); }
  T finish(T sum) const { return sum; }
  T factor(T, T dy) const { return dy; }
  T slope(T d, T distance, T factor) const { return std::abs(d) == distance ? (d > 0 ? factor : d < 0 ? -factor : T(0)) : T(0); }
};
template <class T> struct Power {
  T p;
  static Vec<T> add(Vec<T> sum, Vec<T> d, Vec<T> p) { return sum + pow(abs(d), p); }
  T finish(T sum) const { return std::pow(sum, 1 / p); }
  T factor(T distance, T dy) const { return distance == 0 ? T(0) : dy / std::pow(distance, p - 1); }
  T slope(T d, T distance, T factor) const {
    if (distance == 0 || d == 0) return T(0);
    T step = std::pow(std::abs(d), p - 1) * factor;
    return d > 0 ? step : -step;
  }
};

template <class T, class F> void by_norm(double p, F&& f) {
  const T held = T(p);  // before it is compared: beyond the largest of T it is infinity
  if (held == 0) f(Zero<T>{held});
  else if (held == 1) f(One<T>{held});
  else if (held == 2) f(Two<T>{held});
  else if (held == INFINITY) f(Most<T>{held});
  else f(Power<T>{held});
}

// Writes zeros where there is nothing to compare, in whatever dtype.
bool of_nothing(bool nothing, const Tensor& out) {
  if (nothing) std::fill_n(out.raw(), out.numel() * int64_t(size_of(out.dtype())), std::byte(0));
  return nothing;
}

template <class F> void by_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

constexpr int64_t kRows = 4, kLanes = 16;  // rows that are compared at once, and numbers that a loop of fixed length takes

/// Rows turned, (batch, m, ld): number k of all rows side by side, and zeros up to a multiple of kLanes.
template <class T> Tensor turned_rows(const Tensor& x) {
  const int64_t batch = x.sizes()[0], r = x.sizes()[1], m = x.sizes()[2], ld = (r + kLanes - 1) / kLanes * kLanes;
  const Tensor turned = unfilled(Meta(Dims{batch, m, ld}, x.dtype(), x.device()));
  const Dims sizes{batch, m, r};
  run_copy(alias(x, sizes, Dims{x.strides()[0], x.strides()[2], x.strides()[1]}, x->offset), alias(turned, sizes, turned.strides(), turned->offset));
  for (int64_t i = 0; ld > r && i < batch * m; i++) std::fill_n(turned.data<T>() + i * ld + r, ld - r, T(0));
  return turned;
}

// Distances of kCount rows of `a` to the turned rows that kRegisters hold, of which `width` are wanted.
template <int kCount, int kRegisters, class T, class Norm>
void block(const Norm& norm, const T* a, const T* turned, int64_t m, int64_t ld, int64_t width, T* out, int64_t row) {
  using V = Vec<T>;
  const V p(norm.p);
  V sum[kCount][kRegisters];
  for (auto& of_row : sum) std::fill_n(of_row, kRegisters, V(0));
  for (int64_t k = 0; k < m; k++)
    for (int c = 0; c < kRegisters; c++) {
      const V y = V::load(turned + k * ld + c * V::size);
      for (int i = 0; i < kCount; i++) sum[i][c] = Norm::add(sum[i][c], V(a[i * m + k]) - y, p);
    }
  for (int i = 0; i < kCount; i++) {
    alignas(64) T all[kRegisters * V::size];
    for (int c = 0; c < kRegisters; c++) sum[i][c].store(all + c * V::size);
    for (T& x : all) x = norm.finish(x);
    std::copy_n(all, width, out + i * row);
  }
}

// Distances of `rows` rows of `a`, at most kRows, to the first r turned rows, into rows of `out` that are `row` numbers long.
template <class T, class Norm>
void strip(const Norm& norm, const T* a, int64_t rows, const T* turned, int64_t m, int64_t ld, int64_t r, T* out, int64_t row) {
  constexpr int64_t w = Vec<T>::size;
  for (int64_t j = 0, width; j < r; j += width) {
    const bool two = r - j > w;  // then so many stand behind j, zeros included
    width = std::min(two ? 2 * w : w, r - j);
    if (rows == kRows && two) block<kRows, 2>(norm, a, turned + j, m, ld, width, out + j, row);
    else if (rows == kRows) block<kRows, 1>(norm, a, turned + j, m, ld, width, out + j, row);
    else
      for (int64_t i = 0; i < rows; i++)
        if (two) block<1, 2>(norm, a + i * m, turned + j, m, ld, width, out + i * row + j, row);
        else block<1, 1>(norm, a + i * m, turned + j, m, ld, width, out + i * row + j, row);
  }
}

void cdist_forward(const CdistForward& op, Inputs in, Outputs out) {
  if (of_nothing(in[0].numel() == 0 || in[1].numel() == 0, out[0])) return;
  const Tensor a = row_major(in[0]);
  const int64_t batch = a.sizes()[0], n = a.sizes()[1], m = a.sizes()[2], r = in[1].sizes()[1], strips = (n + kRows - 1) / kRows;
  by_type(a.dtype(), [&]<class T>(TypeTag<T>) {
    const Tensor turned = turned_rows<T>(in[1]);
    const int64_t ld = turned.sizes()[2];
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for(batch * strips, kGrain / (kRows * r * std::max<int64_t>(m, 1)), [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) {
          const int64_t which = i / strips, first = i % strips * kRows;
          strip(norm, a.data<T>() + (which * n + first) * m, std::min(kRows, n - first), turned.data<T>() + which * m * ld, m, ld, r,
                out[0].data<T>() + (which * n + first) * r, r);
        }
      });
    });
  });
}

// What the slopes of `count` distances have in common, and zeros behind them: what is no row pulls with no force.
template <class T, class Norm> void factors(const Norm& norm, const T* distance, const T* dy, int64_t count, int64_t ld, T* d, T* factor) {
  std::copy_n(distance, count, d);
  std::copy_n(dy, count, factor);
  std::fill(d + count, d + ld, T(0));
  std::fill(factor + count, factor + ld, T(0));
  for (int64_t j = 0; j < ld; j++) factor[j] = norm.factor(d[j], factor[j]);
}

// The gradients of kCount rows of x from their distances to the turned rows.
template <int64_t kCount, class T, class Norm>
void pull(const Norm& norm, const T* x, const T* turned, int64_t m, int64_t ld, const T* d, const T* factor, T* to) {
  if constexpr (requires(Vec<T> v) { norm.plus_slope(v, v, v); }) {  // in registers, which the compiler does not keep an array in
    constexpr int64_t w = Vec<T>::size;
    for (int64_t k = 0; k < m; k++) {
      Vec<T> sum[kCount], own[kCount];
      for (int64_t i = 0; i < kCount; i++) sum[i] = Vec<T>(T(0)), own[i] = Vec<T>(x[i * m + k]);
      for (int64_t j = 0; j < ld; j += w) {
        const Vec<T> other = Vec<T>::load(turned + k * ld + j);
#pragma GCC unroll 4
        for (int64_t i = 0; i < kCount; i++) sum[i] = norm.plus_slope(sum[i], own[i] - other, Vec<T>::load(factor + i * ld + j));
      }
      for (int64_t i = 0; i < kCount; i++) to[i * m + k] = sum_lanes(sum[i]);
    }
    return;
  }
  for (int64_t k = 0; k < m; k++) {
    T sum[kCount][kLanes] = {};
    for (int64_t j = 0; j < ld; j += kLanes)
      for (int64_t i = 0; i < kCount; i++)
        for (int64_t c = 0; c < kLanes; c++)
          sum[i][c] += norm.slope(x[i * m + k] - turned[k * ld + j + c], d[i * ld + j + c], factor[i * ld + j + c]);
    for (int64_t half = kLanes / 2; half; half /= 2)
      for (int64_t i = 0; i < kCount; i++)
        for (int64_t c = 0; c < half; c++) sum[i][c] += sum[i][c + half];
    for (int64_t i = 0; i < kCount; i++) to[i * m + k] = sum[i][0];
  }
}

// One number of each of kLanes rows, of which `count` are there.
template <class T> void across(const T* from, int64_t step, int64_t count, T* to) {
  if (count == kLanes) {
    for (int64_t c = 0; c < kLanes; c++) to[c] = from[c * step];
  } else {
    for (int64_t c = 0; c < kLanes; c++) to[c] = c < count ? from[c * step] : T(0);
  }
}

// The gradients of `count` turned rows, at most kLanes, from their distances to r others: that of row c to i stands at c * row + i * column.
template <class T, class Norm>
void pull_turned(const Norm& norm, const T* turned, int64_t ld, const T* others, int64_t m, int64_t r, int64_t count, const T* distance, const T* dy, int64_t row,
                 int64_t column, T* sum, T* to) {
  std::fill_n(sum, m * kLanes, T(0));
  for (int64_t i = 0; i < r; i++) {
    T d[kLanes], factor[kLanes];
    across(distance + i * column, row, count, d);
    across(dy + i * column, row, count, factor);
    for (int64_t c = 0; c < kLanes; c++) factor[c] = norm.factor(d[c], factor[c]);
    for (int64_t k = 0; k < m; k++)
      for (int64_t c = 0; c < kLanes; c++) sum[k * kLanes + c] += norm.slope(turned[k * ld + c] - others[i * m + k], d[c], factor[c]);
  }
  for (int64_t c = 0; c < count; c++)
    for (int64_t k = 0; k < m; k++) to[c * m + k] = sum[k * kLanes + c];
}

// Is x, (batch, n, r), a row-major (batch, r, n) that is shown turned?
bool is_turned(const Tensor& x) {
  const Dims &n = x.sizes(), &s = x.strides();
  return n[2] > 1 && s[1] == 1 && s[2] == n[1] && (n[0] == 1 || s[0] == n[1] * n[2]);
}

template <class T> T sum_of(const T* x, int64_t n) {
  T lane[kLanes] = {}, rest(0);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t c = 0; c < kLanes; c++) lane[c] += x[i + c];
  for (; i < n; i++) rest += x[i];
  for (int64_t half = kLanes / 2; half; half /= 2)
    for (int64_t c = 0; c < half; c++) lane[c] += lane[c + half];
  return lane[0] + rest;
}

// Of Euclid's norm the slopes to all other rows are a product of matrices, as in PyTorch: with the factors f of the pairs, x_i sum_j f_ij - sum_j f_ij y_j.
void euclidean_backward(const Tensor& dy, const Tensor& x, const Tensor& others, const Tensor& distance, bool turned, const Tensor& out) {
  const int64_t batch = x.sizes()[0], n = x.sizes()[1], m = x.sizes()[2], r = others.sizes()[1], rows = as_int(n), columns = as_int(r), width = as_int(m);
  constexpr int64_t kBlock = 1024;  // rows, whose factors stay in the second-level cache where r is not large
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    openblas();
    const int64_t each = turned ? rows : std::min(kBlock, rows), parts = (rows + each - 1) / each;
    parallel_for(batch * parts, kGrain / std::max<int64_t>(each * r * m, 1), [&](int64_t begin, int64_t end) {
      Scratch<T> factors(each * columns), sums(each);
      const Two<T> norm{2};
      for (int64_t i = begin; i < end; i++) {
        const int64_t which = i / parts, first = i % parts * each, count = std::min(each, rows - first), at = (which * n + first) * columns;
        const T *g = dy.data<T>() + at, *d = distance.data<T>() + at, *own = x.data<T>() + (which * n + first) * m;
        T *f = factors.data(), *to = out.data<T>() + (which * n + first) * m;
        for (int64_t k = 0; k < count * columns; k++) f[k] = norm.factor(d[k], g[k]);
        if (turned) {
          std::fill_n(sums.data(), count, T(0));
          for (int64_t j = 0; j < columns; j++)
            for (int64_t k = 0; k < count; k++) sums[k] += f[j * count + k];
        } else {
          for (int64_t k = 0; k < count; k++) sums[k] = sum_of(f + k * columns, columns);
        }
        for (int64_t k = 0; k < count; k++)
          for (int64_t c = 0; c < width; c++) to[k * m + c] = own[k * m + c] * sums[k];
        blas_gemm<T>('N', turned ? 'T' : 'N', int(width), int(count), int(columns), T(-1), others.data<T>() + which * r * m, int(width), f,
                     int(turned ? count : columns), T(1), to, int(width));
      }
    });
  });
}

void cdist_backward(const CdistBackward& op, Inputs in, Outputs out) {
  // The count of differences has no slope anywhere.
  if (of_nothing(in[1].numel() == 0 || in[2].numel() == 0 || op.p == 0, out[0])) return;
  const int64_t batch = in[1].sizes()[0], n = in[1].sizes()[1], m = in[1].sizes()[2], r = in[2].sizes()[1];
  // In lanes go the rows whose gradients are asked for where the distances of several stand side by side, or there is little to compare
  // each with; the others else.
  const bool shown_turned = is_turned(in[0]) && is_turned(in[3]), turn = shown_turned || r < kLanes;
  const Tensor dy = shown_turned ? in[0] : row_major(in[0]), a = row_major(in[1]), distance = shown_turned ? in[3] : row_major(in[3]);
  constexpr int64_t kByProduct = 25;  // rows from which on PyTorch takes the product, whose digits are fewer where rows are nearly the same
  if (op.p == 2 && op.by_product && std::max(n, r) > kByProduct) return euclidean_backward(dy, a, row_major(in[2]), distance, shown_turned, out[0]);
  by_type(a.dtype(), [&]<class T>(TypeTag<T>) {
    const Tensor turned = turned_rows<T>(turn ? a : in[2]), others = row_major(in[2]);
    const int64_t ld = turned.sizes()[2], step = turn ? kLanes : kRows, parts = (n + step - 1) / step;
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for(batch * parts, kGrain / std::max<int64_t>(step * r * m, 1), [&](int64_t begin, int64_t end) {
        std::vector<T> room(turn ? m * kLanes : 2 * kRows * ld);
        for (int64_t i = begin; i < end; i++) {
          const int64_t which = i / parts, first = i % parts * step, count = std::min(step, n - first);
          const int64_t row = shown_turned ? 1 : r, column = shown_turned ? n : 1, at = which * n * r + first * row;
          const T *d = distance.data<T>() + at, *g = dy.data<T>() + at, *t = turned.data<T>() + which * m * ld;
          T* to = out[0].data<T>() + (which * n + first) * m;
          if (turn) {
            pull_turned(norm, t + first, ld, others.data<T>() + which * r * m, m, r, count, d, g, row, column, room.data(), to);
            continue;
          }
          const T* x = a.data<T>() + (which * n + first) * m;
          T *own = room.data(), *factor = own + kRows * ld;
          for (int64_t c = 0; c < count; c++) factors(norm, d + c * r, g + c * r, r, ld, own + c * ld, factor + c * ld);
          if (count == kRows) pull<kRows>(norm, x, t, m, ld, own, factor, to);
          else
            for (int64_t c = 0; c < count; c++) pull<1>(norm, x + c * m, t, m, ld, own + c * ld, factor + c * ld, to + c * m);
        }
      });
    });
  });
}

// Where the pairs of row i with the rows behind it begin, of n rows.
int64_t pairs_before(int64_t i, int64_t n) { return i * n - i * (i + 1) / 2; }

void pdist_forward(const PdistForward& op, Inputs in, Outputs out) {
  if (of_nothing(out[0].numel() == 0 || in[0].numel() == 0, out[0])) return;
  const Tensor x = row_major(in[0]);
  const int64_t n = x.sizes()[0], m = x.sizes()[1];
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    const Tensor turned = turned_rows<T>(alias(x, Dims{1, n, m}, Dims{n * m, m, 1}, x->offset));
    const int64_t ld = turned.sizes()[2];
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for((n + kRows - 1) / kRows, kGrain / std::max<int64_t>(kRows * n * m, 1), [&](int64_t b, int64_t e) {
        std::vector<T> found(kRows * ld);
        for (int64_t first = b * kRows; first < std::min(e * kRows, n); first += kRows) {
          const int64_t rows = std::min(kRows, n - first), begin = first / kLanes * kLanes;
          strip(norm, x.data<T>() + first * m, rows, turned.data<T>() + begin, m, ld, n - begin, found.data(), ld);
          for (int64_t i = 0; i < rows; i++)
            std::copy_n(found.data() + i * ld + (first - begin) + i + 1, n - first - i - 1, out[0].data<T>() + pairs_before(first + i, n));
        }
      });
    });
  });
}

// Each pair has one slope in each number, which pulls its two rows against each other.
void pdist_backward(const PdistBackward& op, Inputs in, Outputs out) {
  if (of_nothing(in[0].numel() == 0 || in[1].numel() == 0, out[0])) return;
  const Tensor dy = row_major(in[0]), x = row_major(in[1]), distance = row_major(in[2]);
  const int64_t n = x.sizes()[0], m = x.sizes()[1];
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    const Tensor turned = turned_rows<T>(alias(x, Dims{1, n, m}, Dims{n * m, m, 1}, x->offset));
    const int64_t ld = turned.sizes()[2];
    by_norm<T>(op.p, [&](auto norm) {
      Scratch<T> slopes(m * ld, T(0));
      parallel_for(m, kGrain / std::max<int64_t>(n * n, 1), [&](int64_t b, int64_t e) {
        Scratch<T> own(ld), factor(ld);
        for (int64_t i = 0; i + 1 < n; i++) {
          // Its pairs with the rows behind it, in whole blocks of lanes: what else stands in them has no slope.
          const int64_t begin = (i + 1) / kLanes * kLanes, first = pairs_before(i, n);
          std::fill(&own[begin], &own[i + 1], T(0)), std::fill(&factor[begin], &factor[i + 1], T(0));
          factors(norm, distance.data<T>() + first, dy.data<T>() + first, n - i - 1, ld - i - 1, &own[i + 1], &factor[i + 1]);
          for (int64_t k = b; k < e; k++) {
            const T *numbers = turned.data<T>() + k * ld, *d = own.data(), *f = factor.data();
            const T x = numbers[i];
            T *__restrict to = &slopes[k * ld], sum[kLanes] = {};
            for (int64_t j = begin; j < ld; j += kLanes)
              for (int64_t c = 0; c < kLanes; c++) {
                const T slope = norm.slope(x - numbers[j + c], d[j + c], f[j + c]);
                to[j + c] -= slope;
                sum[c] += slope;
              }
            for (T s : sum) to[i] += s;
          }
        }
        for (int64_t k = b; k < e; k++)
          for (int64_t i = 0; i < n; i++) out[0].data<T>()[i * m + k] = slopes[k * ld + i];
      });
    });
  });
}

const bool bound = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<CdistForward, cdist_forward>(cpu);
  set_kernel<CdistBackward, cdist_backward>(cpu);
  set_kernel<PdistForward, pdist_forward>(cpu);
  set_kernel<PdistBackward, pdist_backward>(cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
