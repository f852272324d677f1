#include "framework/ops/hashing.h"

#include <algorithm>

#include "framework/kernels/cpu/loops.h"
#include "framework/ops/reduce.h"

namespace weir {
namespace WEIR_ISA {

static void xor_sum(const XorSum& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  const int64_t count = out[0].numel(), each = count ? x.numel() / count : 0;
  const AxisSet axes = reduced_axes("xor_sum", op.dim, x.ndim());
  Dims sizes, strides;  // what is joined lies in rows
  for (AxisSet joined : {AxisSet(0), AxisSet(1)})
    for (int d = 0; d < x.ndim(); d++)
      if ((axes >> d & 1) == joined) sizes.push(x.sizes()[d]), strides.push(x.strides()[d]);
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
