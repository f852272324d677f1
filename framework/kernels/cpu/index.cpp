#include "framework/ops/index.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr auto kCpu = DeviceType::cpu;

int64_t index_at(const Tensor& t, int64_t offset) {
  return t.dtype() == DType::int64 ? t.data<int64_t>()[offset] : t.data<int32_t>()[offset];
}

// Source of the exception's type: PyTorch raises RuntimeError in gather and scatter, IndexError elsewhere.
int64_t checked_along(int64_t i, int64_t n, int d) {
  check(i >= 0 && i < n, "index ", i, " is out of bounds for dimension ", d, " with size ", n);
  return i;
}

int64_t checked(const char* op, int64_t i, int64_t n, bool wrap) {
  check<IndexError>(i >= (wrap ? -n : 0) && i < n, op, ": index ", i, " is out of bounds for dimension with size ", n);
  return i < 0 ? i + n : i;
}

/// Element offset of the i-th position (row-major) of `sizes` under `strides`.
int64_t offset_of(int64_t i, const Dims& sizes, const Dims& strides) {
  int64_t o = 0;
  for (int d = sizes.n; d-- > 0;) {
    o += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return o;
}

Tensor part(const Tensor& t, const Dims& sizes, int64_t offset) { return alias(t, sizes, t.strides(), t->offset + offset); }

void cat(const Cat& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  int d = wrap_dim(op.dim, out[0].ndim(), "cat");
  int64_t at = 0;
  for (const Tensor& t : in) {
    if (t.ndim() == 1 && t.size(0) == 0) continue;
    if (t.numel()) run_copy(t, part(out[0], t.sizes(), at * out[0].strides()[d]));
    at += t.sizes()[d];
  }
}

void flip(const Flip& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  if (x.numel() == 0) return;
  if (x.ndim() == 0) return run_copy(x, out[0]);
  // Reading backwards is a negative stride from the last element; the copy handles any stride.
  Dims strides = x.strides();
  int64_t offset = x->offset;
  for (int64_t dim : op.dims) {
    int d = wrap_dim(dim, x.ndim(), "flip");
    offset += (x.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  run_copy(alias(x, x.sizes(), strides, offset), out[0]);
}

// Whether all n indices lie in [0, limit) (with `wrap`, [-limit, limit)): a loop without branches.
bool in_range(const int64_t* at, int64_t n, int64_t limit, bool wrap) {
  int64_t signs = 0, low = wrap ? limit : 0;  // negative once one index is outside
  for (int64_t i = 0; i < n; i++) signs |= (at[i] + low) | (limit - 1 - at[i]);
  return signs >= 0;
}

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

// For every position of `index`: f(position, offset under `strides` with index's value along dim, offset under `other`).
// Threads share rows where f writes no position twice, which `parallel` says.
template <class F>
void along(const char* op, const Tensor& t, int64_t dim, const Dims& strides, int64_t limit, const Dims& other, bool parallel, F&& f) {
  if (t.numel() == 0) return;
  if (t.ndim() == 0) return checked_along(index_at(t, 0), limit, 0), f(0, 0, 0);
  Tensor index = t.dtype() == DType::int64 ? t : copied(t, Meta(t.sizes(), DType::int64));
  int d = wrap_dim(dim, index.ndim(), op);
  Dims fixed = strides;
  fixed[d] = 0;
  const RowWalk walk(index.sizes(), index.strides(), fixed, other);
  int64_t n = walk.sizes.back(), is = walk.inner(0), fs = walk.inner(1), os = walk.inner(2), step = strides[d];
  auto run = [&](int64_t b, int64_t e) {
    std::vector<int64_t> copy(is == 1 ? 0 : n);
    RowWalk row = walk;
    row.start(b);
    for (int64_t r = b; r < e; r++, row.next()) {
      const int64_t* at = index.data<int64_t>() + row.offset[0];
      if (is != 1) {
        for (int64_t j = 0; j < n; j++) copy[j] = at[j * is];
        at = copy.data();
      }
      if (!in_range(at, n, limit, false))
        for (int64_t j = 0; j < n; j++) checked_along(at[j], limit, d);
      int64_t to = r * n, base = row.offset[1], from = row.offset[2];
      if (fs == 0 && step == 1 && os == 1)
        for (int64_t j = 0; j < n; j++) f(to + j, base + at[j], from + j);
      else
        for (int64_t j = 0; j < n; j++) f(to + j, base + j * fs + at[j] * step, from + j * os);
    }
  };
  int64_t rows = index.numel() / n;
  if (parallel) parallel_for(rows, std::max<int64_t>(1, kGrain / 4 / n), run);
  else run(0, rows);
}
bool along_last(int64_t dim, const Tensor& t) { return t.ndim() > 0 && wrap_dim(dim, t.ndim(), "scatter") == t.ndim() - 1; }

template <class F> void by_item_size(size_t bytes, F&& f) {
  if (bytes == 1) f(TypeTag<uint8_t>{});
  else if (bytes == 2) f(TypeTag<uint16_t>{});
  else if (bytes == 4) f(TypeTag<uint32_t>{});
  else if (bytes == 8) f(TypeTag<uint64_t>{});
  else f(TypeTag<std::complex<double>>{});
}

int64_t size_along(const Tensor& t, int64_t dim) { return t.ndim() ? t.size(dim) : 1; }

void gather(const Gather& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  by_item_size(size_of(x.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* src = x.data<T>();
    T* dst = out[0].data<T>();
    along("gather", in[1], op.dim, x.strides(), size_along(x, op.dim), x.strides(), true, [=](int64_t i, int64_t at, int64_t) { dst[i] = src[at]; });
  });
}

void scatter(const Scatter& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  const Tensor &index = in[1], &src = in[2];
  by_item_size(size_of(src.dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dst = out[0].data<T>();
    const T* values = src.data<T>();
    along("scatter", index, op.dim, out[0].strides(), size_along(out[0], op.dim), src.strides(), along_last(op.dim, index),
          [=](int64_t, int64_t at, int64_t from) { dst[at] = values[from]; });
  });
}

void scatter_value(const ScatterValue& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  visit_dtype(out[0].dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *dst = out[0].data<T>(), v;
    if constexpr (std::is_same_v<T, bool>) v = op.value.to_double() != 0;
    else if constexpr (std::is_integral_v<T>) v = T(op.value.to_int());
    else if constexpr (kIsComplex<T>) v = op.value.to<T>();
    else v = T(float_cast<T>(op.value.to_double()));
    along("scatter", in[1], op.dim, out[0].strides(), size_along(out[0], op.dim), out[0].strides(), along_last(op.dim, in[1]),
          [=](int64_t, int64_t at, int64_t) { dst[at] = v; });
  });
}

// dst += v in the type's own arithmetic (half types through float, bool as or).
template <class T, class Alpha = double> void add_to(T& dst, T v, Alpha alpha = 1) {
  if constexpr (kIsComplex<T>) dst += T(alpha) * v;
  else if constexpr (kIsComplex<Alpha>) add_to(dst, v, alpha.real());
  else if constexpr (std::is_same_v<T, bool>) dst = dst || v;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) dst = T(float(dst) + float(alpha) * float(v));
  else if constexpr (std::is_integral_v<T>) dst = T(dst + T(alpha) * v);
  else dst += T(alpha) * v;
}

void scatter_add(const ScatterAdd& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  const Tensor &index = in[1], &src = in[2];
  visit_dtype(src.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dst = out[0].data<T>();
    const T* values = src.data<T>();
    along("scatter_add", index, op.dim, out[0].strides(), size_along(out[0], op.dim), src.strides(), along_last(op.dim, index),
          [=](int64_t, int64_t at, int64_t from) { add_to(dst[at], values[from]); });
  });
}

// Sizes before, at and behind dim of a row-major tensor.
struct Split3 {
  int64_t outer = 1, n = 1, inner = 1;
  Split3(const Dims& sizes, int64_t dim, const char* op) {
    int d = wrap_dim(dim, sizes.n, op);
    for (int i = 0; i < sizes.n; i++) (i < d ? outer : i == d ? n : inner) *= sizes[i];
  }
};

void index_select(const IndexSelect& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), index = row_major(in[1]);
  int d = wrap_dim(op.dim, x.ndim(), "index_select");
  Split3 s(x.sizes(), d, "index_select");
  int64_t bytes = s.inner * size_of(x.dtype()), m = index.numel();
  parallel_for(s.outer * m, std::max<int64_t>(1, kGrain * 4 / std::max<int64_t>(bytes, 1)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      int64_t at = index_at(index, i % m);
      if (d == 1) checked_along(at, s.n, d);  // the columns are read by a loop of their own in PyTorch
      else checked("index_select", at, s.n, false);
      std::memcpy(out[0].raw() + i * bytes, x.raw() + (i / m * s.n + at) * bytes, bytes);
    }
  });
}

void index_add(const IndexAdd& op, Inputs in, Outputs out) {
  run_copy(in[0], out[0]);
  Tensor index = row_major(in[1]), src = row_major(in[2]);
  Split3 s(out[0].sizes(), op.dim, "index_add");
  int64_t m = index.numel();
  bool scatters = out[0].ndim() > 1 && op.alpha.to_complex() == 1.0;  // as PyTorch does there, with scatter's exception
  visit_dtype(src.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dst = out[0].data<T>();
    const T* p = src.data<T>();
    const auto alpha = op.alpha.to<std::conditional_t<kIsComplex<T>, std::complex<double>, double>>();
    for (int64_t o = 0; o < s.outer; o++)
      for (int64_t i = 0; i < m; i++) {
        int64_t at = scatters ? checked_along(index_at(index, i), s.n, int(op.dim))
                              : checked("index_add", index_at(index, i), s.n, false);
        for (int64_t k = 0; k < s.inner; k++)
          add_to(dst[(o * s.n + at) * s.inner + k], p[(o * m + i) * s.inner + k], alpha);
      }
  });
}

constexpr int64_t kRows = 256;  // rows whose offsets are found together

/// Element offsets of rows [begin, begin + n): the indices times the strides of the leading axes. At most kRows.
void row_offsets(const Tensor& x, Inputs indices, int64_t begin, int64_t n, int64_t* offsets) {
  std::fill_n(offsets, n, 0);
  for (int k = 0; k < int(indices.size()); k++) {
    const int64_t* at = indices[k].data<int64_t>() + begin;
    int64_t size = x.sizes()[k], stride = x.strides()[k];
    if (!in_range(at, n, size, true))
      for (int64_t i = 0; i < n; i++) checked("index", at[i], size, true);
    for (int64_t i = 0; i < n; i++) offsets[i] += (at[i] < 0 ? at[i] + size : at[i]) * stride;
  }
}
// Calls f(row, its element offset) for rows [begin, end).
template <class F> void for_rows(const Tensor& x, Inputs indices, int64_t begin, int64_t end, F&& f) {
  int64_t offsets[kRows];
  for (int64_t b = begin; b < end; b += kRows) {
    int64_t n = std::min(kRows, end - b);
    row_offsets(x, indices, b, n, offsets);
    for (int64_t i = 0; i < n; i++) f(b + i, offsets[i]);
  }
}

Dims tail(const Dims& d, int from) {
  Dims r;
  for (int i = from; i < d.n; i++) r.push(d[i]);
  return r;
}

void index_rows(const IndexRows&, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  Inputs indices = in.subspan(1);
  int k = int(indices.size());
  Dims sizes = tail(x.sizes(), k), strides = tail(x.strides(), k);
  int64_t rows = indices[0].numel(), width = sizes.product(), item = size_of(x.dtype());
  bool dense = strides == contiguous_strides(sizes);
  parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(width, 4)), [&](int64_t b, int64_t e) {
    if (width == 1)
      return by_item_size(item, [&]<class T>(TypeTag<T>) {
        const T* src = x.data<T>();
        T* dst = out[0].data<T>();
        for_rows(x, indices, b, e, [=](int64_t i, int64_t from) { dst[i] = src[from]; });
      });
    for_rows(x, indices, b, e, [&](int64_t i, int64_t from) {
      if (dense) std::memcpy(out[0].raw() + i * width * item, x.raw() + from * item, width * item);
      else if (width) run_copy(alias(x, sizes, strides, x->offset + from), alias(out[0], sizes, contiguous_strides(sizes), out[0]->offset + i * width));
    });
  });
}

void index_put_rows(const IndexPutRows& op, Inputs in, Outputs out) {
  const Tensor& t = out[0];
  if (!(t->storage == in[0]->storage)) run_copy(in[0], t);
  Inputs indices = in.subspan(2);
  int k = int(indices.size());
  Tensor values = row_major(in[1]);
  Dims sizes = tail(t.sizes(), k), strides = tail(t.strides(), k);
  int64_t rows = indices[0].numel(), width = sizes.product();
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dst = t.data<T>();
    const T* src = values.data<T>();
    for_rows(t, indices, 0, rows, [&](int64_t i, int64_t at) {
      T* row = dst + at;
      for (int64_t j = 0; j < width; j++) {
        T& cell = row[width == 1 ? 0 : offset_of(j, sizes, strides)];
        if (op.accumulate) add_to(cell, src[i * width + j]);
        else cell = src[i * width + j];
      }
    });
  });
}

// A number and where it stood, as unsigned integers in the order of the numbers: NaN is the largest, -0 equals 0.
template <class T> struct Ranked {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  U key, index;

  Ranked() = default;
  Ranked(T x, size_t i, bool descending) : index(U(i)) {
    constexpr U sign = U(1) << (8 * sizeof(U) - 1);
    if constexpr (std::is_integral_v<T>) {
      key = U(x) ^ sign;
    } else {
      U bits = std::bit_cast<U>(x + T(0));  // -0 + 0 is 0
      key = x != x ? ~U(0) : bits & sign ? ~bits : bits | sign;
    }
    if (descending) key = ~key;
  }
  bool operator<(const Ranked& o) const { return key < o.key || (key == o.key && index < o.index); }
};

constexpr size_t kShortLine = 256;  // below, comparing is faster than counting
constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

// Sorts by counting digits, the least first; `other` is room for as many. Equal keys keep their order.
template <class T> void radix_sort(std::vector<Ranked<T>>& line, std::vector<Ranked<T>>& other) {
  if (line.size() < kShortLine) return std::sort(line.begin(), line.end());
  for (int shift = 0; shift < int(8 * sizeof(T)); shift += kDigitBits) {
    uint32_t place[kDigits] = {}, sum = 0;
    for (const auto& r : line) place[r.key >> shift & (kDigits - 1)]++;
    for (uint32_t& p : place) sum += std::exchange(p, sum);
    for (const auto& r : line) other[place[r.key >> shift & (kDigits - 1)]++] = r;
    std::swap(line, other);
  }
}
// The first `keep` in order: a heap whose top is the last of them.
template <class T> void select_first(std::vector<Ranked<T>>& line, int64_t keep) {
  if (keep == 0) return;
  auto end = line.begin() + keep;
  std::make_heap(line.begin(), end);
  for (auto r = end; r != line.end(); ++r) {
    if (!(r->key < line.front().key)) continue;  // an equal one stood before
    std::pop_heap(line.begin(), end);
    end[-1] = *r;
    std::push_heap(line.begin(), end);
  }
  std::sort_heap(line.begin(), end);
}

// The first `keep` in whatever order the selection leaves them: PyTorch's own, who selects by the same algorithm.
template <class T> void select_unordered(std::vector<Ranked<T>>& line, int64_t keep) {
  auto before = [](const Ranked<T>& a, const Ranked<T>& b) { return a.key < b.key; };
  if (keep * 64 <= int64_t(line.size())) std::partial_sort(line.begin(), line.begin() + keep, line.end(), before);
  else std::nth_element(line.begin(), line.begin() + keep - 1, line.end(), before);
}

// Lines along dim, sorted unless `ordered` is false; `keep` of each written. NaN counts as the largest.
template <class T>
void sort_lines(const Tensor& x, int64_t dim, bool descending, int64_t keep, bool ordered, const Tensor& values,
                const Tensor& indices) {
  int d = wrap_dim(dim, x.ndim(), "sort");
  int64_t n = x.ndim() ? x.sizes()[d] : 1, inner = 1;
  for (int i = d + 1; i < x.ndim(); i++) inner *= x.sizes()[i];
  Dims rest_sizes = x.sizes(), rest_strides = x.strides();
  int64_t step = x.ndim() ? x.strides()[d] : 1;
  if (x.ndim()) rest_sizes.erase(d), rest_strides.erase(d);
  int64_t lines = n ? x.numel() / n : 0;
  parallel_for(lines, std::max<int64_t>(1, 2048 / std::max<int64_t>(n, 1)), [&](int64_t b, int64_t e) {
    std::vector<T> line(n), top(keep);
    std::vector<Ranked<T>> order(n), other(n);
    for (int64_t l = b; l < e; l++) {
      convert(x.dtype(), x.raw() + offset_of(l, rest_sizes, rest_strides) * int64_t(size_of(x.dtype())), step, dtype_of<T>(), line.data(), 1, n);
      for (int64_t i = 0; i < n; i++) order[i] = Ranked<T>(line[i], i, descending);
      if (!ordered) select_unordered(order, keep);
      else if (keep < n / 8) select_first(order, keep);
      else radix_sort(order, other);
      int64_t first = l / inner * keep * inner + l % inner;
      for (int64_t i = 0; i < keep; i++) {
        indices.data<int64_t>()[first + i * inner] = order[i].index;
        top[i] = line[order[i].index];
      }
      convert(dtype_of<T>(), top.data(), 1, values.dtype(), values.raw() + first * int64_t(size_of(values.dtype())), inner, keep);
    }
  });
}
void sort_any(const Tensor& x, int64_t dim, bool descending, int64_t keep, bool ordered, Outputs out) {
  check<NotImplemented>(!is_complex(x.dtype()), "sort: not implemented for '", name_of(x.dtype()), "'");
  if (out[0].numel() == 0) return;
  if (x.dtype() == DType::float64) sort_lines<double>(x, dim, descending, keep, ordered, out[0], out[1]);
  else if (is_floating(x.dtype())) sort_lines<float>(x, dim, descending, keep, ordered, out[0], out[1]);
  else sort_lines<int64_t>(x, dim, descending, keep, ordered, out[0], out[1]);
}
void sort(const Sort& op, Inputs in, Outputs out) {
  sort_any(in[0], op.dim, op.descending, size_along(in[0], op.dim), true, out);
}
void topk(const Topk& op, Inputs in, Outputs out) {
  sort_any(in[0], op.dim, op.largest, in[0].ndim() ? op.k : 1, op.sorted, out);  // a 0-d tensor is its own, whatever k
}

void embedding(const Embedding&, Inputs in, Outputs out) {
  Tensor w = row_major(in[0]), index = row_major(in[1]);
  int64_t bytes = w.size(1) * size_of(w.dtype());
  parallel_for(index.numel(), std::max<int64_t>(1, kGrain * 4 / std::max<int64_t>(bytes, 1)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++)
      std::memcpy(out[0].raw() + i * bytes, w.raw() + checked("embedding", index_at(index, i), w.size(0), false) * bytes, bytes);
  });
}

void embedding_backward(const EmbeddingBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), index = row_major(in[1]);
  std::memset(out[0].raw(), 0, out[0].numel() * size_of(out[0].dtype()));
  int64_t width = dy.size(-1), n = index.numel();
  std::vector<int64_t> count(op.scale_grad_by_freq ? op.num_weights : 0);
  for (int64_t i = 0; i < n && op.scale_grad_by_freq; i++) count[index_at(index, i)]++;
  visit_dtype(dy.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Threads own columns, so equal rows never race.
    parallel_for(width, std::max<int64_t>(16, kGrain / std::max<int64_t>(n, 1)), [&](int64_t b, int64_t e) {
      for (int64_t i = 0; i < n; i++) {
        int64_t row = checked("embedding", index_at(index, i), op.num_weights, false);
        if (row == op.padding_idx) continue;
        double scale = op.scale_grad_by_freq ? 1.0 / double(count[row]) : 1;
        T* dst = out[0].data<T>() + row * width;
        const T* src = dy.data<T>() + i * width;
        for (int64_t k = b; k < e; k++) {
          if constexpr (std::is_same_v<T, float>) dst[k] += float(scale) * src[k];
          else add_to(dst[k], src[k], scale);
        }
      }
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Cat, cat>(kCpu);
  set_kernel<Flip, flip>(kCpu);
  set_kernel<Gather, gather>(kCpu);
  set_kernel<Scatter, scatter>(kCpu);
  set_kernel<ScatterValue, scatter_value>(kCpu);
  set_kernel<ScatterAdd, scatter_add>(kCpu);
  set_kernel<IndexSelect, index_select>(kCpu);
  set_kernel<IndexAdd, index_add>(kCpu);
  set_kernel<IndexRows, index_rows>(kCpu);
  set_kernel<IndexPutRows, index_put_rows>(kCpu);
  set_kernel<Sort, sort>(kCpu);
  set_kernel<Topk, topk>(kCpu);
  set_kernel<Embedding, embedding>(kCpu);
  set_kernel<EmbeddingBackward, embedding_backward>(kCpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
