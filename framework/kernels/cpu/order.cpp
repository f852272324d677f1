#include "framework/ops/order.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/indexing.h"
#include "framework/kernels/cpu/numbers.h"
#include "framework/kernels/cpu/sort_lines.h"
#include "framework/ops/index.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Sizes before, at and behind dim of a row-major tensor; a 0-d tensor has one line of one element.
struct Split {
  int64_t outer = 1, n = 1, inner = 1;
  Split(const Dims& sizes, int64_t dim) {
    if (!sizes.n) return;
    int d = int(dim < 0 ? dim + sizes.n : dim);
    for (int i = 0; i < sizes.n; i++) (i < d ? outer : i == d ? n : inner) *= sizes[i];
  }
};

constexpr int64_t kColumns = 256;  // columns that run down together

template <class T, bool kLargest> void run_down(const T* x, T* y, int64_t* at, const Split& s) {
  auto overtakes = [](auto v, auto best) { return is_nan(v) | (!is_nan(best) & (kLargest ? v >= best : v <= best)); };
  if (s.inner == 1) {
    constexpr int64_t kBlock = Vec<T>::size;  // numbers of which mostly none overtakes
    parallel_for(s.outer, kGrain / s.n, [&](int64_t b, int64_t e) {
      for (int64_t line = b * s.n; line < e * s.n; line += s.n) {
        T best = x[line];
        int64_t where = 0;
        for (int64_t i = 0, stop; i < s.n; i = stop) {
          stop = std::min(i + kBlock, s.n);
          if (stop - i == kBlock) {
            const Vec<T> v = Vec<T>::load(x + line + i), all(best);
            if (!any((v != v) | (kLargest ? v >= all : v <= all))) {
              all.store(y + line + i);
              for (int64_t k = 0; k < kBlock; k++) at[line + i + k] = where;
              continue;
            }
          }
          for (int64_t k = i; k < stop; k++) {
            const bool better = overtakes(x[line + k], best);
            y[line + k] = best = better ? x[line + k] : best;
            at[line + k] = where = better ? k : where;
          }
        }
      }
    });
    return;
  }
  int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  parallel_for(s.outer * blocks, kGrain / (s.n * std::min(kColumns, s.inner)), [&](int64_t b, int64_t e) {
    for (int64_t block = b; block < e; block++) {
      int64_t first = block % blocks * kColumns, width = std::min(kColumns, s.inner - first);
      int64_t base = block / blocks * s.n * s.inner + first;
      for (int64_t k = 0; k < width; k++) y[base + k] = x[base + k], at[base + k] = 0;
      for (int64_t i = 1; i < s.n; i++, base += s.inner)
        for (int64_t k = base; k < base + width; k++) {
          T v = x[k + s.inner];
          bool better = overtakes(v, y[k]);
          y[k + s.inner] = better ? v : y[k];
          at[k + s.inner] = better ? i : at[k];
        }
    }
  });
}

// Of a number without axes, of any dtype, the answer is the number.
bool of_a_number(const Tensor& x, Outputs out) {
  if (x.ndim()) return false;
  run_copy(x, out[0]);
  *out[1].data<int64_t>() = 0;
  return true;
}

template <bool kLargest> void running(int64_t dim, Inputs in, Outputs out) {
  if (out[0].numel() == 0 || of_a_number(in[0], out)) return;
  if (is_reduced(in[0].dtype())) {  // halves are compared as floats, which are halves again
    Tensor wide = copied(in[0], Meta(in[0].sizes(), DType::float32)), found[2] = {empty(out[0].sizes(), DType::float32), out[1]};
    running<kLargest>(dim, Inputs(&wide, 1), Outputs(found, 2));
    return run_copy(found[0], out[0]);
  }
  Tensor x = row_major(in[0]);
  Split s(x.sizes(), dim);
  visit_real_dtype("cummax_cpu", x.dtype(), [&]<class T>(TypeTag<T>) {
    using Number = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if constexpr (std::is_arithmetic_v<T>) run_down<Number, kLargest>(x.data<Number>(), out[0].data<Number>(), out[1].data<int64_t>(), s);
  });
}
void cummax(const Cummax& op, Inputs in, Outputs out) { running<true>(op.dim, in, out); }
void cummin(const Cummin& op, Inputs in, Outputs out) { running<false>(op.dim, in, out); }

// A number as an unsigned integer in the order of numbers: NaN is the largest, -0 equals 0.
template <class T> auto key_of(T x) {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr U sign = U(1) << (8 * sizeof(U) - 1);
  if constexpr (std::is_integral_v<T>) return U(x) ^ sign;
  else {
    U bits = std::bit_cast<U>(x + T(0));
    return x != x ? ~U(0) : bits & sign ? U(~bits) : U(bits | sign);
  }
}

constexpr size_t kFewKeys = 512;  // below, comparing is faster than counting

/// The k-th smallest key, from 0: buckets of the leading digits of what it is above the least are counted, and only the bucket that holds it is looked into.
template <class U> U kth_key(Scratch<U>& keys, size_t k) {
  constexpr int kDigit = 11;
  U least = keys[0], most = keys[0];
  for (U key : keys) least = std::min(least, key), most = std::max(most, key);
  for (int end = std::bit_width(U(most - least)); keys.size() > kFewKeys; end -= kDigit) {
    const int low = std::max(end - kDigit, 0);
    const uint32_t mask = (1u << (end - low)) - 1;
    auto digit_of = [&](U key) { return uint32_t(U(key - least) >> low) & mask; };
    // By turns in two tables: where few numbers come again and again a count would wait for the one before.
    std::vector<size_t> count(2 * (mask + 1));
    size_t i = 0;
    for (; i + 2 <= keys.size(); i += 2) count[2 * digit_of(keys[i])]++, count[2 * digit_of(keys[i + 1]) + 1]++;
    if (i < keys.size()) count[2 * digit_of(keys[i])]++;
    uint32_t digit = 0;
    for (size_t here; k >= (here = count[2 * digit] + count[2 * digit + 1]); digit++) k -= here;
    if (low == 0) return least + digit + U(keys.front() - least - digit_of(keys.front()));  // above its last digits all keys are the same
    size_t kept = 0;
    for (U key : keys)
      if (digit_of(key) == digit) keys[kept++] = key;
    keys.resize(kept);
  }
  std::nth_element(keys.begin(), keys.begin() + k, keys.end());
  return keys[k];
}

// Calls f(elements of a line, their number, number of the line) for all lines of x along dim, in T.
template <class T, class F> void for_lines(const Tensor& given, int64_t dim, F&& f) {
  Tensor x = row_major(given);
  Split s(x.sizes(), dim);
  parallel_for(s.outer * s.inner, kGrain / 8 / s.n, [&](int64_t b, int64_t e) {
    Scratch<T> line(s.n);
    for (int64_t l = b; l < e; l++) {
      int64_t first = l / s.inner * s.n * s.inner + l % s.inner;
      convert(x.dtype(), x.raw() + first * int64_t(size_of(x.dtype())), s.inner, dtype_of<T>(), line.data(), 1, s.n);
      f(line, l);
    }
  });
}

template <class F> void by_class(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else if (is_floating(t)) f(TypeTag<float>{});
  else f(TypeTag<int64_t>{});
}

// Writes the element of rank `rank_of(line, its keys)` of each line, and the index it has in a stable order.
template <class F> void pick(const Tensor& x, int64_t dim, Outputs out, F&& rank_of) {
  if (out[0].numel() == 0) return;
  by_class(x.dtype(), [&]<class T>(TypeTag<T>) {
    using U = decltype(key_of(T()));
    for_lines<T>(x, dim, [&](const Scratch<T>& line, int64_t l) {
      Scratch<U> keys(line.size());
      size_t nans = 0;
      for (size_t i = 0; i < line.size(); i++) keys[i] = key_of(line[i]), nans += is_nan(line[i]);
      size_t rank = rank_of(line.size(), nans);
      Scratch<U> work = keys;
      U key = kth_key(work, rank);
      for (U other : keys) rank -= other < key;
      size_t i = 0;
      while (keys[i] != key || rank-- > 0) i++;
      out[1].data<int64_t>()[l] = int64_t(i);
      put(out[0], l, line[i]);
    });
  });
}

size_t middle(size_t n, size_t nans) { return nans ? n - nans : (n - 1) / 2; }
size_t middle_of_numbers(size_t n, size_t nans) { return nans == n ? 0 : (n - nans - 1) / 2; }

void find_in_lines(const Tensor& given, int64_t dim, const Wanted& w, const Tensor& numbers, const Tensor& places) {
  const Tensor x = one_axis(given);
  const int d = wrap_dim(dim, x.ndim(), "sort");
  if (const Tensor once = once_each(x, d); !(once.sizes() == x.sizes())) {  // equal lines are looked at once
    Dims found = once.sizes();
    found[d] = w.count;
    const Tensor some[] = {empty(found, numbers.dtype()), empty(found, DType::int64)};
    find_in_lines(once, dim, w, some[0], some[1]);
    return run_copy(some[0], numbers), run_copy(some[1], places);
  }
  if (w.order == Order::stable && x.strides()[d] == 0) {  // numbers that are one in memory
    Dims strides(x.ndim(), 0);
    strides[d] = 1;
    const Tensor counted = empty(Dims{w.n}, DType::int64);
    std::iota(counted.data<int64_t>(), counted.data<int64_t>() + w.n, int64_t(0));
    return run_copy(x, numbers), run_copy(alias(counted, x.sizes(), strides, counted->offset), places);
  }
  by_class(x.dtype(), [&]<class T>(TypeTag<T>) { LinesSorter<T>(x, numbers, places, d, w).run(); });
}
void sort(const Sort& op, Inputs in, Outputs out) {
  check<NotImplemented>(!is_complex(in[0].dtype()), "sort: not implemented for '", name_of(in[0].dtype()), "'");
  if (out[0].numel() == 0) return;
  const int64_t n = size_along(in[0], op.dim);
  find_in_lines(in[0], op.dim, {Order::stable, op.descending, n, 0, n}, one_axis(out[0]), one_axis(out[1]));
}
void topk(const Topk& op, Inputs in, Outputs out) {
  check<NotImplemented>(!is_complex(in[0].dtype()), "topk: not implemented for '", name_of(in[0].dtype()), "'");
  if (out[0].numel() == 0) return;
  const int64_t k = in[0].ndim() ? op.k : 1;  // a 0-d tensor is its own, whatever k
  find_in_lines(in[0], op.dim, {op.sorted ? Order::sorted : Order::unsorted, op.largest, size_along(in[0], op.dim), 0, k}, one_axis(out[0]), one_axis(out[1]));
}
void kthvalue(const Kthvalue& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0 || of_a_number(in[0], out)) return;
  const int64_t n = size_along(in[0], op.dim), k = op.k - 1;
  const bool descending = k > n / 2;
  auto with_axis = [&](const Tensor& t) {
    Dims sizes = t.sizes(), strides = t.strides();
    const int d = wrap_dim(op.dim, in[0].ndim(), "kthvalue");
    if (!op.keepdim) sizes.insert(d, 1), strides.insert(d, 1);
    return alias(t, sizes, strides, t->offset);
  };
  if (const Tensor& x = in[0]; n > 1 && x.strides()[wrap_dim(op.dim, x.ndim(), "kthvalue")] == 0) {  // of one number that repeats the place is the same in all lines
    Scratch<float> equal(size_t(n), 0.0f);
    Scratch<int64_t> at(n);
    std::iota(at.begin(), at.end(), int64_t(0));
    select_kth(equal, at, k);
    const Tensor values = with_axis(out[0]), places = with_axis(out[1]), place = empty(Dims{}, DType::int64);
    *place.data<int64_t>() = at[size_t(k)];
    run_copy(alias(x, values.sizes(), x.strides(), x->offset), values);
    return run_copy(place, places);
  }
  find_in_lines(in[0], op.dim, {Order::kth, descending, n, descending ? n - 1 - k : k, 1}, with_axis(out[0]), with_axis(out[1]));
}

void median_dim(const MedianDim& op, Inputs in, Outputs out) { pick(in[0], op.dim, out, middle); }
void nanmedian_dim(const NanmedianDim& op, Inputs in, Outputs out) { pick(in[0], op.dim, out, middle_of_numbers); }

template <class F> void middle_of_all(const Tensor& given, const Tensor& out, F&& rank_of) {
  Tensor x = row_major(given);
  if (x.numel() == 0 && is_complex(x.dtype())) {
    return put(out, 0, std::complex<double>(std::numeric_limits<double>::quiet_NaN()));
  }
  by_class(x.dtype(), [&]<class T>(TypeTag<T>) {
    using U = decltype(key_of(T()));
    size_t n = size_t(x.numel()), nans = 0;
    T value = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::min();
    if (x.dtype() == DType::int32) value = T(std::numeric_limits<int32_t>::min());  // what becomes of NaN
    if (n) {
      Tensor flat = x.dtype() == dtype_of<T>() ? x : copied(x, Meta(x.sizes(), dtype_of<T>()));
      const T* v = flat.data<T>();
      Scratch<U> keys(n);
      for (size_t i = 0; i < n; i++) keys[i] = key_of(v[i]), nans += is_nan(v[i]);
      U key = kth_key(keys, rank_of(n, nans));
      constexpr U sign = U(1) << (8 * sizeof(U) - 1);
      if constexpr (std::is_integral_v<T>) value = T(key ^ sign);
      else if (key != ~U(0)) value = std::bit_cast<T>(key & sign ? U(key ^ sign) : U(~key));
    }
    put(out, 0, value);
  });
}
void median(const Median&, Inputs in, Outputs out) { middle_of_all(in[0], out[0], middle); }
void nanmedian(const Nanmedian&, Inputs in, Outputs out) { middle_of_all(in[0], out[0], middle_of_numbers); }

// Sorts by < alone, as PyTorch does: a NaN equals nothing and stays where std::sort leaves it, between numbers in no order. The first and the
// last place hold NaN and are not sorted: there the loops of std::sort stop, to the left and to the right, that trust an order to stop them.
template <class T> void sort_pairs(Scratch<std::pair<T, int64_t>>& order) {
  order.front() = order.back() = {std::numeric_limits<T>::quiet_NaN(), 0};
  std::sort(order.begin() + 1, order.end() - 1, [](const auto& a, const auto& b) { return a.first < b.first; });
}

void mode(const ModeValue& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0 || of_a_number(in[0], out)) return;
  by_class(in[0].dtype(), [&]<class T>(TypeTag<T>) {
    for_lines<T>(in[0], op.dim, [&](const Scratch<T>& line, int64_t l) {
      Scratch<std::pair<T, int64_t>> order(line.size() + 2);
      for (size_t i = 0; i < line.size(); i++) order[1 + i] = {line[i], int64_t(i)};
      sort_pairs(order);
      size_t best = 0, most = 0, run = 0;
      for (size_t i = 1; i <= line.size(); i++) {
        run++;
        if (i < line.size() && order[i].first == order[i + 1].first) continue;
        if (run > most) best = i, most = run;
        run = 0;
      }
      out[1].data<int64_t>()[l] = order[best].second;
      put(out[0], l, order[best].first);
    });
  });
}

const bool bound = [] {
  set_kernel<Cummax, cummax>(DeviceType::cpu);
  set_kernel<Cummin, cummin>(DeviceType::cpu);
  set_kernel<Sort, sort>(DeviceType::cpu);
  set_kernel<Topk, topk>(DeviceType::cpu);
  set_kernel<Kthvalue, kthvalue>(DeviceType::cpu);
  set_kernel<Median, median>(DeviceType::cpu);
  set_kernel<MedianDim, median_dim>(DeviceType::cpu);
  set_kernel<Nanmedian, nanmedian>(DeviceType::cpu);
  set_kernel<NanmedianDim, nanmedian_dim>(DeviceType::cpu);
  set_kernel<ModeValue, mode>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
