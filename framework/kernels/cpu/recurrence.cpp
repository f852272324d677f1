#include "framework/ops/recurrence.h"

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// a b - c, rounded once, which is what PyTorch's kernels do; of float64 twice.
template <class T> T product_less(T a, T b, T c) { return T(double(a) * double(b) - double(c)); }

// p_(k+1) of x, from p = p_k and q = p_(k-1).
template <class T> T chebyshev(T x, T, T p, T q) { return product_less(x + x, p, q); }
template <class T> T hermite_h(T x, T k, T p, T q) { return product_less(x + x, p, 2 * k * q); }
template <class T> T hermite_he(T x, T k, T p, T q) { return product_less(x, p, k * q); }
template <class T> T laguerre(T x, T k, T p, T q) { return product_less(2 * k + (1 - x), p, k * q) / (k + 1); }
template <class T> T legendre(T x, T k, T p, T q) { return product_less((2 * k + 1) * x, p, k * q) / (k + 1); }

template <class T, class Step> void run(const Tensor& x, const Tensor& first, const Tensor& n, const Tensor& out, Step step) {
  const T *at = x.data<T>(), *p1 = first.data<T>(), *degree = n.data<T>();
  T* result = out.data<T>();
  parallel_for(out.numel(), 1024, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      T before = 1, now = p1[i];
      for (int64_t k = 1; T(k) < degree[i] && now == now; k++) {  // NaN stays
        T next = step(at[i], T(k), now, before);
        before = now, now = next;
      }
      result[i] = now;
    }
  });
}

template <class T> auto step_of(const Str& kind) -> T (*)(T, T, T, T) {
  if (kind == "chebyshev") return chebyshev<T>;
  if (kind == "hermite_h") return hermite_h<T>;
  if (kind == "hermite_he") return hermite_he<T>;
  return kind == "laguerre" ? laguerre<T> : legendre<T>;
}

void recurrence(const Recurrence& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), first = row_major(in[1]), n = row_major(in[2]);
  if (out[0].dtype() == DType::float64) run<double>(x, first, n, out[0], step_of<double>(op.kind));
  else run<float>(x, first, n, out[0], step_of<float>(op.kind));
}

const bool bound = [] {
  set_kernel<Recurrence, recurrence>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
