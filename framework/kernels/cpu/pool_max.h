// The largest numbers under windows, where they stood, and their gradient.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "framework/kernels/cpu/pool_planes.h"
#include "framework/ops/pool.h"

namespace weir {
namespace WEIR_ISA {
namespace pool {

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

// The input rows under an output row: their numbers, and the position of their first column.
template <class T> class InputRows {
 public:
  struct Row {
    const Wide<T>* numbers;
    int64_t at;
    const T* stored;
  };
  /// Whether the channels side by side fill registers, which load the stored numbers: then `numbers` are not set.
  const bool in_registers;
  InputRows(const Planes& p, const Window& w)
      : in_registers(std::is_same_v<Wide<T>, float> && p.lanes >= Vec<float>::size), p_(p), w_(w), rows_(size_t(w.k[0] * w.k[1])),
        buffers_(kWidened<T> && !in_registers ? rows_.size() : 1) {}
  void look_under(const T* plane, int64_t row) {
    count_ = 0;
    const int64_t z0 = row / p_.out[1] * w_.s[0] - w_.p[0], y0 = row % p_.out[1] * w_.s[1] - w_.p[1];
    for (int64_t a = 0; a < w_.k[0]; a++)
      for (int64_t b = 0; b < w_.k[1]; b++) {
        const int64_t z = z0 + a * w_.d[0], y = y0 + b * w_.d[1];
        if (z < 0 || z >= p_.in[0] || y < 0 || y >= p_.in[1]) continue;
        const int64_t at = (z * p_.in[1] + y) * p_.in[2];
        const T* const numbers = plane + at * p_.lanes;
        rows_[count_] = {in_registers ? nullptr : widened(numbers, buffers_[kWidened<T> ? count_ : 0], p_.in[2] * p_.lanes), at, numbers};
        count_++;
      }
  }
  const Row* begin() const { return rows_.data(); }
  const Row* end() const { return rows_.data() + count_; }

 private:
  const Planes& p_;
  const Window& w_;
  std::vector<Row> rows_;
  std::vector<Scratch<Wide<T>>> buffers_;
  size_t count_ = 0;
};

// Output columns [x0, x0 + m) of a row-major plane.
template <class T, class A> void best_of_columns(const Planes& p, const Window& w, const InputRows<T>& rows, int64_t x0, int64_t m, Best<A>& best) {
  int64_t s = w.s[2];
  for (const auto& row : rows)
    for (int64_t c = 0; c < w.k[2]; c++) {
      int64_t first = x0 * s + c * w.d[2] - w.p[2];  // the column that lane 0 sees, perhaps in the padding
      int64_t b = first < 0 ? (-first + s - 1) / s : 0, e = first < p.in[2] ? std::min(m, (p.in[2] - 1 - first) / s + 1) : 0;
      keep_larger_strided(row.numbers + first, s, int32_t(row.at + first), b, e, best);
    }
}
// The same of a short row, column by column: too few for a loop over columns to pay. False where a number is NaN, which is left to that.
constexpr int64_t kFew = 16;
template <class T, class A> bool best_of_few(const Planes& p, const Window& w, const InputRows<T>& rows, int64_t m, Best<A>& best) {
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
  for (const auto& row : rows) {
    const Wide<T>* const src = row.numbers - row.at;  // one index for number and position
    for (int64_t l = 0; l < m; l++) {
      A most = best.value[l];
      int32_t where = best.index[l], at = int32_t(row.at + l * s - w.p[2] + from[l] * d);
      for (int64_t c = from[l]; c < to[l]; c++, at += int32_t(d)) {
        const A v = A(src[at]);
        where = v > most ? at : where;
        most = v > most ? v : most;
        unordered |= v != v;
      }
      best.value[l] = most;
      best.index[l] = where;
    }
  }
  return !unordered;
}
// Channels [lane, lane + m) of output column x where channels are dense, as lanes from `first` on.
template <class T, class A>
void best_of_channels(const Planes& p, const Window& w, const InputRows<T>& rows, int64_t x, int64_t lane, int64_t first, int64_t m, Best<A>& best) {
  for (const auto& row : rows)
    for (int64_t c = 0; c < w.k[2]; c++) {
      int64_t at = x * w.s[2] + c * w.d[2] - w.p[2];
      if (at < 0 || at >= p.in[2]) continue;
      const int64_t from = at * p.lanes + lane - first;
      auto keep = [&](const auto* numbers) {
        keep_larger(numbers + from, std::integral_constant<int64_t, 1>{}, int32_t(row.at + at), 0, first, first + m, best);
      };
      rows.in_registers ? keep(row.stored) : keep(row.numbers);
    }
}
// Channels of floats that fill registers, in which their largest numbers stay: `kVectors` registers of lanes, to `best` from `first` on. `each_tap` calls
// its argument with the numbers of a place and its position, for every place under the window. Windows of nothing above the lowest number keep no position.
template <int kVectors, class Taps> void best_of_registers(int64_t lane, int64_t first, Best<float>& best, Taps&& each_tap) {
  using V = Vec<float>;
  using I = Vec<int32_t>;
  V most[kVectors];
  I place[kVectors];
  for (int i = 0; i < kVectors; i++) most[i] = V(-std::numeric_limits<float>::infinity()), place[i] = I(-1);
  each_tap([&](const auto* numbers, int64_t at) {
    const I here = I(int32_t(at));
    for (int i = 0; i < kVectors; i++) {
      const V v = vector_of<float>(numbers + lane + i * V::size);
      const auto better = (v > most[i]) | (v != v);
      most[i] = where(better, v, most[i]);
      place[i] = where(Mask<int32_t>{better.v}, here, place[i]);
    }
  });
  for (int i = 0; i < kVectors; i++) most[i].store(best.value + first + i * V::size), place[i].store(best.index + first + i * V::size);
}
// The same of n channels.
template <class Taps> void best_of_many(int64_t n, int64_t first, Best<float>& best, Taps&& each_tap) {
  for_lanes<float>(n, [&](auto registers, int64_t lane) { best_of_registers<registers>(lane, first + lane, best, each_tap); });
}

// Windows that dilation leads past every element: the lowest number, at PyTorch's index, the first place not before the input,
// which may lie behind it. Lane l is of number at + l of the output row.
template <class T, class A> void fill_empty_windows(const Planes& p, const Window& w, int64_t row, int64_t at, int64_t m, Best<A>& best) {
  int32_t signs = 0;
  for (int64_t l = 0; l < m; l++) signs |= best.index[l];
  if (signs >= 0) return;
  auto start = [&](int axis, int64_t o) {
    int64_t begin = o * w.s[axis] - w.p[axis];
    return begin < 0 ? begin + (-begin + w.d[axis] - 1) / w.d[axis] * w.d[axis] : begin;
  };
  int64_t line = (start(0, row / p.out[1]) * p.in[1] + start(1, row % p.out[1])) * p.in[2];
  for (int64_t l = 0; l < m; l++)
    if (best.index[l] < 0) {
      best.index[l] = int32_t(line + start(2, (at + l) / p.lanes));
      if constexpr (std::is_integral_v<A>) best.value[l] = A(std::numeric_limits<T>::lowest());
      else best.value[l] = -std::numeric_limits<A>::infinity();
    }
}

// Numbers [at, at + m) of an output row: some columns of the row, some channels of one column, or all channels of some.
template <class T, class A> void best_of_block(const Planes& p, const Window& w, const InputRows<T>& rows, int64_t at, int64_t m, Best<A>& best) {
  if (p.lanes == 1) {
    best.clear();
    if (p.out[2] <= kFew) {
      if (best_of_few(p, w, rows, m, best)) return;
      best.clear();
    }
    return best_of_columns(p, w, rows, at, m, best);
  }
  if constexpr (std::is_same_v<Wide<T>, float>)
    if (rows.in_registers && m >= Vec<float>::size) {
      for (int64_t l = 0, n; l < m; l += n) {
        n = std::min(m, p.lanes);
        best_of_many(n, l, best, [&](auto&& f) {
          const int64_t x = (at + l) / p.lanes * w.s[2] - w.p[2], lane = at % p.lanes;
          for (const auto& row : rows)
            for (int64_t c = 0, k = x; c < w.k[2]; c++, k += w.d[2])
              if (k >= 0 && k < p.in[2]) f(row.stored + k * p.lanes + lane, row.at + k);
        });
      }
      return;
    }
  best.clear();
  for (int64_t l = 0, n; l < m; l += n) {
    n = std::min(m, p.lanes);
    best_of_channels(p, w, rows, (at + l) / p.lanes, at % p.lanes, l, n, best);
  }
}

inline void max_pool(const MaxPool& op, Inputs in, Outputs out) {
  bool last = only_channels_last(out[0]);
  Tensor x = in_layout(in[0], last);
  Planes p(x.sizes(), out[0].sizes(), last);
  Window w(op);
  int64_t rows = p.out[0] * p.out[1], width = p.out[2] * p.lanes;
  const int64_t block = p.lanes == 1 ? width : p.lanes <= kLanes / 2 ? kLanes / p.lanes * p.lanes : p.lanes;
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    using A = Acc<T>;
    int64_t grain = kGrain / (width * w.k[0] * w.k[1] * w.k[2]);
    parallel_for(p.count * rows, grain, [&](int64_t begin, int64_t end) {
      Best<A> best;
      InputRows<T> under(p, w);
      for (int64_t i = begin; i < end; i++) {
        under.look_under(x.data<T>() + i / rows * p.in_area * p.lanes, i % rows);
        for (int64_t at = 0, m; at < width; at += m) {
          m = std::min({kLanes, block - at % block, width - at});
          best_of_block(p, w, under, at, m, best);
          fill_empty_windows<T>(p, w, i % rows, at, m, best);
          convert(dtype_of<A>(), best.value, 1, x.dtype(), out[0].data<T>() + i * width + at, 1, m);
          std::copy_n(best.index, m, out[1].data<int64_t>() + i * width + at);
        }
      }
    });
  });
}

inline void max_pool_backward(const MaxPoolBackward& op, Inputs in, Outputs out) {
  bool last = only_channels_last(out[0]);
  Tensor dy = in_layout(in[0], last), index = in_layout(in[1], last);
  Planes p(op.input_size, dy.sizes(), last);
  auto inside = [&](int64_t place) { return uint64_t(place) < uint64_t(p.in_area); };  // the place of an empty window need not be
  by_type(dy.dtype(), [&]<class T>(TypeTag<T>) {
    parallel_for(p.count, 1, [&](int64_t b, int64_t e) {
      Scratch<Acc<T>> sum(std::is_same_v<Acc<T>, T> ? 0 : p.in_area * p.lanes);
      Scratch<Wide<T>> grads;
      for (int64_t plane = b; plane < e; plane++) {
        T* dx = out[0].data<T>() + plane * p.in_area * p.lanes;
        Acc<T>* acc;
        if constexpr (std::is_same_v<Acc<T>, T>) acc = dx;
        else acc = sum.data();
        std::fill_n(acc, p.in_area * p.lanes, Acc<T>(0));
        const Wide<T>* g = widened(dy.data<T>() + plane * p.out_area * p.lanes, grads, p.out_area * p.lanes);
        const int64_t* to = index.data<int64_t>() + plane * p.out_area * p.lanes;
        if (p.lanes == 1) {
          for (int64_t o = 0; o < p.out_area; o++)
            if (inside(to[o])) acc[to[o]] += Acc<T>(g[o]);
        } else {
          for (int64_t o = 0; o < p.out_area; o++, g += p.lanes, to += p.lanes)
            for (int64_t l = 0; l < p.lanes; l++)
              if (inside(to[l])) acc[to[l] * p.lanes + l] += Acc<T>(g[l]);
        }
        if constexpr (!std::is_same_v<Acc<T>, T>) convert(dtype_of<Acc<T>>(), acc, 1, dtype_of<T>(), dx, 1, p.in_area * p.lanes);
      }
    });
  });
}

}  // namespace pool
}  // namespace WEIR_ISA
}  // namespace weir
