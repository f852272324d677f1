#include "framework/ops/grouped_product.h"

#include <algorithm>
#include <cstring>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/matmul.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Positions [from, to) of an axis.
Tensor part(const Tensor& t, int axis, int64_t from, int64_t to) {
  Dims sizes = t.sizes();
  sizes[axis] = to - from;
  return alias(t, sizes, t.strides(), t->offset + from * t.strides()[axis]);
}
Tensor at(const Tensor& t, int64_t i) {
  return alias(t, Dims{t.sizes()[1], t.sizes()[2]}, Dims{t.strides()[1], t.strides()[2]}, t->offset + i * t.strides()[0]);
}

void zero_rows(const Tensor& r) {
  const int64_t columns = r.sizes()[1];
  for (int64_t i = 0; i < r.sizes()[0]; i++) std::memset(r.raw() + i * r.strides()[0] * int64_t(size_of(r.dtype())), 0, size_t(columns) * size_of(r.dtype()));
}

void grouped_product(const GroupedProduct&, Inputs in, Outputs out) {
  const Tensor &a = in[0], &b = in[1], &r = out[0];
  const bool a_is_shared = a.ndim() == 2, b_is_shared = b.ndim() == 2, sums = a_is_shared && b_is_shared;
  if (!a_is_shared && !b_is_shared) return gemm(a, b, Tensor(), r);
  const Tensor offs = row_major(in[2]);
  const int64_t size = a_is_shared ? a.sizes()[sums ? 1 : 0] : b.sizes()[1], groups = offs.numel();
  auto end_of = [&](int64_t g) {
    const int64_t end = offs.data<int32_t>()[g];
    return std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);  // as a slice takes it
  };
  bool whole = sums;
  int64_t from = 0;
  if (!sums)
    for (int64_t g = 0; g < groups; from = end_of(g++)) whole = (g == 0 || whole) && end_of(g) >= from && (g + 1 < groups || end_of(g) == size);
  if (!whole) zero_rows(r);
  from = 0;
  for (int64_t g = 0; g < groups; g++) {
    const int64_t to = std::max(from, end_of(g));
    const Tensor left = sums ? part(a, 1, from, to) : a_is_shared ? part(a, 0, from, to) : at(a, g);
    check(!sums || to <= b.sizes()[0], "grouped_mm: group ", g, " ends at ", to, ", but mat_b has ", b.sizes()[0], " rows");
    const Tensor right = sums ? part(b, 0, from, to) : b_is_shared ? part(b, 1, from, to) : at(b, g);
    gemm(left, right, Tensor(), sums ? at(r, g) : part(r, a_is_shared ? 0 : 1, from, to));
    from = end_of(g);
  }
}

}  // namespace

static const bool bound = [] {
  set_kernel<GroupedProduct, grouped_product>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
