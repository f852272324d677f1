#include "framework/core/layout.h"

#include <algorithm>

namespace weir {

Dims dense_strides(const Dims& sizes, std::span<const Dims> operands) {
  const int n = sizes.n;
  int perm[kMaxDims];  // innermost first
  for (int i = 0; i < n; i++) perm[i] = n - 1 - i;
  auto compare = [&](int a, int b) {  // 1: a should be outside of b
    for (const Dims& strides : operands) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  for (int i = 1; i < n; i++) {
    int at = i;
    for (int j = i - 1; j >= 0; j--) {
      int c = compare(perm[j], perm[at]);
      if (c > 0) std::swap(perm[j], perm[at]), at = j;
      else if (c < 0) break;
    }
  }
  bool row_major = true;
  for (int i = 0; i < n; i++) row_major = row_major && perm[i] == n - 1 - i;
  if (row_major) return contiguous_strides(sizes);
  Dims strides(n, 0);
  int64_t step = 1;
  for (int i = 0; i < n; i++) {
    strides[perm[i]] = step;
    step = int64_t(uint64_t(step) * uint64_t(sizes[perm[i]]));  // wraps only beside a size of 0, which makes it 0
  }
  return strides;
}

bool is_apart(const Dims& sizes, const Dims& strides) {
  int order[kMaxDims], n = 0;
  for (int d = 0; d < sizes.n; d++) {
    if (sizes[d] == 0) return true;
    if (sizes[d] > 1) order[n++] = d;
  }
  std::sort(order, order + n, [&](int a, int b) { return strides[a] < strides[b]; });
  int64_t reach = 0;
  for (int i = 0; i < n; i++) {
    if (strides[order[i]] <= reach) return false;
    reach += (sizes[order[i]] - 1) * strides[order[i]];
  }
  return true;
}

Meta with_strides(Meta m, const Tensor& x) {
  const Dims row_major = contiguous_strides(x.sizes());
  if (x.strides() == row_major) return m;
  const Dims own = is_non_overlapping_and_dense(x.sizes(), x.strides()) ? x.strides() : dense_strides(x.sizes(), std::array{x.strides()});
  if (!(own == row_major)) m.strides = own;
  return m;
}

}  // namespace weir
