#include "framework/ops/loss_scale.h"

#include <atomic>
#include <cmath>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// n numbers times the factor; whether all are finite. A number minus itself is zero, of an infinite one or none it is none, as is any sum with that.
template <class T> bool scaled(const T* p, T* r, int64_t n, T factor) {
  using V = Vec<T>;
  V none{T(0)};
  T tail = 0;
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) {
    const V x = V::load(p + i);
    none = none + (x - x);
    (x * V(factor)).store(r + i);
  }
  for (; i < n; i++) {
    tail += p[i] - p[i];
    r[i] = p[i] * factor;
  }
  return across_lanes(none, [](V a, V b) { return a + b; }) + tail == 0;
}

template <class T> bool unscale(const Tensor& x, const Tensor& out, int64_t b, int64_t e, T factor) {
  if (x.dtype() == dtype_of<T>() && out.dtype() == x.dtype()) return scaled(x.data<T>() + b, out.data<T>() + b, e - b, factor);
  alignas(64) T tile[kTile];
  bool finite = true;
  for (int64_t i = b; i < e; i += kTile) {
    const int64_t n = std::min(kTile, e - i);
    convert(x.dtype(), x.raw() + i * int64_t(size_of(x.dtype())), 1, dtype_of<T>(), tile, 1, n);
    finite &= scaled(tile, tile, n, factor);
    convert(dtype_of<T>(), tile, 1, out.dtype(), out.raw() + i * int64_t(size_of(out.dtype())), 1, n);
  }
  return finite;
}

}  // namespace

// Elements are visited in the order of memory where both have one geometry, else as rows.
static void amp_unscale(const AmpUnscale&, Inputs in, Outputs out) {
  const bool alike = is_non_overlapping_and_dense(in[0].sizes(), in[0].strides()) && same_layout(in[0].sizes(), in[0].strides(), out[0].strides());
  const Tensor x = alike ? in[0] : row_major(in[0]), y = alike || out[0].is_contiguous() ? out[0] : unfilled(Meta(x.sizes(), out[0].dtype(), x.device()));
  const float factor = *in[2].data<float>();
  std::atomic<bool> finite = true;
  parallel_for(x.numel(), kGrain, [&](int64_t b, int64_t e) {
    const bool here = x.dtype() == DType::float64 ? unscale<double>(x, y, b, e, factor) : unscale<float>(x, y, b, e, factor);
    if (!here) finite.store(false, std::memory_order_relaxed);
  });
  if (!finite) *in[1].data<float>() = 1;
  if (y.raw() != out[0].raw()) run_copy(y, out[0]);
}

static void amp_update_scale(const AmpUpdateScale& op, Inputs in, Outputs out) {
  const float scale = *in[0].data<float>();
  int32_t& good = *in[1].data<int32_t>();
  float& next = *out[0].data<float>();
  const bool found = *in[2].data<float>() != 0, grows = !found && ++good == op.growth_interval;
  const float grown = float(double(scale) * op.scale_growth_factor);
  next = found ? float(double(scale) * op.scale_backoff_factor) : grows && std::isfinite(grown) ? grown : scale;
  if (found || grows) good = 0;
}

static const bool bound = [] {
  set_kernel<AmpUnscale, amp_unscale>(DeviceType::cpu);
  set_kernel<AmpUpdateScale, amp_update_scale>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
