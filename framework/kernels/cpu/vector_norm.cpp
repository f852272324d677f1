#include "framework/ops/vector_norm.h"

#include <algorithm>
#include <cmath>

#include "framework/kernels/cpu/loops.h"
#include "framework/ops/reduce.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class T> double power_sum(const T* x, int64_t n, double p) {
  double sum = 0;
  if (p == 0) {
    for (int64_t i = 0; i < n; i++) sum += x[i] != T(0);
  } else if (p == 3) {
    for (int64_t i = 0; i < n; i++) sum += double(std::abs(x[i] * x[i] * x[i]));
  } else {
    const T by = T(p);
    for (int64_t i = 0; i < n; i++) sum += double(std::pow(std::abs(x[i]), by));
  }
  return sum;
}

// The kept axes in front, the reduced ones dense behind.
void power_norm(const PowerNorm& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  AxisSet axes = reduced_axes("linalg.vector_norm", op.dim, x.ndim());
  Dims sizes, strides;
  int64_t n = 1;
  for (AxisSet reduced : {0, 1})
    for (int d = 0; d < x.ndim(); d++) {
      if ((axes >> d & 1) != reduced) continue;
      sizes.push(x.sizes()[d]), strides.push(x.strides()[d]);
      if (reduced) n *= x.sizes()[d];
    }
  Tensor rows = row_major(alias(x, sizes, strides, x->offset));
  auto run = [&]<class T>(TypeTag<T>) {
    parallel_for(out[0].numel(), kGrain / 16 / std::max<int64_t>(n, 1), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        const T* row = rows.data<T>() + i * n;
        double sum = power_sum(row, n, op.p);
        out[0].data<T>()[i] = n == 1 && op.p != op.p ? std::abs(*row) : T(op.p == 0 ? sum : std::pow(sum, 1 / double(T(op.p))));
      }
    });
  };
  if (x.dtype() == DType::float64) run(TypeTag<double>{});
  else run(TypeTag<float>{});
}

const bool bound = [] {
  set_kernel<PowerNorm, power_norm>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
