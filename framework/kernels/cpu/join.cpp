#include "framework/ops/join.h"

#include <algorithm>
#include <numeric>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

void combination_rows(const CombinationRows& op, Inputs, Outputs out) {
  const int64_t count = out[0].size(0), r = op.r;
  int64_t* to = out[0].data<int64_t>();
  if (out[0].numel() == 0) return;  // of more elements than there are
  std::vector<int64_t> row(r, 0);
  if (!op.with_replacement) std::iota(row.begin(), row.end(), 0);
  for (int64_t i = 0; i < count; i++) {
    std::copy(row.begin(), row.end(), to + i * r);
    // The last place that can still grow grows, those behind it follow.
    int64_t k = r - 1;
    while (k >= 0 && row[k] == (op.with_replacement ? op.n - 1 : op.n - r + k)) k--;
    if (k < 0) break;
    row[k]++;
    for (int64_t j = k + 1; j < r; j++) row[j] = row[j - 1] + !op.with_replacement;
  }
}

template <class Op> void triangle_indices(const Op& op, Inputs, Outputs out) {
  const int64_t count = out[0].size(1);
  auto write = [&](auto* to) {
    const auto* last = to + count;
    // From the first row that has elements to the last one: there may be any number of rows without.
    for (int64_t r = Op::kUpper ? 0 : std::max<int64_t>(0, -std::max(op.offset, -op.row)); to < last; r++)
      for (auto [c, end] = op.columns(Op::kUpper, r); c < end; c++, to++) to[0] = r, to[count] = c;
  };
  if (out[0].dtype() == DType::int64) write(out[0].data<int64_t>());
  else write(out[0].data<int32_t>());
}

}  // namespace

static const bool registered = [] {
  set_kernel<CombinationRows, combination_rows>(DeviceType::cpu);
  set_kernel<TrilIndices, triangle_indices<TrilIndices>>(DeviceType::cpu);
  set_kernel<TriuIndices, triangle_indices<TriuIndices>>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
