#include "framework/ops/index.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/indexing.h"
#include "framework/kernels/cpu/moves.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr auto kCpu = DeviceType::cpu;

int64_t checked(const char* op, int64_t i, int64_t n) {
  check<IndexError>(i >= 0 && i < n, op, ": index out of range in self: ", i, " along a dimension of size ", n);
  return i;
}

Tensor part(const Tensor& t, const Dims& sizes, int64_t offset) { return alias(t, sizes, t.strides(), t->offset + offset); }

// Two parts number by number.
bool cat_pairs(Inputs in, const Tensor& out) {
  const int64_t n = out.numel() / 2;
  if (in.size() != 2 || !out.is_contiguous() || out.sizes().back() != 2) return false;
  for (const Tensor& t : in)
    if (t.numel() != n || !t.is_contiguous() || t.dtype() != out.dtype()) return false;
  by_item_size(size_of(out.dtype()), [&]<class T>(TypeTag<T>) {
    const T* __restrict a = reinterpret_cast<const T*>(in[0].raw());
    const T* __restrict b = reinterpret_cast<const T*>(in[1].raw());
    T* __restrict y = reinterpret_cast<T*>(out.raw());
    parallel_for(n, kGrain, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) y[2 * i] = a[i], y[2 * i + 1] = b[i];
    });
  });
  return true;
}

// Joins row-major parts along an axis behind others row by row, so that the result is written from front to back. Returns false, and does nothing, where
// the parts lie otherwise or their rows are so short that a copy of each part, which steps over the others, is faster.
bool cat_rows(Inputs in, const Tensor& out, int d) {
  constexpr int64_t kShort = 128;  // bytes
  const int64_t rows = Axis(out.sizes(), d, "cat").outer;
  if (rows == 1 || !out.is_contiguous()) return false;
  struct Part { const std::byte* from; int64_t bytes; };
  std::vector<Part> parts;
  int64_t row = 0;
  for (const Tensor& t : in) {
    if (t.numel() == 0) continue;
    const int64_t bytes = t.numel() / rows * int64_t(size_of(t.dtype()));
    if (!t.is_contiguous() || t.dtype() != out.dtype() || bytes < kShort) return false;
    parts.push_back({t.raw(), bytes}), row += bytes;
  }
  parallel_for(rows, kGrain * 4 / row, [&](int64_t b, int64_t e) {
    std::byte* to = out.raw() + b * row;
    for (int64_t r = b; r < e; r++)
      for (const Part& part : parts) copy_bytes(part.from + r * part.bytes, to, size_t(part.bytes)), to += part.bytes;
  });
  return true;
}

void cat(const Cat& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  int d = wrap_dim(op.dim, out[0].ndim(), "cat");
  if (d == out[0].ndim() - 1 && cat_pairs(in, out[0])) return;
  if (cat_rows(in, out[0], d)) return;
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

// The indices along an axis of `size`; one beside it is for check_one(index) to refuse.
template <class F> Scratch<int64_t> checked_indices(const Tensor& index, int64_t size, F&& check_one) {
  Scratch<int64_t> at(index.numel());
  if (index.dtype() == DType::int64) std::copy_n(index.data<int64_t>(), at.size(), at.data());
  else std::copy_n(index.data<int32_t>(), at.size(), at.data());
  if (!in_range(at.data(), int64_t(at.size()), size, false)) std::for_each(at.begin(), at.end(), check_one);
  return at;
}
// f(bytes), which of short rows the compiler knows.
template <class F> void by_row_bytes(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(std::integral_constant<int64_t, 1>{});
    case 2: return f(std::integral_constant<int64_t, 2>{});
    case 4: return f(std::integral_constant<int64_t, 4>{});
    case 8: return f(std::integral_constant<int64_t, 8>{});
    case 12: return f(std::integral_constant<int64_t, 12>{});
    case 16: return f(std::integral_constant<int64_t, 16>{});
    case 32: return f(std::integral_constant<int64_t, 32>{});
    case 64: return f(std::integral_constant<int64_t, 64>{});
    case 128: return f(std::integral_constant<int64_t, 128>{});
    case 256: return f(std::integral_constant<int64_t, 256>{});
    default: return f(bytes);
  }
}
void index_select(const IndexSelect& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), index = row_major(in[1]);
  int d = wrap_dim(op.dim, x.ndim(), "index_select");
  const Axis s(x.sizes(), d, "index_select");
  int64_t bytes = s.inner * size_of(x.dtype()), m = index.numel();
  const Scratch<int64_t> at = checked_indices(index, s.n, [&](int64_t i) {
    if (d == 1 || s.outer * s.inner == 0) checked_along(i, s.n, d);  // the columns are read by a loop of their own in PyTorch
    else checked("index_select", i, s.n);
  });
  if (s.outer * s.inner == 0) return;
  if (s.inner == 1)
    return by_item_size(size_of(x.dtype()), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = x.data<T>();
      T* to = out[0].data<T>();
      parallel_for(s.outer, kGrain / std::max<int64_t>(m, 1), [&](int64_t b, int64_t e) {
        for (int64_t o = b; o < e; o++)
          for (int64_t i = 0; i < m; i++) to[o * m + i] = from[o * s.n + at[i]];
      });
    });
  const std::byte* from = x.raw();
  std::byte* to = out[0].raw();
  by_row_bytes(bytes, [&](auto size) {
    parallel_for(s.outer * m, kGrain * 4 / std::max<int64_t>(bytes, 1), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e;) {
        const int64_t o = i / m, first = o * m, stop = std::min(e, first + m);
        for (; i < stop; i++) std::memcpy(to + i * size, from + (o * s.n + at[i - first]) * size, size);
      }
    });
  });
}

void index_add(const IndexAdd& op, Inputs in, Outputs out) {
  Tensor index = row_major(in[1]), src = row_major(in[2]);
  const Axis s(in[0].sizes(), op.dim, "index_add");
  int64_t m = index.numel();
  if (in[0].ndim() > 1 && in[0].numel() == 0) return;  // nor is the index looked at, as in PyTorch
  const int d = wrap_dim(op.dim, in[0].ndim(), "index_add"), last = in[0].ndim() - 1;
  const bool scatters = last > 0 && (d == 0 || d == last) && op.alpha.to_complex() == 1.0;  // as PyTorch does there, with scatter's exception
  const Scratch<int64_t> at = checked_indices(index, s.n, [&](int64_t i) {
    if (scatters) checked_along(i, s.n, d);
    else checked("index_add", i, s.n);
  });
  const bool once = scatters && m && index.dtype() == DType::int64 && (src.dtype() == DType::float16 || src.dtype() == DType::bfloat16);
  scattered(in, out[0], true, [&](const Tensor& to) { visit_dtype(src.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dst = to.data<T>();
    const T* p = src.data<T>();
    if (once) {  // scatter rounds sums of halves once
      Dims strides(src.ndim(), 0);
      strides[d] = 1;
      return scatter_sums(to, d, alias(index, src.sizes(), strides, index->offset), src);
    }
    if (std::is_same_v<T, bool> && op.alpha.to_complex() == 0.0) return;
    const auto alpha = op.alpha.to<std::conditional_t<kIsComplex<T>, std::complex<double>, double>>();
    parallel_for(s.outer, kGrain / 4 / std::max<int64_t>(m * s.inner, 1), [&](int64_t b, int64_t e) {
      for (int64_t o = b; o < e && s.inner == 1; o++)
        for (int64_t i = 0; i < m; i++) add_to(dst[o * s.n + at[i]], p[o * m + i], alpha);
      for (int64_t o = b; o < e && s.inner > 1; o++)
        for (int64_t i = 0; i < m; i++)
          for (int64_t k = 0; k < s.inner; k++)
            add_to(dst[(o * s.n + at[i]) * s.inner + k], p[(o * m + i) * s.inner + k], alpha);
    });
  }); });
}

constexpr int64_t kRows = 256;  // rows whose offsets are found together

/// Element offsets of rows [begin, begin + n): the indices times the strides of the leading axes. At most kRows.
void row_offsets(const Tensor& x, Inputs indices, int64_t begin, int64_t n, int64_t* offsets) {
  std::fill_n(offsets, n, 0);
  for (int k = 0; k < int(indices.size()); k++) {
    const int64_t* at = indices[k].data<int64_t>() + begin;
    int64_t size = x.sizes()[k], stride = x.strides()[k];
    if (!in_range(at, n, size, true))
      for (int64_t i = 0; i < n; i++)
        check<IndexError>(at[i] >= -size && at[i] < size, "index ", at[i], " is out of bounds for dimension ", k, " with size ", size);
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

Dims part(const Dims& d, int from, int to) {
  Dims r;
  for (int i = from; i < to; i++) r.push(d[i]);
  return r;
}
Dims tail(const Dims& d, int from) { return part(d, from, d.n); }

Tensors all_row_major(Inputs tensors) {
  Tensors r;
  for (const Tensor& t : tensors) r.push_back(row_major(t));
  return r;
}

/// How far the positions of `sizes` lie apart, one after the other; 0 where that differs.
int64_t spacing(const Dims& sizes, const Dims& strides) {
  const Dims even = contiguous_strides(sizes);
  const int64_t step = sizes.n ? strides.back() : 1;
  for (int i = 0; i < sizes.n; i++)
    if (sizes[i] > 1 && strides[i] != even[i] * step) return 0;
  return step;
}

// Numbers one by one, where those that differ along the last axis but the indexed ones are closer to each other in memory: some of these together.
void index_across(const Tensor& x, Inputs indices, int lead, const Tensor& y) {
  constexpr int64_t kTogether = 16;
  const int k = int(indices.size());
  Dims sizes = part(x.sizes(), k, k + lead), from_strides = part(x.strides(), k, k + lead), to_strides = part(y.strides(), 0, lead);
  const Dims places_y = tail(y.strides(), lead), &places = indices[0].sizes();
  const int64_t last = sizes.back(), from_step = from_strides.back(), to_step = to_strides.back(), rows = indices[0].numel();
  sizes.erase(lead - 1), from_strides.erase(lead - 1), to_strides.erase(lead - 1);
  const int64_t blocks = (last + kTogether - 1) / kTogether, step = spacing(places, places_y);
  by_item_size(size_of(x.dtype()), [&]<class T>(TypeTag<T>) {
    parallel_for(sizes.product() * blocks, kGrain / (kTogether * rows), [&](int64_t b, int64_t e) {
      int64_t offsets[kRows];
      for (int64_t i = b; i < e; i++) {
        const int64_t first = i % blocks * kTogether, count = std::min(kTogether, last - first);
        const T* from = x.data<T>() + offset_of(i / blocks, sizes, from_strides) + first * from_step;
        T* to = y.data<T>() + offset_of(i / blocks, sizes, to_strides) + first * to_step;
        for (int64_t r = 0, n; r < rows; r += n) {
          n = std::min(kRows, rows - r);
          row_offsets(x, indices, r, n, offsets);
          for (int64_t j = 0; j < n; j++) {
            const T* src = from + offsets[j];
            T* dst = to + (step ? (r + j) * step : offset_of(r + j, places, places_y));
            for (int64_t l = 0; l < count; l++) dst[l * to_step] = src[l * from_step];
          }
        }
      }
    });
  });
}

// A row is what stands behind the indexed axes; those before them repeat all rows.
void index_rows(const IndexRows& op, Inputs in, Outputs out) {
  const Tensor &x = in[0], &y = out[0];
  const Tensors indices = all_row_major(in.subspan(1));
  const int k = int(indices.size()), lead = int(op.lead), behind = lead + in[1].ndim();
  if (y.numel() == 0) {  // PyTorch looks at no index there, but for the sizes they are indices of
    for (int i = 0; i < k; i++)
      check<IndexError>(in[1].numel() == 0 || x.sizes()[i] > 0, "index is out of bounds for dimension with size 0");
    return;
  }
  const Dims outer = part(x.sizes(), k, k + lead), outer_x = part(x.strides(), k, k + lead), outer_y = part(y.strides(), 0, lead);
  const Dims row = tail(x.sizes(), k + lead), row_x = tail(x.strides(), k + lead), row_y = tail(y.strides(), behind);
  const Dims& places = in[1].sizes();
  const Dims places_y = part(y.strides(), lead, behind);
  const int64_t rows = in[1].numel(), width = row.product(), repeats = outer.product(), item = size_of(x.dtype());
  const int64_t step = spacing(places, places_y);
  auto place = [&](int64_t i) { return step ? i * step : offset_of(i, places, places_y); };
  if (lead > 0 && width == 1 && std::abs(outer_x.back()) < std::abs(x.strides()[k - 1])) return index_across(x, indices, lead, y);
  const bool block = same_layout(row, row_x, row_y) && is_non_overlapping_and_dense(row, row_x);
  auto apart = [&](const Dims& strides) { return lead > 0 ? spacing(outer, strides) * item : 0; };
  const int64_t apart_x = apart(outer_x), apart_y = apart(outer_y);
  if (rows <= kRows && block && step && apart_x && apart_y) {  // the same few places of everything that repeats
    int64_t offsets[kRows];
    row_offsets(x, indices, 0, rows, offsets);
    return by_row_bytes(width * item, [&](auto bytes) {
      parallel_for(repeats, kGrain / (rows * std::max<int64_t>(width, 4)), [&](int64_t b, int64_t e) {
        const std::byte* from = x.raw() + b * apart_x;
        std::byte* to = y.raw() + b * apart_y;
        for (int64_t r = b; r < e; r++, from += apart_x, to += apart_y)
          for (int64_t i = 0; i < rows; i++) std::memcpy(to + i * step * item, from + offsets[i] * item, size_t(bytes));
      });
    });
  }
  parallel_for(rows * std::max<int64_t>(repeats, 1), kGrain / std::max<int64_t>(width, 4), [&](int64_t b, int64_t e) {
    int64_t offsets[kRows];
    for (int64_t p = b, n; p < e; p += n) {
      const int64_t repeat = p / rows, first = p % rows;
      n = std::min({kRows, e - p, rows - first});
      row_offsets(x, indices, first, n, offsets);
      const int64_t from = offset_of(repeat, outer, outer_x), to = offset_of(repeat, outer, outer_y);
      if (width == 1) {
        by_item_size(item, [&]<class T>(TypeTag<T>) {
          const T* src = x.data<T>() + from;
          T* dst = y.data<T>() + to;
          for (int64_t i = 0; i < n; i++) dst[place(first + i)] = src[offsets[i]];
        });
        continue;
      }
      for (int64_t i = 0; i < n; i++) {
        const int64_t at = to + place(first + i), of = from + offsets[i];
        if (block) std::memcpy(y.raw() + at * item, x.raw() + of * item, width * item);
        else run_copy(alias(x, row, row_x, x->offset + of), alias(y, row, row_y, y->offset + at));
      }
    }
  });
}

void index_put_rows(const IndexPutRows& op, Inputs in, Outputs out) {
  const Tensor& t = out[0];
  if (!(t->storage == in[0]->storage)) run_copy(in[0], t);
  const Tensors indices = all_row_major(in.subspan(2));
  int k = int(indices.size());
  Tensor values = row_major(in[1]);
  Dims sizes = tail(t.sizes(), k), strides = tail(t.strides(), k);
  int64_t rows = indices[0].numel(), width = sizes.product();
  if (width == 0) return;
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dst = t.data<T>();
    const T* src = values.data<T>();
    const bool block = strides == contiguous_strides(sizes);
    for_rows(t, indices, 0, rows, [&](int64_t i, int64_t at) {
      T* row = dst + at;
      const T* given = src + i * width;
      if (block && op.accumulate) {
        for (int64_t j = 0; j < width; j++) add_to(row[j], given[j]);
      } else if (block) {
        std::copy_n(given, width, row);
      } else {
        for (int64_t j = 0; j < width; j++) {
          T& cell = row[offset_of(j, sizes, strides)];
          if (op.accumulate) add_to(cell, given[j]);
          else cell = given[j];
        }
      }
    });
  });
}

void embedding(const Embedding&, Inputs in, Outputs out) {
  const Tensor w = row_major(in[0]), index = row_major(in[1]);
  const int64_t bytes = w.size(1) * size_of(w.dtype());
  const std::byte* from = w.raw();
  std::byte* to = out[0].raw();
  const int64_t rows = w.size(0);
  by_row_bytes(bytes, [&](auto size) {
    parallel_for(index.numel(), kGrain * 4 / std::max<int64_t>(bytes, 1), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) std::memcpy(to + i * size, from + checked("embedding", index_at(index, i), rows) * size, size);
    });
  });
}

void embedding_backward(const EmbeddingBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), index = row_major(in[1]);
  std::memset(out[0].raw(), 0, out[0].numel() * size_of(out[0].dtype()));
  int64_t width = dy.size(-1), n = index.numel();
  Scratch<int64_t> count(op.scale_grad_by_freq ? op.num_weights : 0, 0);
  for (int64_t i = 0; i < n && op.scale_grad_by_freq; i++) count[index_at(index, i)]++;
  visit_dtype(dy.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Threads own columns, so equal rows never race.
    parallel_for(width, std::max<int64_t>(16, kGrain / std::max<int64_t>(n, 1)), [&](int64_t b, int64_t e) {
      for (int64_t i = 0; i < n; i++) {
        int64_t row = checked("embedding", index_at(index, i), op.num_weights);
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
  set_kernel<IndexSelect, index_select>(kCpu);
  set_kernel<IndexAdd, index_add>(kCpu);
  set_kernel<IndexRows, index_rows>(kCpu);
  set_kernel<IndexPutRows, index_put_rows>(kCpu);
  set_kernel<Embedding, embedding>(kCpu);
  set_kernel<EmbeddingBackward, embedding_backward>(kCpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
