#include "framework/ops/criterion.h"

#include <algorithm>
#include <cmath>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class T> void cross_entropy(const T* p, const T* t, T* y, int64_t n) {
  constexpr T floor = T(-100);
  bool inside = true;
  for (int64_t i = 0; i < n; i++) inside &= p[i] >= 0 && p[i] <= 1;
  check(inside, "all elements of input should be between 0 and 1");
  for (int64_t i = 0; i < n; i++) inside &= t[i] >= 0 && t[i] <= 1;
  check(inside, "all elements of target should be between 0 and 1");
  parallel_for(n, kGrain / 4, [&](int64_t b, int64_t e) {
    constexpr int w = Vec<T>::size;
    int64_t i = b;
    for (; i + w <= e; i += w) {
      Vec<T> x = Vec<T>::load(p + i), target = Vec<T>::load(t + i);
      Vec<T> left = log(x), right = log1p(-x);
      left = where(left < Vec<T>(floor), Vec<T>(floor), left), right = where(right < Vec<T>(floor), Vec<T>(floor), right);
      ((target - Vec<T>(1)) * right - target * left).store(y + i);
    }
    for (; i < e; i++) y[i] = (t[i] - 1) * std::max(std::log1p(-p[i]), floor) - t[i] * std::max(std::log(p[i]), floor);
  });
}

void binary_cross_entropy(const BinaryCrossEntropyForward&, Inputs in, Outputs out) {
  auto run = [&]<class T>(TypeTag<T>) {
    auto wide = [](const Tensor& t) { return t.dtype() == dtype_of<T>() ? row_major(t) : copied(t, Meta(t.sizes(), dtype_of<T>())); };
    Tensor p = wide(in[0]), t = wide(in[1]);
    bool direct = out[0].dtype() == dtype_of<T>();
    Tensor y = direct ? out[0] : empty(out[0].sizes(), dtype_of<T>());
    cross_entropy(p.data<T>(), t.data<T>(), y.data<T>(), p.numel());
    if (!direct) run_copy(y, out[0]);
  };
  if (in[0].dtype() == DType::float64) run(TypeTag<double>{});
  else run(TypeTag<float>{});
}

const bool bound = [] {
  set_kernel<BinaryCrossEntropyForward, binary_cross_entropy>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
