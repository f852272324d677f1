#include "framework/ops/scatter.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <limits>
#include <unordered_map>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/indexing.h"
#include "framework/kernels/cpu/singles.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Walks the innermost rows of a shape under three sets of strides: offsets move with the coordinates, no divisions.
struct RowWalk {
  Dims sizes, strides[3], at;  // without axes of size 1, but at least one axis
  int64_t offset[3] = {0, 0, 0};

  RowWalk(const Dims& shape, const Dims& a, const Dims& b, const Dims& c) {
    for (int d = 0; d < shape.n; d++) {
      if (shape[d] == 1 && (sizes.n > 0 || d < shape.n - 1)) continue;
      sizes.push(shape[d]), at.push(0);
      strides[0].push(a[d]), strides[1].push(b[d]), strides[2].push(c[d]);
    }
  }
  int64_t inner(int k) const { return strides[k][sizes.n - 1]; }
  void start(int64_t row) {
    for (int d = sizes.n - 1; d-- > 0; row /= sizes[d]) move(d, row % sizes[d]);
  }
  void next() {
    for (int d = sizes.n - 1; d-- > 0;) {
      if (at[d] + 1 < sizes[d]) return move(d, 1);
      move(d, -at[d]);
    }
  }

 private:
  void move(int d, int64_t by) {
    at[d] += by;
    for (int k = 0; k < 3; k++) offset[k] += by * strides[k][d];
  }
};


Tensor as_int64(const Tensor& t) { return t.dtype() == DType::int64 ? t : copied(t, Meta(t.sizes(), DType::int64)); }
bool along_last(int64_t dim, const Tensor& t) { return t.ndim() > 0 && wrap_dim(dim, t.ndim(), "scatter") == t.ndim() - 1; }

// Raises unless every index lies in [0, limit).
void check_all(const Tensor& index, int64_t limit, int d) {
  if (index.is_contiguous()) {  // one row, until something is outside
    std::atomic<bool> fits{true};
    parallel_for(index.numel(), kGrain, [&](int64_t b, int64_t e) {
      if (!in_range(index.data<int64_t>() + b, e - b, limit, false)) fits = false;
    });
    if (fits) return;
  }
  const RowWalk walk(index.sizes(), index.strides(), index.strides(), index.strides());
  const int64_t step = walk.inner(0), n = step == 0 ? 1 : walk.sizes.back(), rows = index.numel() / walk.sizes.back();
  std::atomic<int64_t> first{rows};  // row with an index outside
  parallel_for(rows, kGrain / n, [&](int64_t b, int64_t e) {
    RowWalk row = walk;
    row.start(b);
    for (int64_t r = b; r < e; r++, row.next()) {
      const int64_t* at = index.data<int64_t>() + row.offset[0];
      bool fits = step <= 1 ? in_range(at, n, limit, false) : true;
      for (int64_t j = 0; step > 1 && j < n; j++) fits &= uint64_t(at[j * step]) < uint64_t(limit);
      if (fits) continue;
      int64_t known = first.load();
      while (r < known && !first.compare_exchange_weak(known, r)) {}
      return;
    }
  });
  if (first == rows) return;
  RowWalk row = walk;
  row.start(first);
  for (int64_t j = 0; j < n; j++) checked_along(index.data<int64_t>()[row.offset[0] + j * step], limit, d);
}

// Where rows of `index` stand row below row, in it and under `other`, and the rows under `strides` are as far apart as this, whose elements
// stand side by side; else -1.
int64_t row_step(const Tensor& index, const Dims& strides, const Dims& other) {
  const Dims& sizes = index.sizes();
  int64_t apart = 0, rows = 1;
  if (!index.is_contiguous() || strides[sizes.n - 1] != 1 || other[sizes.n - 1] != 1) return -1;
  for (int i = sizes.n - 2; i >= 0; i--) {
    if (sizes[i] == 1) continue;
    if (rows == 1) apart = strides[i];
    if (strides[i] != apart * rows || other[i] != index.size(-1) * rows) return -1;
    rows *= sizes[i];
  }
  return apart;
}

// run(begin, end) of rows of n indices each, which threads share where that is `parallel`.
template <class F> void share_rows(int64_t rows, int64_t n, bool parallel, F&& run) {
  if (parallel) parallel_for(rows, kGrain / 4 / n, run);
  else run(0, rows);
}

struct AsItIs { int64_t operator()(int64_t at) const { return at; } };

// For every position of `index`, whose values, or what `value` makes of them, are in range: f(position, offset under `strides` with index's value
// along dim, offset under `other`). Threads share rows where f writes no position twice, which `parallel` says.
template <class F, class Value = AsItIs>
void along(const char* op, const Tensor& index, int64_t dim, const Dims& strides, const Dims& other, bool parallel, F&& f, Value value = {}) {
  if (index.numel() == 0) return;
  if (index.ndim() == 0) return f(0, 0, 0);
  int d = wrap_dim(dim, index.ndim(), op);
  if (const int64_t apart = row_step(index, strides, other); d == index.ndim() - 1 && apart >= 0) {
    const int64_t columns = index.size(-1);
    auto run = [&](int64_t b, int64_t e) {
      const auto each = f;  // copies: what is stored through a pointer to bytes might else have changed them
      const int64_t n = columns, step = apart;
      const int64_t* at = index.data<int64_t>();
      for (int64_t r = b; r < e; r++)
        for (int64_t j = 0; j < n; j++) each(r * n + j, r * step + value(at[r * n + j]), r * n + j);
    };
    return share_rows(index.numel() / columns, columns, parallel, run);
  }
  Dims fixed = strides;
  fixed[d] = 0;
  const RowWalk walk(index.sizes(), index.strides(), fixed, other);
  auto run = [&](int64_t b, int64_t e) {
    const auto each = f;
    const int64_t n = walk.sizes.back(), is = walk.inner(0), fs = walk.inner(1), os = walk.inner(2), step = strides[d];
    Scratch<int64_t> copy(is == 1 ? 0 : n);
    RowWalk row = walk;
    row.start(b);
    for (int64_t r = b; r < e; r++, row.next()) {
      const int64_t* at = index.data<int64_t>() + row.offset[0];
      int64_t to = r * n, base = row.offset[1], from = row.offset[2];
      if (is == 0) {  // one for the row, as of edges of a graph, whose numbers go to a node side by side
        const int64_t first = base + value(*at) * step;
        if (fs == 1 && os == 1)
          for (int64_t j = 0; j < n; j++) each(to + j, first + j, from + j);
        else
          for (int64_t j = 0; j < n; j++) each(to + j, first + j * fs, from + j * os);
        continue;
      }
      if (is != 1) {
        for (int64_t j = 0; j < n; j++) copy[j] = at[j * is];
        at = copy.data();
      }
      if (fs == 0 && step == 1 && os == 1)
        for (int64_t j = 0; j < n; j++) each(to + j, base + value(at[j]), from + j);
      else
        for (int64_t j = 0; j < n; j++) each(to + j, base + j * fs + value(at[j]) * step, from + j * os);
    }
  };
  const int64_t n = walk.sizes.back();
  share_rows(index.numel() / n, n, parallel, run);
}

// Rows of numbers side by side, `apart` from each other, at as many indices each; whether all of these are below `limit`.
template <class T> bool gather_rows(const T* from, int64_t apart, const int64_t* index, int64_t rows, int64_t columns, int64_t limit, T* to) {
  bool fits = true;
  for (int64_t r = 0; r < rows; r++, from += apart, index += columns, to += columns) {
    int64_t j = 0;
#ifdef __AVX512F__  // the compiler makes none of these loads by itself
    if constexpr (sizeof(T) == 4)
      for (const __m512i most = _mm512_set1_epi64(limit); j + 8 <= columns; j += 8) {
        const __m512i at = _mm512_loadu_si512(index + j);
        const __mmask8 inside = _mm512_cmplt_epu64_mask(at, most);
        fits &= inside == 0xff;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j), _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), inside, at, from, 4));
      }
#endif
    for (; j < columns; j++) {
      const uint64_t at = index[j], most = limit;
      fits &= at < most;
      to[j] = from[at < most ? at : 0];
    }
  }
  return fits;
}

void gather(const Gather& op, Inputs in, Outputs out) {
  if (in[1].numel() == 0) return;
  Tensor x = one_axis(in[0]), index = one_axis(as_int64(in[1]));
  const int64_t limit = size_along(x, op.dim);
  // Into memory that nobody else sees indices are checked as they are read, and what was written is given up where one is outside.
  const bool seen = !out[0].unshared();
  if (seen || limit == 0) check_all(index, limit, wrap_dim(op.dim, x.ndim(), "gather"));
  std::atomic<bool> outside{false};
  by_item_size(size_of(x.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* src = x.data<T>();
    T* dst = out[0].data<T>();
    const int64_t apart = index.ndim() && wrap_dim(op.dim, index.ndim(), "gather") == index.ndim() - 1 ? row_step(index, x.strides(), index.strides()) : -1;
    if (apart >= 0) {
      const int64_t columns = index.size(-1);
      return share_rows(index.numel() / columns, columns, true, [&](int64_t b, int64_t e) {
        if (!gather_rows(src + b * apart, apart, index.data<int64_t>() + b * columns, e - b, columns, limit, dst + b * columns)) outside = true;
      });
    }
    along("gather", index, op.dim, x.strides(), x.strides(), true, [=](int64_t i, int64_t at, int64_t) { dst[i] = src[at]; }, [&outside, limit](int64_t at) {
      if (uint64_t(at) < uint64_t(limit)) [[likely]] return at;
      outside.store(true, std::memory_order_relaxed);
      return int64_t(0);
    });
  });
  if (outside) check_all(index, limit, wrap_dim(op.dim, x.ndim(), "gather"));
}

Tensor checked_index(const Tensor& given, const Tensor& self, int64_t dim) {
  Tensor index = one_axis(as_int64(given));
  if (index.numel() == 0) return index;
  check_all(once_each(index), size_along(self, dim), wrap_dim(dim, self.ndim(), "scatter"));
  return index;
}

void scatter(const Scatter& op, Inputs in, Outputs out) {
  Tensor index = checked_index(in[1], in[0], op.dim), src = one_axis(in[2]);
  scattered(in, out[0], false, [&](const Tensor& to) {
    by_item_size(size_of(src.dtype()), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* dst = to.data<T>();
      const T* values = src.data<T>();
      along("scatter", index, op.dim, to.strides(), src.strides(), along_last(op.dim, index),
            [=](int64_t, int64_t at, int64_t from) { dst[at] = values[from]; });
    });
  });
}

template <class T> T value_of(const Scalar& s) {
  if constexpr (std::is_same_v<T, bool>) return !s.is_zero();
  else if constexpr (std::is_integral_v<T>) return T(s.to_int());
  else if constexpr (kIsComplex<T>) return s.to<T>();
  else return T(float_cast<T>(s.to_double()));
}

void scatter_value(const ScatterValue& op, Inputs in, Outputs out) {
  Tensor index = checked_index(in[1], in[0], op.dim);
  scattered(in, out[0], false, [&](const Tensor& to) {
    visit_dtype(to.dtype(), [&]<class T>(TypeTag<T>) {
      T *dst = to.data<T>(), v = value_of<T>(op.value);
      along("scatter", index, op.dim, to.strides(), to.strides(), along_last(op.dim, index), [=](int64_t, int64_t at, int64_t) { dst[at] = v; });
    });
  });
}

// An index without the last axes that repeat it, as of rows that go somewhere whole, and how many places of a row-major tensor of `sizes` each of its
// numbers stands for then, side by side.
struct Runs {
  Tensor index;
  int64_t length = 1;
};
Runs runs_of(const Tensor& index, int64_t dim, const Dims& sizes) {
  Runs r;
  Dims once = index.sizes();
  for (int d = index.ndim(); d-- > 0 && d != wrap_dim(dim, index.ndim(), "scatter") && index.strides()[d] == 0 && once[d] == sizes[d];) r.length *= once[d], once[d] = 1;
  r.index = alias(index, once, index.strides(), index->offset);
  return r;
}

// Adds `src` at `index` along dim. Halves are summed in single precision and rounded once, as in PyTorch: beside a large sum terms would be lost.
// But those of index_reduce, which PyTorch adds slice by slice, are rounded each.
template <class T> void add_along(const Tensor& to, int64_t dim, const Tensor& index, const Tensor& src, bool round_each) {
  const T* values = src.data<T>();
  T* dst = to.data<T>();
  const bool rows = along_last(dim, index);
  constexpr bool kHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
  if (!kHalf || round_each) {
    const Runs runs = runs_of(index, dim, to.sizes());
    if (runs.length > 1 && src.is_contiguous())
      along("scatter_add", runs.index, dim, to.strides(), src.strides(), rows, [=, n = runs.length](int64_t, int64_t at, int64_t from) {
        T* __restrict sums = dst + at;
        const T* __restrict terms = values + from;
        for (int64_t j = 0; j < n; j++) add_to(sums[j], terms[j]);
      });
    else along("scatter_add", index, dim, to.strides(), src.strides(), rows, [=](int64_t, int64_t at, int64_t from) { add_to(dst[at], values[from]); });
  } else if constexpr (kHalf) {
    if (index.numel() >= to.numel() / 8) {
      const Tensor wide = copied(to, Meta(to.sizes(), DType::float32));
      float* sums = wide.data<float>();
      along("scatter_add", index, dim, wide.strides(), src.strides(), rows, [=](int64_t, int64_t at, int64_t from) { sums[at] += float(values[from]); });
      run_copy(wide, to);
      return;
    }
    std::unordered_map<int64_t, float> sums;  // of a few: not worth two passes over everything
    along("scatter_add", index, dim, to.strides(), src.strides(), false, [&](int64_t, int64_t at, int64_t from) {
      sums.try_emplace(at, float(dst[at])).first->second += float(values[from]);
    });
    for (const auto& [at, sum] : sums) dst[at] = T(sum);
  }
}

void scatter_add(const ScatterAdd& op, Inputs in, Outputs out) {
  Tensor index = checked_index(in[1], in[0], op.dim), src = one_axis(in[2]);
  scattered(in, out[0], false, [&](const Tensor& to) { scatter_sums(to, op.dim, index, src); });
}

template <class T> void multiply_to(T& dst, T v) {
  if constexpr (std::is_same_v<T, bool>) dst = dst && v;
  else dst = T(single(dst) * single(v));
}
// NaN is larger, and smaller, than every number.
template <class T, bool kLargest> void extreme_to(T& dst, T v) {
  if constexpr (!kIsComplex<T>) {
    auto a = single(dst), b = single(v);
    if (b != b || (kLargest ? b > a : b < a)) dst = v;
  }
}

// What a reduction of nothing gives.
template <class T> T neutral(std::string_view how) {
  if constexpr (kIsComplex<T>) return T(how == "prod" ? 1 : 0);
  else if (how == "sum" || how == "mean") return T(0);
  else if (how == "prod") return T(1);
  bool least = how == "amax";
  if constexpr (std::is_same_v<T, bool>) return !least;
  else if constexpr (std::is_integral_v<T>) return least ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  else if constexpr (!kIsComplex<T>) return T(least ? -INFINITY : INFINITY);
}

template <class T> T divided(T x, int64_t by) {
  if constexpr (std::is_integral_v<T>) {
    T q = T(int64_t(x) / by);
    return T(q - (int64_t(x) % by < 0));  // rounded down
  } else if constexpr (kIsComplex<T>) {  // as quotients of complex numbers are computed
    return x * (typename T::value_type(1) / typename T::value_type(by));
  } else {
    return T(single(x) / decltype(single(x))(by));
  }
}

// Divides sums at `index` along dim of `to`, which is row-major, by how many they are.
template <class T> void divide_by_counts(T* sums, const Tensor& to, int64_t dim, const Tensor& index, bool include_self) {
  const Runs runs = runs_of(index, dim, to.sizes());
  const int64_t n = to.numel() / runs.length;
  Dims strides = to.strides();
  for (int64_t& stride : strides) stride /= runs.length;
  Scratch<int64_t> counts(n, include_self);
  int64_t* count = counts.data();
  along("scatter", runs.index, dim, strides, strides, along_last(dim, index), [=](int64_t, int64_t at, int64_t) { count[at]++; });
  for (int64_t i = 0; i < n; i++)
    if (const int64_t by = count[i]; by > 1)
      for (int64_t j = i * runs.length; j < (i + 1) * runs.length; j++) sums[j] = divided(sums[j], by);
}

// Reduces `src` at `index` along dim into `to`, which is row-major.
void reduce_into(const Tensor& to, int64_t dim, const Tensor& index, const Tensor& src, std::string_view how, bool include_self,
                 bool round_each = false) {
  visit_dtype(to.dtype(), [&]<class T>(TypeTag<T>) {
    T* dst = to.data<T>();
    const T* values = src.data<T>();
    auto each = [&](auto&& f) { along("scatter", index, dim, to.strides(), src.strides(), along_last(dim, index), f); };
    if (!include_self) {
      const T start = neutral<T>(how);
      const Runs runs = runs_of(index, dim, to.sizes());
      along("scatter", runs.index, dim, to.strides(), to.strides(), along_last(dim, index), [=, n = runs.length](int64_t, int64_t at, int64_t) { std::fill_n(dst + at, n, start); });
    }
    if (how == "sum" || how == "mean") add_along<T>(to, dim, index, src, round_each);
    else if (how == "prod") each([=](int64_t, int64_t at, int64_t from) { multiply_to(dst[at], values[from]); });
    else if (how == "amax") each([=](int64_t, int64_t at, int64_t from) { extreme_to<T, true>(dst[at], values[from]); });
    else each([=](int64_t, int64_t at, int64_t from) { extreme_to<T, false>(dst[at], values[from]); });
    if (how == "mean") divide_by_counts(dst, to, dim, index, include_self);
  });
}

void scatter_reduce(const ScatterReduce& op, Inputs in, Outputs out) {
  Tensor index = checked_index(in[1], in[0], op.dim), src = one_axis(in[2]);
  scattered(in, out[0], true, [&](const Tensor& to) {
    if (index.numel()) reduce_into(to, op.dim, index, src, op.reduction(), op.include_self);
  });
}

void scatter_by_word(Inputs in, int64_t dim, const Tensor& index, const Tensor& src, const Str& word, Outputs out) {
  scattered(in, out[0], true, [&](const Tensor& to) {
    if (index.numel()) reduce_into(to, dim, index, src, word == "add" ? "sum" : "prod", true);
  });
}
void scatter_src_reduced(const ScatterSrcReduced& op, Inputs in, Outputs out) {
  scatter_by_word(in, op.dim, checked_index(in[1], in[0], op.dim), one_axis(in[2]), op.reduce, out);
}
void scatter_value_reduced(const ScatterValueReduced& op, Inputs in, Outputs out) {
  const Tensor index = checked_index(in[1], in[0], op.dim), src = empty(index.sizes(), in[0].dtype());
  visit_dtype(src.dtype(), [&]<class T>(TypeTag<T>) { std::fill_n(src.data<T>(), src.numel(), value_of<T>(op.value)); });
  scatter_by_word(in, op.dim, index, src, op.reduce, out);
}

void index_reduce(const IndexReduce& op, Inputs in, Outputs out) {
  Tensor index = row_major(one_axis(as_int64(in[1]))), src = one_axis(in[2]);
  int64_t limit = size_along(in[0], op.dim);
  for (int64_t i = 0; i < index.numel(); i++)
    check<IndexError>(index.data<int64_t>()[i] >= 0 && index.data<int64_t>()[i] < limit, "index out of range in self");
  Dims strides(src.ndim(), 0);
  strides[wrap_dim(op.dim, src.ndim(), "index_reduce")] = 1;
  index = alias(index, src.sizes(), strides, index->offset);
  scattered(in, out[0], true, [&](const Tensor& to) {
    if (index.numel()) reduce_into(to, op.dim, index, src, op.reduce.view(), op.include_self, true);
  });
}

const bool bound = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Gather, gather>(cpu);
  set_kernel<Scatter, scatter>(cpu);
  set_kernel<ScatterValue, scatter_value>(cpu);
  set_kernel<ScatterAdd, scatter_add>(cpu);
  set_kernel<ScatterSrcReduced, scatter_src_reduced>(cpu);
  set_kernel<ScatterValueReduced, scatter_value_reduced>(cpu);
  set_kernel<ScatterReduce, scatter_reduce>(cpu);
  set_kernel<IndexReduce, index_reduce>(cpu);
  return true;
}();

}  // namespace

void scatter_sums(const Tensor& to, int64_t dim, const Tensor& index, const Tensor& src) {
  visit_dtype(src.dtype(), [&]<class T>(TypeTag<T>) { add_along<T>(to, dim, index, src, false); });
}

}  // namespace WEIR_ISA
}  // namespace weir
