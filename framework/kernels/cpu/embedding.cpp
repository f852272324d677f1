#include "framework/ops/embedding.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

enum Modes { kSum, kMean, kMax };

Tensor as_int64(const Tensor& t) { return t.dtype() == DType::int64 ? row_major(t) : copied(t, Meta(t.sizes(), DType::int64)); }

void write_int64(const Scratch<int64_t>& values, const Tensor& out) {
  convert(DType::int64, values.data(), 1, out.dtype(), out.raw(), 1, int64_t(values.size()));
}

template <class T> using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class F> void by_type(DType t, F&& f) {
  visit_dtype(t, [&]<class T>(TypeTag<T> tag) {
    if constexpr (!kIsComplex<T> && !std::is_integral_v<T>) f(tag);
  });
}

// Where each bag begins, and behind the last one where it ends.
std::vector<int64_t> bounds_of(const Tensor& given, int64_t length, bool include_last, bool direct_sum) {
  Tensor offsets = as_int64(given);
  const int64_t* o = offsets.data<int64_t>();
  int64_t n = offsets.numel();
  std::vector<int64_t> bounds(o, o + n);
  check(n == 0 || o[0] == 0, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got ",
        n ? o[0] : 0);
  check(n == 0 || o[n - 1] <= length, "offsets[-1] can not be greater than input's length ", length, " but got offsets[-1] of ", n ? o[n - 1] : 0);
  for (int64_t i = 1; i < n - include_last && !direct_sum; i++) check<IndexError>(o[i] >= 0, "embedding_bag: offset ", i, " is out of range: ", o[i]);
  if (!include_last) bounds.push_back(n ? length : 0);
  for (size_t i = 0; i + 1 < bounds.size(); i++)
    check(bounds[i] <= bounds[i + 1], "embedding_bag: offsets must not fall, but offset ", i + 1, " is ", bounds[i + 1], " after ", bounds[i]);
  return bounds;
}

template <class T> void sum_rows(const T* w, int64_t width, const int64_t* rows, int64_t n, const T* scale, int64_t padding, double share, T* out,
                                 std::vector<Wide<T>>& sum) {
  using A = Wide<T>;
  std::fill(sum.begin(), sum.end(), A(0));
  for (int64_t i = 0; i < n; i++) {
    if (rows[i] == padding) continue;
    const T* row = w + rows[i] * width;
    if (scale) {
      A by = A(scale[i]);
      for (int64_t k = 0; k < width; k++) sum[k] += by * A(row[k]);
    } else {
      for (int64_t k = 0; k < width; k++) sum[k] += A(row[k]);
    }
  }
  for (int64_t k = 0; k < width; k++) out[k] = T(share == 1 ? sum[k] : A(sum[k] / A(share)));
}

template <class T> void largest_rows(const T* w, int64_t width, const int64_t* rows, int64_t n, int64_t padding, T* out, int64_t* which) {
  bool first = true;
  for (int64_t k = 0; k < width; k++) out[k] = T(0.0f), which[k] = 0;
  for (int64_t i = 0; i < n; i++) {
    if (rows[i] == padding) continue;
    const T* row = w + rows[i] * width;
    for (int64_t k = 0; k < width; k++) {
      bool better = first || Wide<T>(row[k]) > Wide<T>(out[k]);
      out[k] = better ? row[k] : out[k];
      which[k] = better ? rows[i] : which[k];
    }
    first = false;
  }
}

void forward(const EmbeddingBagForward& op, Inputs in, Outputs out) {
  Tensor w = row_major(in[0]), indices = as_int64(in[1]), scale = in[3] ? row_major(in[3]) : Tensor();
  const int64_t n = indices.numel(), rows = w.sizes()[0], width = w.sizes()[1], count = out[0].sizes()[0];
  const int64_t* index = indices.data<int64_t>();
  const bool direct = op.mode != kMax && op.padding_idx < 0 && in[0].dtype() != DType::float64 && in[0].strides()[1] == 1 &&
                      (!in[3] || in[3].strides()[0] == 1);
  std::vector<int64_t> bounds = bounds_of(in[2], in[1].sizes()[0], op.include_last_offset, direct && op.mode == kSum);
  // Source: PyTorch, whose direct selection looks at no index outside of the bags.
  for (int64_t i = 0; i < (direct && op.include_last_offset ? bounds.back() : n); i++)
    check(index[i] >= 0 && index[i] < rows, "Index ", i, " of input takes value ", index[i], " which is not in the valid range [0, ", rows, ")");
  // What lies behind a last offset counts to the last bag. Source: PyTorch, whose direct selection of rows leaves it out.
  std::vector<int64_t> ends(bounds.begin() + (count > 0), bounds.end());
  if (count) ends.back() = n;
  Scratch<int64_t> bag(n, count), size(count, 0), which(op.mode == kMax ? count * width : 0, 0);
  // Of a matrix the last bag has all that follow, but only as many as the matrix has rows are counted. Source: PyTorch.
  if (direct && count && !op.include_last_offset) bounds.back() = n;
  for (int64_t b = 0; b < count; b++)
    for (int64_t i = bounds[b]; i < ends[b]; i++) bag[i] = b, size[b] += i < in[1].sizes()[0] && index[i] != op.padding_idx;
  by_type(w.dtype(), [&]<class T>(TypeTag<T>) {
    parallel_for(count, kGrain * count / std::max<int64_t>(n * width, 1), [&](int64_t b, int64_t e) {
      std::vector<Wide<T>> sum(width);
      for (int64_t i = b; i < e; i++) {
        T* to = out[0].data<T>() + i * width;
        const int64_t* own = index + bounds[i];
        int64_t length = (direct ? bounds[i + 1] : ends[i]) - bounds[i];
        if (op.mode == kMax) largest_rows(w.data<T>(), width, own, length, op.padding_idx, to, which.data() + i * width);
        else sum_rows(w.data<T>(), width, own, length, scale ? scale.data<T>() + bounds[i] : nullptr, op.padding_idx,
                      op.mode == kMean ? double(std::max<int64_t>(size[i], 1)) : 1.0, to, sum);
      }
    });
  });
  write_int64(bag, out[1]);
  write_int64(size, out[2]);
  write_int64(op.mode == kMax ? which : size, out[3]);
}

// What a row's gradient is divided by. Source: PyTorch, which takes for the u-th distinct index the count of the u-th smallest
// index, repeats included, and not its own.
Scratch<double> frequencies(const int64_t* index, int64_t n, int64_t rows) {
  Scratch<int64_t> sorted(index, index + n), count(rows, 0);
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i : sorted) count[i]++;
  Scratch<double> divisor(rows, 1.0);
  for (int64_t i = 0, distinct = 0; i < n; i++)
    if (i == 0 || sorted[i] != sorted[i - 1]) divisor[sorted[i]] = double(count[sorted[distinct++]]);
  return divisor;
}

void backward(const EmbeddingBagBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), indices = as_int64(in[1]), bags = as_int64(in[2]), sizes = as_int64(in[3]), largest = as_int64(in[4]);
  Tensor scale = in[5] ? row_major(in[5]) : Tensor();
  const int64_t n = indices.numel(), width = dy.sizes()[1], count = dy.sizes()[0];
  const int64_t *index = indices.data<int64_t>(), *bag = bags.data<int64_t>(), *size = sizes.data<int64_t>(), *which = largest.data<int64_t>();
  // Forward may have looked at the indices of its bags alone: a row that is not there has no gradient, but nor can it be counted.
  auto is_row = [&](int64_t row) { return row >= 0 && row < op.num_weights; };
  for (int64_t i = 0; i < n && op.scale_grad_by_freq; i++)
    check<IndexError>(is_row(index[i]), "embedding_bag: index ", index[i], " is out of range for ", op.num_weights, " rows");
  Scratch<double> divisor;
  if (op.scale_grad_by_freq) divisor = frequencies(index, n, op.num_weights);
  by_type(dy.dtype(), [&]<class T>(TypeTag<T>) {
    using A = Wide<T>;
    Scratch<A> wide(std::is_same_v<A, T> ? 0 : out[0].numel());
    A* to;
    if constexpr (std::is_same_v<A, T>) to = out[0].data<T>();
    else to = wide.data();
    std::fill_n(to, out[0].numel(), A(0));
    // Threads own columns, so equal rows never race.
    parallel_for(width, std::max<int64_t>(16, kGrain / std::max<int64_t>(n, 1)), [&](int64_t b, int64_t e) {
      if (op.mode == kMax) {
        for (int64_t i = 0; i < count; i++)
          for (int64_t k = b; k < e && size[i]; k++) to[which[i * width + k] * width + k] += A(dy.data<T>()[i * width + k]);
        return;
      }
      for (int64_t i = 0; i < n; i++) {
        if (index[i] == op.padding_idx || bag[i] >= count || !is_row(index[i])) continue;
        A by = scale ? A(scale.data<T>()[i]) : A(1);
        if (op.mode == kMean) by /= A(size[bag[i]]);
        if (op.scale_grad_by_freq) by /= A(divisor[index[i]]);
        A* row = to + index[i] * width;
        const T* from = dy.data<T>() + bag[i] * width;
        for (int64_t k = b; k < e; k++) row[k] += by * A(from[k]);
      }
    });
    if constexpr (!std::is_same_v<A, T>) convert(dtype_of<A>(), to, 1, out[0].dtype(), out[0].raw(), 1, out[0].numel());
  });
}

void renorm(const EmbeddingRenorm& op, Inputs in, Outputs out) {
  if (!(out[0]->storage == in[0]->storage)) run_copy(in[0], out[0]);
  Tensor indices = as_int64(in[1]);
  Scratch<int64_t> rows(indices.data<int64_t>(), indices.data<int64_t>() + indices.numel());
  const int64_t n = out[0].sizes()[0], width = out[0].sizes()[1], step = out[0].strides()[1];
  for (int64_t row : rows) check<IndexError>(row >= -n && row < n, "embedding_renorm_: index ", row, " is out of bounds for ", n, " rows");
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (int64_t& row : rows) row += row < 0 ? n : 0;  // PyTorch selects rows, each distinct number once
  auto each = [&]<class T>(TypeTag<T>) {
    for (int64_t row : rows) {
      T* v = out[0].data<T>() + row * out[0].strides()[0];
      double norm = 0;
      for (int64_t k = 0; k < width; k++) {
        double x;
        if constexpr (kIsComplex<T>) x = std::abs(std::complex<double>(v[k * step]));
        else x = std::abs(double(v[k * step]));
        if (op.norm_type == INFINITY) norm = std::max(norm, x);
        else if (op.norm_type == 0) norm += x != 0;
        else norm += op.norm_type == 2 ? x * x : op.norm_type == 1 ? x : std::pow(x, op.norm_type);
      }
      if (op.norm_type != INFINITY && op.norm_type != 0) norm = op.norm_type == 2 ? std::sqrt(norm) : std::pow(norm, 1 / op.norm_type);
      if (!(norm > op.max_norm)) continue;
      const double by = op.max_norm / (norm + 1e-7);
      for (int64_t k = 0; k < width; k++)
        if constexpr (kIsComplex<T>) v[k * step] *= typename T::value_type(by);
        else v[k * step] = T(Wide<T>(v[k * step]) * Wide<T>(by));
    }
  };
  visit_dtype(out[0].dtype(), [&]<class T>(TypeTag<T> tag) {
    if constexpr (!std::is_integral_v<T>) each(tag);
  });
}

int64_t largest_class(const Tensor& classes) {
  const int64_t* v = classes.data<int64_t>();
  int64_t low = 0, high = -1;
  for (int64_t i = 0; i < classes.numel(); i++) low = std::min(low, v[i]), high = std::max(high, v[i]);
  check(low >= 0, "Class values must be non-negative.");
  return high;
}
void write_one_hot(const Tensor& classes, int64_t count, const Tensor& out) {
  const int64_t* v = classes.data<int64_t>();
  int64_t* rows = out.data<int64_t>();
  parallel_for(classes.numel(), kGrain / count, [&](int64_t b, int64_t e) {
    std::fill(rows + b * count, rows + e * count, 0);
    for (int64_t i = b; i < e; i++) rows[i * count + v[i]] = 1;
  });
}
void one_hot_of(const OneHotOf& op, Inputs in, Outputs out) {
  const Tensor classes = row_major(in[0]);
  check(largest_class(classes) < op.num_classes, "Class values must be smaller than num_classes.");
  write_one_hot(classes, op.num_classes, out[0]);
}
void one_hot_counted(const OneHotCounted&, Inputs in, Outputs out) {
  const Tensor classes = row_major(in[0]);
  const int64_t count = checked_add(largest_class(classes), 1);
  Dims sizes = classes.sizes();
  sizes.push(count);
  out[0] = empty(sizes, DType::int64);
  write_one_hot(classes, count, out[0]);
}

const bool bound = [] {
  set_kernel<EmbeddingBagForward, forward>(DeviceType::cpu);
  set_kernel<EmbeddingBagBackward, backward>(DeviceType::cpu);
  set_kernel<EmbeddingRenorm, renorm>(DeviceType::cpu);
  set_kernel<OneHotOf, one_hot_of>(DeviceType::cpu);
  set_kernel<OneHotCounted, one_hot_counted>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
