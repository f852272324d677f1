#include "framework/ops/hashing.h"

#include <algorithm>
#include <numeric>

#include "framework/kernels/cpu/loops.h"
#include "framework/ops/reduce.h"

namespace weir {
namespace WEIR_ISA {

static void xor_sum(const XorSum& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  const int64_t count = out[0].numel(), each = count ? x.numel() / count : 0;
  const AxisSet axes = reduced_axes("xor_sum", op.dim, x.ndim());
  // What is joined lies in rows, in the order of memory: any is as good.
  int order[kMaxDims];
  auto joins = [&](int d) { return bool(axes >> d & 1); };
  std::iota(order, order + x.ndim(), 0);
  std::stable_sort(order, order + x.ndim(), [&](int a, int b) {
    return joins(a) != joins(b) ? joins(b) : joins(a) && std::abs(x.strides()[a]) > std::abs(x.strides()[b]);
  });
  Dims sizes, strides;
  for (int i = 0; i < x.ndim(); i++) sizes.push(x.sizes()[order[i]]), strides.push(x.strides()[order[i]]);
  const Tensor rows = row_major(alias(x, sizes, strides, x->offset));
  parallel_for(count, kGrain / std::max<int64_t>(each, 1), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      const int64_t* row = rows.data<int64_t>() + i * each;
      int64_t joined = 0;
      for (int64_t k = 0; k < each; k++) joined ^= row[k];
      out[0].data<int64_t>()[i] = joined;
    }
  });
}

static const bool bound = [] {
  set_kernel<XorSum, xor_sum>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
