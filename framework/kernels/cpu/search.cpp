#include "framework/ops/search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/spaced.h"
#include "framework/ops/pointwise.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Three types stand for all: float16 and bfloat16 are exact in float, integers in int64.
template <class F> void by_class(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else if (is_floating(t)) f(TypeTag<float>{});
  else f(TypeTag<int64_t>{});
}
// Row-major elements in T. They pass through `via`, the type that operands promote to, which may round them.
template <class T> Tensor in_type(const Tensor& t, DType via) {
  Tensor x = t.dtype() == via ? t : copied(t, Meta(t.sizes(), via));
  return x.dtype() == dtype_of<T>() ? row_major(x) : copied(x, Meta(x.sizes(), dtype_of<T>()));
}

// Where v stands in n sorted elements. As in PyTorch, what does not compare (NaN) lies before everything.
template <bool kRight, class T, class At> int64_t insertion_point(int64_t n, T v, At&& at) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    bool before = kRight ? !(at(mid) > v) : !(at(mid) >= v);
    low = before ? mid + 1 : low;
    high = before ? high : mid;
  }
  return low;
}

void searchsorted(const SearchSorted& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  const DType type = result_type(in.first(2));
  const bool right = op.right || (op.side && *op.side == "right");
  by_class(type, [&]<class T>(TypeTag<T>) {
    Tensor edges = in_type<T>(in[0], type), values = in_type<T>(in[1], type), sorter = in[2] ? row_major(in[2]) : Tensor();
    int64_t n = edges.sizes().back(), count = values.numel();
    int64_t per_row = edges.ndim() == 1 ? count : values.sizes().back();
    if (sorter)
      for (int64_t i = 0; i < sorter.numel(); i++)
        check(sorter.data<int64_t>()[i] >= 0 && sorter.data<int64_t>()[i] < n, "torch.searchsorted(): sorter index out of range");
    const T *all = edges.data<T>(), *v = values.data<T>();
    auto search = [&]<bool kRight, class To>(To* dst) {
      parallel_for(count, 2048, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) {
          const T* row = all + i / per_row * n;
          if (!sorter) {
            dst[i] = To(insertion_point<kRight>(n, v[i], [row](int64_t k) { return row[k]; }));
          } else {
            const int64_t* order = sorter.data<int64_t>() + i / per_row * n;
            dst[i] = To(insertion_point<kRight>(n, v[i], [=](int64_t k) { return row[order[k]]; }));
          }
        }
      });
    };
    auto sided = [&]<class To>(To* dst) {
      if (right) search.template operator()<true>(dst);
      else search.template operator()<false>(dst);
    };
    if (op.out_int32) sided(out[0].data<int32_t>());
    else sided(out[0].data<int64_t>());
  });
}

// Numbers in open addressing: equal ones, 0 and -0 too, find the same slot; NaN is never found.
template <class T> class NumberSet {
 public:
  explicit NumberSet(int64_t most) : room_(std::bit_ceil(uint64_t(most) * 2 + 2)), used_(room_), slots_(room_) {}
  void insert(T x) {
    uint64_t at = start(x);
    while (used_[at] && !(slots_[at] == x)) at = (at + 1) & (room_ - 1);
    used_[at] = 1, slots_[at] = x;
  }
  bool contains(T x) const {
    uint64_t at = start(x);
    while (used_[at]) {
      if (slots_[at] == x) return true;
      at = (at + 1) & (room_ - 1);
    }
    return false;
  }

 private:
  uint64_t start(T x) const {
    uint64_t bits = 0;
    if constexpr (std::is_floating_point_v<T>) x = x + T(0);
    std::memcpy(&bits, &x, sizeof x);
    bits *= 0x9e3779b97f4a7c15;  // Knuth's multiplicative hashing
    return (bits ^ bits >> 32) & (room_ - 1);
  }
  uint64_t room_;
  std::vector<uint8_t> used_;
  std::vector<T> slots_;
};

constexpr int64_t kFewTests = 8;  // as many comparisons are faster than a look into a table

void isin(const Isin& op, Inputs in, Outputs out) {
  // PyTorch sorts many tests beside the elements, in a row of both, where a number is an element like others.
  const bool sorted = in[1].ndim() > 0 && in[1].numel() >= int64_t(10.0f * std::pow(double(in[0].numel()), 0.145));
  const DType type = sorted ? promote_types(in[0].dtype(), in[1].dtype()) : result_type(in);
  by_class(type, [&]<class T>(TypeTag<T>) {
    Tensor elements = in_type<T>(in[0], type), tests = in_type<T>(in[1], type);
    const T *x = elements.data<T>(), *t = tests.data<T>();
    bool* found = out[0].data<bool>();
    int64_t n = elements.numel(), m = tests.numel();
    // From this many on PyTorch sorts elements and tests together, where equal elements find each other, all but the last.
    bool together = op.assume_unique && m >= int64_t(10 * std::pow(double(n), 0.145));
    if (m <= kFewTests && !together) {
      parallel_for(n, kGrain, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) {
          bool any = false;
          for (int64_t k = 0; k < m; k++) any |= x[i] == t[k];
          found[i] = any != op.invert;
        }
      });
      return;
    }
    NumberSet<T> set(together ? m + n : m);
    for (int64_t k = 0; k < m; k++)
      if (t[k] == t[k]) set.insert(t[k]);
    if (!together) {
      parallel_for(n, kGrain / 4, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) found[i] = set.contains(x[i]) != op.invert;
      });
      return;
    }
    for (int64_t i = n; i-- > 0;) {
      found[i] = set.contains(x[i]) != op.invert;
      if (x[i] == x[i]) set.insert(x[i]);
    }
  });
}

template <class T> std::pair<T, T> extremes(const T* v, int64_t n) {
  T low = v[0], high = v[0];
  bool nan = false;
  for (int64_t i = 0; i < n; i++) {
    low = v[i] < low ? v[i] : low;
    high = v[i] > high ? v[i] : high;
    nan |= v[i] != v[i];
  }
  if (nan) return {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::quiet_NaN()};
  return {low, high};
}

void histc(const Histc& op, Inputs in, Outputs out) {
  by_class(in[0].dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      Tensor x = in_type<T>(in[0], in[0].dtype());
      const T* v = x.data<T>();
      int64_t n = x.numel();
      T low = T(op.min.to_double()), high = T(op.max.to_double());
      if (low == high && n) std::tie(low, high) = extremes(v, n);
      if (low == high) low -= 1, high += 1;
      check(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
      std::vector<int64_t> total(op.bins);
      const T bins = T(op.bins), span = high - low;
      parallel_for(n, kGrain, [&](int64_t b, int64_t e) {
        std::vector<int64_t> count(op.bins + 1);  // the last one: what lies outside
        for (int64_t i = b; i < e; i++) {
          bool inside = v[i] >= low && v[i] <= high;
          int64_t at = span > 0 ? int64_t((inside ? v[i] - low : T(0)) * bins / span) : op.bins / 2;  // where one more is not another number
          count[inside ? std::min(at, op.bins - 1) : op.bins]++;
        }
#pragma omp critical
        for (int64_t k = 0; k < op.bins; k++) total[k] += count[k];
      });
      convert(DType::int64, total.data(), 1, out[0].dtype(), out[0].raw(), 1, op.bins);
    }
  });
}

void histogram_edges(const HistogramEdges& op, Inputs in, Outputs out) {
  by_class(in[0].dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      Tensor x = row_major(in[0]);
      double low = 0, high = 1;
      if (op.range) {
        low = (*op.range)[2 * op.dim], high = (*op.range)[2 * op.dim + 1];
      } else if (x.numel()) {
        auto [a, b] = extremes(x.data<T>(), x.numel());
        low = double(a), high = double(b);
      }
      check(std::isfinite(low) && std::isfinite(high), "torch.histogramdd: dimension ", op.dim, "'s range [", low, ", ", high, "] is not finite");
      check(low <= high, "torch.histogramdd: min should not exceed max, but got min ", low, " max ", high, " for dimension ", op.dim);
      if (low == high) low -= 0.5, high += 0.5;
      std::vector<T> edges(op.bins + 1);
      spaced(edges.data(), T(low), T(high), op.bins + 1);
      convert(dtype_of<T>(), edges.data(), 1, out[0].dtype(), out[0].raw(), 1, op.bins + 1);
    }
  });
}

// The bin of v between n edges, or -1. Even bins are computed and then looked up, since the edges are rounded.
template <class T> int64_t bin_of(T v, const T* edge, int64_t n, bool even) {
  if (!(v >= edge[0] && v <= edge[n - 1])) return -1;
  int64_t low = 0, high = n;
  if (even) {
    int64_t guess = int64_t((v - edge[0]) * T(n - 1) / (edge[n - 1] - edge[0]));
    low = std::max<int64_t>(0, guess - 1), high = std::min(guess + 2, n);
  }
  return std::min(int64_t(std::upper_bound(edge + low, edge + high, v) - edge) - 1, n - 2);
}

void histogram_counts(const HistogramCounts& op, Inputs in, Outputs out) {
  by_class(in[0].dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      Tensor x = row_major(in[0]), w = in[1] ? row_major(in[1]) : Tensor();
      Tensors edges;
      for (const Tensor& e : in.subspan(2)) edges.push_back(row_major(e));
      const int dims = int(edges.size());
      Scratch<double> sums(out[0].numel(), 0);
      for (int64_t i = 0, n = dims ? x.sizes()[0] : 0; i < n; i++) {
        int64_t at = 0;
        for (int d = 0; d < dims && at >= 0; d++) {
          int64_t bin = bin_of(x.data<T>()[i * dims + d], edges[d].data<T>(), edges[d].numel(), op.even);
          at = bin < 0 ? -1 : at * (edges[d].numel() - 1) + bin;
        }
        if (at >= 0) sums[at] += w ? double(w.data<T>()[i]) : 1.0;
      }
      double total = 0;
      for (double s : sums) total += s;
      for (int64_t i = 0; i < int64_t(sums.size()); i++) {
        double volume = op.density ? total : 1;
        for (int64_t d = dims, rest = i; op.density && d-- > 0;) {
          int64_t n = edges[d].numel() - 1;
          const T* e = edges[d].data<T>() + rest % n;
          volume *= double(e[1] - e[0]);
          rest /= n;
        }
        out[0].data<T>()[i] = T(sums[i] / volume);
      }
    }
  });
}

const bool bound = [] {
  set_kernel<SearchSorted, searchsorted>(DeviceType::cpu);
  set_kernel<Isin, isin>(DeviceType::cpu);
  set_kernel<Histc, histc>(DeviceType::cpu);
  set_kernel<HistogramEdges, histogram_edges>(DeviceType::cpu);
  set_kernel<HistogramCounts, histogram_counts>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
