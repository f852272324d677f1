#include "framework/ops/counting.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/ranked.h"
#include "framework/kernels/cpu/singles.h"

namespace weir {
namespace WEIR_ISA {
namespace {

Tensor as_int64(const Tensor& t) { return t.dtype() == DType::int64 ? row_major(t) : copied(t, Meta(t.sizes(), DType::int64)); }

void nonzero(const Nonzero&, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  visit_dtype(x.dtype(), [&](auto tag) {
    const auto* v = reinterpret_cast<const Countable<typename decltype(tag)::type>*>(x.raw());
    int64_t n = x.numel(), count = 0;
    for (int64_t i = 0; i < n; i++) count += counts(v[i]);
    // As in PyTorch, each axis' coordinates lie together.
    Meta m(Dims{count, x.ndim()}, DType::int64);
    m.strides = Dims{1, count};
    out[0] = empty(m);
    int64_t* p = out[0].data<int64_t>();
    const int64_t column = count;
    if (x.ndim() == 1) {
      for (int64_t i = 0, k = 0; k < count; i++) {
        p[k] = i;
        k += counts(v[i]);
      }
      return;
    }
    if (count == 0 || x.ndim() == 0) return;
    const int last = x.ndim() - 1;
    const int64_t width = x.size(-1);
    Dims at(last, 0);  // the row's place
    int64_t found = 0;
    for (int64_t i = 0; i < n; i += width) {
      // Without a branch for each number: one that is zero leaves its place to the next.
      int64_t *inner = p + last * column, k = found;
      for (int64_t j = 0; j < width && k < count; j++) {
        inner[k] = j;
        k += counts(v[i + j]);
      }
      for (int d = 0; d < last; d++) std::fill(p + d * column + found, p + d * column + k, at[d]);
      found = k;
      for (int d = last; d-- > 0;) {
        if (++at[d] < x.sizes()[d]) break;
        at[d] = 0;
      }
    }
  });
}

// NaN comes last and equals nothing, itself neither.
template <class T> bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
  else return a < b;
}

template <class T> struct Rows {
  const T* data;
  int64_t width;
  bool less(int64_t a, int64_t b) const {
    for (int64_t k = 0; k < width; k++) {
      T x = data[a * width + k], y = data[b * width + k];
      if (before(x, y)) return true;
      if (before(y, x)) return false;
    }
    return false;
  }
  bool equal(int64_t a, int64_t b) const {
    for (int64_t k = 0; k < width; k++)
      if (!(data[a * width + k] == data[b * width + k])) return false;
    return true;
  }
};

// The rows in order, equal ones in the order they came.
template <class T> Scratch<int64_t> ordered(const Rows<T>& rows, int64_t n) {
  Scratch<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (rows.width != 1) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rows.less(a, b); });
    return order;
  }
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
  Scratch<Ranked<Wide>> items(n), other(n);
  for (int64_t i = 0; i < n; i++) items[i] = Ranked<Wide>(Wide(rows.data[i]), size_t(i), false);
  radix_sort(items, other);
  for (int64_t i = 0; i < n; i++) order[i] = int64_t(items[i].index);
  return order;
}

template <class T> uint64_t scrambled(T x) {
  uint64_t bits = 0;
  if constexpr (std::is_floating_point_v<T>) x = x == 0 ? T(0) : x;  // -0 is 0
  std::memcpy(&bits, &x, sizeof x);
  bits *= 0x9e3779b97f4a7c15;  // Knuth's multiplicative hashing
  return bits ^ bits >> 32;
}

/// The different numbers of a vector by hashing: one look at each number, and only the different ones are sorted. Gives up,
/// false, where so many differ that sorting all is quicker; NaN, which equals nothing, is left to the sort as well.
template <class T> bool distinct_by_hash(const T* v, int64_t n, DType t, const UniqueRows& asked, Outputs out) {
  const int64_t most = std::max<int64_t>(16, n / 8), room = int64_t(std::bit_ceil(uint64_t(most) * 4));
  Scratch<int64_t> slots(room, -1);  // number of the value that is there
  std::vector<T> values;
  std::vector<int64_t> counts;
  out[1] = empty(Dims{asked.return_inverse ? n : 0}, DType::int64);
  int64_t* inverse = out[1].data<int64_t>();
  for (int64_t i = 0; i < n; i++) {
    if constexpr (std::is_floating_point_v<T>)
      if (v[i] != v[i]) return false;
    uint64_t at = scrambled(v[i]) & uint64_t(room - 1);
    while (slots[at] >= 0 && !(values[slots[at]] == v[i])) at = (at + 1) & uint64_t(room - 1);
    if (slots[at] < 0) {
      if (int64_t(values.size()) == most) return false;
      slots[at] = int64_t(values.size());
      values.push_back(v[i]);
      counts.push_back(0);
    }
    counts[slots[at]]++;
    if (asked.return_inverse) inverse[i] = slots[at];
  }
  int64_t count = int64_t(values.size());
  std::vector<int64_t> order(count), rank(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values[a] < values[b]; });
  out[2] = empty(Dims{asked.return_counts ? count : 0}, DType::int64);
  out[0] = empty(Dims{count}, t);
  T* sorted = reinterpret_cast<T*>(out[0].raw());
  for (int64_t k = 0; k < count; k++) {
    rank[order[k]] = k;
    sorted[k] = values[order[k]];
    if (asked.return_counts) out[2].data<int64_t>()[k] = counts[order[k]];
  }
  for (int64_t i = 0; asked.return_inverse && i < n; i++) inverse[i] = rank[inverse[i]];
  return true;
}

/// As distinct_by_hash, of numbers of one byte: every one has a place of its own.
template <class T> void distinct_bytes(const T* v, int64_t n, DType t, const UniqueRows& asked, Outputs out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(v);
  std::array<std::array<int64_t, 256>, 4> counts{};  // four: counting the same number twice in turn would wait for the first count
  for (int64_t i = 0; i < n; i++) counts[i % 4][bytes[i]]++;
  std::array<int64_t, 256> total{}, rank{};
  for (const auto& some : counts)
    for (int b = 0; b < 256; b++) total[b] += some[b];
  const int64_t count = 256 - std::count(total.begin(), total.end(), 0);
  out[0] = empty(Dims{count}, t);
  out[1] = empty(Dims{asked.return_inverse ? n : 0}, DType::int64);
  out[2] = empty(Dims{asked.return_counts ? count : 0}, DType::int64);
  int64_t k = 0;
  for (int x = std::numeric_limits<T>::min(); x <= std::numeric_limits<T>::max(); x++) {
    const uint8_t b = uint8_t(x);
    if (!total[b]) continue;
    out[0].data<T>()[k] = T(x);
    if (asked.return_counts) out[2].data<int64_t>()[k] = total[b];
    rank[b] = k++;
  }
  int64_t* inverse = out[1].data<int64_t>();
  for (int64_t i = 0; asked.return_inverse && i < n; i++) inverse[i] = rank[bytes[i]];
}

/// Runs of equal numbers of a vector: chunks count those that begin in them, and write each from its end to its beginning, which stays, without a
/// branch for each number. Where nearly all begin a run the branch is guessed, and waits for nothing.
template <class T> void runs_of(const T* v, int64_t n, DType t, const UniqueRows& asked, Outputs out) {
  const int64_t chunks = (n + kGrain - 1) / kGrain;
  std::vector<int64_t> before(chunks + 1);
  auto each_chunk = [&](auto&& f) {
    parallel_for(chunks, 1, [&](int64_t b, int64_t e) {
      for (int64_t c = b; c < e; c++) f(c, c * kGrain, std::min((c + 1) * kGrain, n));
    });
  };
  each_chunk([&](int64_t c, int64_t b, int64_t e) {
    int64_t count = b == 0;
    for (int64_t i = std::max<int64_t>(b, 1); i < e; i++) count += !(v[i - 1] == v[i]);
    before[c + 1] = count;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  const int64_t count = before.back();
  out[0] = empty(Dims{count}, t), out[1] = empty(Dims{asked.return_inverse ? n : 0}, DType::int64), out[2] = empty(Dims{asked.return_counts ? count : 0}, DType::int64);
  T* values = reinterpret_cast<T*>(out[0].raw());
  int64_t *inverse = out[1].data<int64_t>(), *lengths = out[2].data<int64_t>();
  auto write = [&](auto placed, auto counted) {
    each_chunk([&](int64_t c, int64_t b, int64_t e) {
      int64_t run = before[c + 1] - 1;
      if ((run + 1 - before[c]) * 16 > (e - b) * 15) {
        run = before[c];
        for (int64_t i = b; i < e; i++) {
          if (i == 0 || !(v[i - 1] == v[i])) {
            values[run] = v[i];
            if (counted) lengths[run] = i;
            run++;
          }
          if (placed) inverse[i] = run - 1;
        }
        return;
      }
      for (int64_t i = e - 1; i >= b && run >= before[c]; i--) {
        values[run] = v[i];
        if (counted) lengths[run] = i;  // where it begins, at first
        run -= i == 0 || !(v[i - 1] == v[i]);
      }
      for (int64_t i = e - 1, r = before[c + 1] - 1; placed && i >= b; i--) {
        inverse[i] = r;
        r -= i == 0 || !(v[i - 1] == v[i]);
      }
    });
  };
  const std::true_type yes;
  const std::false_type no;
  if (asked.return_inverse) asked.return_counts ? write(yes, yes) : write(yes, no);
  else asked.return_counts ? write(no, yes) : write(no, no);
  for (int64_t k = 0; asked.return_counts && k < count; k++) lengths[k] = (k + 1 < count ? lengths[k + 1] : n) - lengths[k];
}

void unique_rows(const UniqueRows& op, Inputs in, Outputs out) {
  DType given = in[0].dtype(), wide = is_reduced(given) ? DType::float32 : given;
  Tensor x = wide == given ? row_major(in[0]) : copied(in[0], Meta(in[0].sizes(), wide));
  int64_t n = x.sizes()[0], width = x.ndim() == 2 ? x.sizes()[1] : 1;
  visit_dtype(wide, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplex<T> && !std::is_same_v<T, Half> && !std::is_same_v<T, BFloat16>) {
      if (!op.consecutive && x.ndim() == 1) {
        if constexpr (sizeof(T) == 1) return distinct_bytes(x.data<T>(), n, wide, op, out);
        const bool done = distinct_by_hash(x.data<T>(), n, wide, op, out);
        if (done && wide != given) out[0] = copied(out[0], Meta(out[0].sizes(), given));
        if (done) return;
      }
      if (op.consecutive && x.ndim() == 1) {
        runs_of(x.data<T>(), n, wide, op, out);
        if (wide != given) out[0] = copied(out[0], Meta(out[0].sizes(), given));
        return;
      }
      Rows<T> rows{x.data<T>(), width};
      Scratch<int64_t> order;
      if (!op.consecutive) order = ordered(rows, n);
      auto at = [&](int64_t i) { return op.consecutive ? i : order[i]; };
      std::vector<int64_t> starts;
      out[1] = empty(Dims{op.return_inverse ? n : 0}, DType::int64);
      for (int64_t i = 0; i < n; i++) {
        if (i == 0 || !rows.equal(at(i - 1), at(i))) starts.push_back(i);
        if (op.return_inverse) out[1].data<int64_t>()[at(i)] = int64_t(starts.size()) - 1;
      }
      int64_t count = int64_t(starts.size());
      Tensor values = empty(x.ndim() == 2 ? Dims{count, width} : Dims{count}, wide);
      out[2] = empty(Dims{op.return_counts ? count : 0}, DType::int64);
      for (int64_t k = 0; k < count; k++) {
        std::copy_n(rows.data + at(starts[k]) * width, width, values.data<T>() + k * width);
        if (op.return_counts) out[2].data<int64_t>()[k] = (k + 1 < count ? starts[k + 1] : n) - starts[k];
      }
      out[0] = wide == given ? values : copied(values, Meta(values.sizes(), given));
    }
  });
}

void repeat_index(const RepeatIndex& op, Inputs in, Outputs out) {
  Tensor repeats = as_int64(in[0]);
  int64_t n = repeats.numel(), total = 0;
  const int64_t* r = repeats.data<int64_t>();
  for (int64_t i = 0; i < n; i++) {
    check(r[i] >= 0, "repeat_interleave: repeats can not be negative, got ", r[i]);
    total = checked_add(total, r[i]);
  }
  check(!op.output_size || n == 0 || *op.output_size == total, "repeat_interleave: Invalid output_size, expected ", total, " but got ",
        op.output_size.value_or(0));
  Tensor index = empty(Dims{total}, DType::int64);
  int64_t* p = index.data<int64_t>();
  for (int64_t i = 0; i < n; i++) p = std::fill_n(p, r[i], i);
  out[0] = in[0].dtype() == DType::int64 ? index : copied(index, Meta(index.sizes(), in[0].dtype()));
}

// How often each number below `size` is among n. Equal numbers that follow each other would wait for one sum: four take turns.
template <class I> void count(const I* at, int64_t n, int64_t size, int64_t* sum) {
  constexpr int64_t kTables = 4, kSmall = 1 << 12;
  int64_t i = 0;
  if (size <= kSmall && n >= kTables * size) {
    std::vector<int64_t> more((kTables - 1) * size);
    for (; i + kTables <= n; i += kTables) {
      sum[at[i]]++;
      for (int64_t k = 1; k < kTables; k++) more[(k - 1) * size + at[i + k]]++;
    }
    for (int64_t k = 0; k < int64_t(more.size()); k++) sum[k % size] += more[k];
  }
  for (; i < n; i++) sum[at[i]]++;
}

template <class T, class I> Tensor counts_of(const Tensor& places, const T* weights, int64_t size, DType t) {
  Tensor r = empty(Dims{size}, t);
  T* sum = r.data<T>();
  std::fill_n(sum, size, T(0));
  const I* at = places.data<I>();
  if constexpr (std::is_same_v<T, int64_t>) count(at, places.numel(), size, sum);
  else
    for (int64_t i = 0; i < places.numel(); i++) sum[at[i]] += weights[i];
  return r;
}

template <class I> Tensor counted(const Tensor& places, const Tensor& weights, int64_t minlength) {
  I least = 0, largest = 0;
  const I* v = places.data<I>();
#pragma omp simd reduction(min : least) reduction(max : largest)
  for (int64_t i = 0; i < places.numel(); i++) least = std::min(least, v[i]), largest = std::max(largest, v[i]);
  check(least >= 0, "bincount only supports 1-d non-negative integral inputs, got ", int64_t(least));
  const int64_t size = std::max(places.numel() ? checked_add(largest, 1) : 0, minlength);
  // Without elements there is nothing to weigh: the result counts.
  if (!weights || places.numel() == 0) return counts_of<int64_t, I>(places, nullptr, size, DType::int64);
  const DType t = weights.dtype() == DType::float32 ? DType::float32 : DType::float64;
  const Tensor w = weights.dtype() == t ? row_major(weights) : copied(weights, Meta(weights.sizes(), t));
  return t == DType::float32 ? counts_of<float, I>(places, w.data<float>(), size, t) : counts_of<double, I>(places, w.data<double>(), size, t);
}

void bincount(const Bincount& op, Inputs in, Outputs out) {
  const bool bytes = in[0].dtype() == DType::uint8;
  out[0] = bytes ? counted<uint8_t>(row_major(in[0]), in[1], op.minlength) : counted<int64_t>(as_int64(in[0]), in[1], op.minlength);
}

const bool bound = [] {
  set_kernel<Nonzero, nonzero>(DeviceType::cpu);
  set_kernel<UniqueRows, unique_rows>(DeviceType::cpu);
  set_kernel<RepeatIndex, repeat_index>(DeviceType::cpu);
  set_kernel<Bincount, bincount>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
