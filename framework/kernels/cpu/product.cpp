#include "framework/ops/product.h"

#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/vec_complex.h"
#include "framework/kernels/cpu/vec_math.h"
#include "framework/kernels/cpu/widths.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int64_t kSpan = 8192;  // products that one sum takes: rounding grows with these, and threads share the spans

// In several registers, since each addition waits for the one before it. Of numbers of type S, as T.
template <class T, class S> T sum_of_products(const S* a, const S* b, int64_t n) {
  constexpr int64_t kChains = 8, n_lanes = Vec<T>::size, step = kChains * n_lanes;
  Vec<T> sum[kChains];
  for (auto& s : sum) s = Vec<T>(T(0));
  int64_t i = 0;
  for (; i + step <= n; i += step)
#pragma GCC unroll 8
    for (int64_t c = 0; c < kChains; c++) sum[c] = lanes::fma(vector_of<T>(a + i + c * n_lanes), vector_of<T>(b + i + c * n_lanes), sum[c]);
  for (; i + n_lanes <= n; i += n_lanes) sum[0] = lanes::fma(vector_of<T>(a + i), vector_of<T>(b + i), sum[0]);
  for (int64_t half = kChains / 2; half; half /= 2)
    for (int64_t c = 0; c < half; c++) sum[c] = sum[c] + sum[c + half];
  T total = sum_lanes(sum[0]);
  for (; i < n; i++) total += T(a[i]) * T(b[i]);
  return total;
}

// As above: the real parts of products, and their imaginary parts.
template <class T, class R> T sum_of_products(const std::complex<R>* a, const std::complex<R>* b, int64_t n) {
  using V = Vec<std::complex<R>>;
  constexpr int64_t kChains = 4;
  V sum[kChains];
  for (auto& s : sum) s = V(0);
  int64_t i = 0;
  for (; i + kChains * V::size <= n; i += kChains * V::size)
#pragma GCC unroll 4
    for (int64_t c = 0; c < kChains; c++) sum[c] = sum[c] + V::load(a + i + c * V::size) * V::load(b + i + c * V::size);
  const V all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  std::complex<R> total(sum_lanes(all.re), sum_lanes(all.im));
  for (; i < n; i++) total += a[i] * b[i];
  return total;
}

template <class T> Wide<T> span(const T* a, const T* b, int64_t n) {
  Wide<T> total{};
  if constexpr (kIsComplex<T> || std::is_floating_point_v<T>) return sum_of_products<T>(a, b, n);
  else if constexpr (kWidened<T>)
    for (int64_t i = 0; i < n; i += kTile) total += sum_of_products<float>(a + i, b + i, std::min(kTile, n - i));
  else
    for (int64_t i = 0; i < n; i++) total += a[i] * b[i];
  return total;
}

void dot(const Dot&, Inputs in, Outputs out) {
  check<NotImplemented>(in[0].dtype() != DType::boolean, "\"dot\" not implemented for 'Bool'");
  const Tensor a = row_major(in[0]), b = row_major(in[1]);
  visit_dtype(a.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_same_v<T, bool>) {
      const T *x = a.data<T>(), *y = b.data<T>();
      const int64_t n = a.numel(), spans = (n + kSpan - 1) / kSpan;
      auto run = [&](int64_t s) { return span(x + s * kSpan, y + s * kSpan, std::min(kSpan, n - s * kSpan)); };
      Wide<T> total{};
      if (spans > 1) {
        std::vector<Wide<T>> part(spans);
        parallel_for(spans, kGrain / kSpan, [&](int64_t begin, int64_t end) {
          for (int64_t s = begin; s < end; s++) part[s] = run(s);
        });
        for (const Wide<T>& p : part) total += p;
      } else if (n) {
        total = run(0);
      }
      *out[0].data<T>() = T(total);
    }
  });
}

}  // namespace

static const bool registered = (set_kernel<Dot, dot>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
