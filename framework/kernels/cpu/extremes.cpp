#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/reduction.h"
#include "framework/ops/reduce.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// The first of n numbers that is `x`, or NaN where x is; one of them is.
template <class T> int64_t first_of(const T* p, int64_t n, T x) {
  auto is = [x](T v) { return (v == x) | ((v != v) & (x != x)); };
  constexpr int64_t block = 4 * Vec<T>::size;
  int64_t i = 0;
  for (; i + block <= n; i += block) {
    typename LaneInt<sizeof(T)>::type found = 0;
    for (int64_t k = 0; k < block; k++) found += is(p[i + k]);
    if (found) break;
  }
  while (!is(p[i])) i++;
  return i;
}

constexpr int64_t kStrip = 64;  // columns that a thread takes at a time

// Neighbouring columns of m rows, `stride` apart, side by side: their extremes and the rows of them.
template <bool kLargest, class T> void find_in_columns(const T* p, int64_t columns, int64_t m, int64_t stride, T* values, int64_t* indices) {
  constexpr int64_t block = 4 * Vec<T>::size;
  using Row = typename LaneInt<sizeof(T)>::type;
  for (int64_t c = 0; c < columns; c += block) {
    const int64_t n = std::min(block, columns - c);
    T top[block] = {};
    Row best[block] = {};
    std::copy_n(p + c, n, top);
    for (int64_t r = 1; r < m; r++) {
      const T* row = p + r * stride + c;
      auto join = [&](int64_t k) {
        const bool better = ((kLargest ? row[k] > top[k] : row[k] < top[k]) | (row[k] != row[k])) & (top[k] == top[k]);
        top[k] = better ? row[k] : top[k], best[k] = better ? Row(r) : best[k];
      };
      if (n == block) for (int64_t k = 0; k < block; k++) join(k);
      else for (int64_t k = 0; k < n; k++) join(k);
    }
    std::copy_n(best, n, indices + c);
    if (values) std::copy_n(top, n, values + c);
  }
}

// First position of the largest (or smallest) element; NaN is larger and smaller than anything.
template <bool kLargest, class T>
void find(const Tensor& x, Axes axes, T* values, int64_t* indices) {
  const Reduction plan(x, axes);
  // Positions count in the input's own order, so the reduced axes keep it.
  Extents reduced;
  for (int d = 0; d < x.ndim(); d++)
    if (axes >> d & 1) reduced.add(x.sizes()[d], x.strides()[d]);
  const int64_t m = reduced.count, inner = reduced.inner_size(), stride = reduced.inner_stride(), columns = plan.kept.inner_size();
  const bool same = x.dtype() == dtype_of<T>(), direct = same && stride == 1;
  const bool beside = same && !direct && reduced.n == 1 && plan.kept.inner_stride() == 1 && columns >= Vec<T>::size && m < (1 << 30);
  if (beside || (m <= kTile / kStrip && reduced.n <= 1 && columns >= 8)) {  // or a few numbers each: gathered for many results at once
    const int64_t strips = (columns + kStrip - 1) / kStrip;
    return parallel_for(plan.kept.count / columns * strips, std::max<int64_t>(1, kGrain / (m * kStrip)), [&](int64_t b, int64_t e) {
      T tile[kTile];
      for (int64_t i = b; i < e; i++) {
        const int64_t c = i % strips * kStrip, to = i / strips * columns + c, n = std::min(kStrip, columns - c), base = plan.kept.offset(to);
        for (int64_t r = 0; !beside && r < m; r++)
          convert(x.dtype(), x.raw() + (base + r * stride) * int64_t(size_of(x.dtype())), plan.kept.inner_stride(), dtype_of<T>(), tile + r * kStrip, 1, n);
        find_in_columns<kLargest>(beside ? x.data<T>() + base : tile, n, m, beside ? stride : kStrip, values ? values + to : nullptr, indices + to);
      }
    });
  }
  parallel_for(plan.kept.count, std::max<int64_t>(1, kGrain / m), [&](int64_t b, int64_t e) {
    T tile[kTile];
    for (int64_t i = b; i < e; i++) {
      int64_t base = plan.kept.offset(i), best = 0;
      T top{};
      for (int64_t r = 0; r < m;) {
        const int64_t at = base + reduced.offset(r), n = direct ? std::min(m - r, inner - r % inner) : std::min({m - r, inner - r % inner, kTile});
        if (!direct) convert(x.dtype(), x.raw() + at * int64_t(size_of(x.dtype())), stride, dtype_of<T>(), tile, 1, n);
        const T* p = direct ? x.data<T>() + at : tile;
        const T t = kLargest ? reduce_block<T, LargestOf>(p, n) : reduce_block<T, SmallestOf>(p, n);
        if (r == 0 || (top == top && ((kLargest ? t > top : t < top) || t != t))) top = t, best = r + first_of(p, n, t);
        r += n;
      }
      indices[i] = best;
      if (values) values[i] = top;
    }
  });
}

template <bool kLargest>
void find_into(const Tensor& x, Axes axes, const Tensor* values, const Tensor& indices) {
  auto run = [&]<class T>(TypeTag<T>) {
    std::vector<T> top(values ? indices.numel() : 0);
    find<kLargest, T>(x, axes, values ? top.data() : nullptr, indices.data<int64_t>());
    if (values) convert(dtype_of<T>(), top.data(), 1, values->dtype(), values->raw(), 1, values->numel());
  };
  check_real("max", x.dtype());
  if (x.dtype() == DType::float64) run(TypeTag<double>{});
  else if (is_floating(x.dtype())) run(TypeTag<float>{});
  else run(TypeTag<int64_t>{});
}

template <bool kLargest, class Op> void arg_extreme(const Op& op, Inputs in, Outputs out) {
  std::optional<Dims> dim;
  if (op.dim) dim = Dims{*op.dim};
  find_into<kLargest>(in[0], reduced_axes("argmax", dim, in[0].ndim()), nullptr, out[0]);
}
template <bool kLargest, class Op> void extreme_with_index(const Op& op, Inputs in, Outputs out) {
  find_into<kLargest>(in[0], reduced_axes("max", Dims{op.dim}, in[0].ndim()), &out[0], out[1]);
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Argmax, arg_extreme<true, Argmax>>(cpu);
  set_kernel<Argmin, arg_extreme<false, Argmin>>(cpu);
  set_kernel<MaxDim, extreme_with_index<true, MaxDim>>(cpu);
  set_kernel<MinDim, extreme_with_index<false, MinDim>>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
