// A row-major shape seen along one of its axes.
#pragma once
#include <algorithm>

#include "framework/core/tensor.h"

namespace weir {
namespace WEIR_ISA {

/// Elements before an axis, along it, and behind it; of a number, one each.
struct Axis {
  int64_t outer = 1, n = 1, inner = 1;
  Axis(const Dims& sizes, int64_t dim, const char* op) {
    int d = wrap_dim(dim, sizes.n, op);
    for (int i = 0; i < sizes.n; i++) (i < d ? outer : i == d ? n : inner) *= sizes[i];
  }
  /// Where line `l` of those along the axis begins; its elements are `inner` apart.
  int64_t line(int64_t l) const { return l / inner * n * inner + l % inner; }
};

/// `t` with what its axes repeat seen once, but along axis `but`.
inline Tensor once_each(const Tensor& t, int but = -1) {
  Dims sizes = t.sizes();
  for (int d = 0; d < sizes.n; d++)
    if (d != but && t.strides()[d] == 0) sizes[d] = std::min<int64_t>(sizes[d], 1);
  return alias(t, sizes, t.strides(), t->offset);
}

inline int64_t size_along(const Tensor& t, int64_t dim) { return t.ndim() ? t.size(dim) : 1; }

}  // namespace WEIR_ISA
}  // namespace weir
