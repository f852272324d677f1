// Rows that norms are taken of: their statistics, and the weights beside them.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/ops/norm.h"

namespace weir {
namespace WEIR_ISA {

/// The elements of `t` side by side; undefined where it is.
inline Tensor flat(const Tensor& t) { return t ? alias(row_major(t), Dims{t.numel()}, Dims{1}, row_major(t)->offset) : t; }

/// The sum of f(x) over a row, in double after every 1,024 numbers. Four sums side by side, since one waits for its own result.
template <class A, class F> double row_sum(const A* p, int64_t width, F&& f) {
  using V = Vec<A>;
  double sum = 0;
  for (int64_t begin = 0; begin < width; begin += 1024) {
    const int64_t stop = std::min(begin + 1024, width);
    V s[4] = {V(0), V(0), V(0), V(0)};
    A rest = 0;
    int64_t i = begin;
    for (; i + 4 * V::size <= stop; i += 4 * V::size)
      for (int j = 0; j < 4; j++) s[j] = s[j] + f(V::load(p + i + j * V::size));
    for (; i + V::size <= stop; i += V::size) s[0] = s[0] + f(V::load(p + i));
    for (; i < stop; i++) rest += f(p[i]);
    sum += sum_lanes((s[0] + s[1]) + (s[2] + s[3])) + rest;
  }
  return sum;
}

/// Mean and 1 / standard deviation of a row.
template <class A> std::pair<A, A> row_statistics(const A* p, int64_t width, double eps) {
  const A origin = std::isfinite(double(p[0])) ? p[0] : A(0);  // rows of nearly equal numbers keep their digits
  const double sum = row_sum(p, width, [=](auto x) { return x - decltype(x)(origin); });
  A mean = A(double(origin) + sum / double(width));
  const double square = row_sum(p, width, [=](auto x) { auto d = x - decltype(x)(mean); return d * d; });
  if (std::isnan(square)) mean = A(square);  // of infinite numbers, as in PyTorch
  return {mean, A(1 / std::sqrt(square / double(width) + eps))};
}

/// A weight or bias for each number of a row, n times `fallback` where there is none.
template <class A> Scratch<A> row_of(const Tensor& t, int64_t n, A fallback) {
  Scratch<A> r(size_t(n), fallback);
  if (const Tensor row = flat(t)) convert(row.dtype(), row.raw(), 1, dtype_of<A>(), r.data(), 1, n);
  return r;
}

/// Numbers to a tensor of as many, side by side, if it is there.
inline void write(const Tensor& t, const Scratch<double>& v) {
  if (t && t.numel()) convert(DType::float64, v.data(), 1, t.dtype(), t.raw(), 1, int64_t(v.size()));
}

/// f of the type of the numbers, and of the type that computes with them.
template <class F> void by_float(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{}, TypeTag<double>{});
  else if (t == DType::bfloat16) f(TypeTag<BFloat16>{}, TypeTag<float>{});
  else if (t == DType::float16) f(TypeTag<Half>{}, TypeTag<float>{});
  else f(TypeTag<float>{}, TypeTag<float>{});
}

/// As by_float; norms of few floats are computed in double, statistics included.
template <class F> void by_count(DType t, int64_t count, F&& f) {
  if (t == DType::float32 && count <= kShortRow) f(TypeTag<float>{}, TypeTag<double>{});
  else by_float(t, f);
}

}  // namespace WEIR_ISA
}  // namespace weir
