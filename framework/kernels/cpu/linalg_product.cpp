#include "framework/ops/linalg_product.h"

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

void cross(const Cross& op, Inputs in, Outputs out) {
  const Tensor& to = out[0];
  if (to.numel() == 0) return;
  Meta whole(to.sizes(), to.dtype());
  Tensor x = copied(in[0], whole), y = copied(in[1], whole);  // broadcast and cast
  const int dim = int(wrap_dim(op.dim, to.ndim(), "linalg.cross"));
  int64_t inner = 1;
  for (int d = dim + 1; d < to.ndim(); d++) inner *= to.sizes()[d];
  visit_dtype(to.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto product = [](T a, T b, T c, T d) {  // a b - c d
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(float(a) * float(b) - float(c) * float(d));
      else return T(a * b - c * d);
    };
    parallel_for(to.numel() / 3, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const int64_t at = i / inner * inner * 3 + i % inner;
        const T *a = x.data<T>() + at, *b = y.data<T>() + at;
        T* c = to.data<T>() + at;
        c[0] = product(a[inner], b[2 * inner], a[2 * inner], b[inner]);
        c[inner] = product(a[2 * inner], b[0], a[0], b[2 * inner]);
        c[2 * inner] = product(a[0], b[inner], a[inner], b[0]);
      }
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Cross, cross>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
