#include "framework/ops/verdict.h"

#include <algorithm>
#include <atomic>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

void equal_elements(const EqualElements&, Inputs in, Outputs out) {
  if (in[0].raw() == in[1].raw() && in[0].strides() == in[1].strides() && !is_inexact(in[0].dtype())) {  // where NaN differs from itself
    *out[0].data<bool>() = true;
    return;
  }
  // In one order of memory, whichever that is, where both have it.
  const bool alike = in[0].strides() == in[1].strides() && is_non_overlapping_and_dense(in[0].sizes(), in[0].strides());
  const Tensor a = alike ? in[0] : row_major(in[0]), b = alike ? in[1] : row_major(in[1]);
  std::atomic<bool> same{true};
  visit_dtype(a.dtype(), [&]<class T>(TypeTag<T>) {
    const T *x = a.data<T>(), *y = b.data<T>();
    constexpr int64_t kStep = 4096;  // elements between two looks at whether it has been decided
    parallel_for(a.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && same.load(std::memory_order_relaxed); i += kStep) {
        int differ = 0;
        for (int64_t k = i, last = std::min(i + kStep, end); k < last; k++) differ |= !(x[k] == y[k]);
        if (differ) same = false;
      }
    });
  });
  *out[0].data<bool>() = same;
}

}  // namespace

static const bool registered = (set_kernel<EqualElements, equal_elements>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
