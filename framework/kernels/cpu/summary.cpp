#include "framework/ops/summary.h"

#include <utility>

#include "framework/core/parallel.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/reduction.h"
#include "framework/kernels/cpu/singles.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int64_t kShares = 16;  // parts of many numbers, whatever the number of threads

// Calls block(share, numbers, how many) for all elements of x, in any order, at most kTile at a time: of type From where x has it and they stand side
// by side, else converted to T. Threads take a share each.
template <class T, class From, class F> void each_block(const Tensor& x, int64_t shares, F&& block) {
  const Extents at = Reduction(x, first_axes(x.ndim())).reduced;
  const int64_t inner = at.inner_size(), stride = at.inner_stride(), item = int64_t(size_of(x.dtype()));
  const bool direct = x.dtype() == dtype_of<From>() && stride == 1;
  parallel_for(shares, 1, [&](int64_t from, int64_t to) {
    alignas(64) std::byte room[kTile * sizeof(T)];
    T* tile = reinterpret_cast<T*>(room);
    for (int64_t share = from; share < to; share++)
      for (int64_t b = at.count * share / shares, e = at.count * (share + 1) / shares; b < e;) {
        const int64_t n = std::min({e - b, inner - b % inner, kTile});
        const std::byte* p = x.raw() + at.offset(b) * item;
        if (direct) block(share, reinterpret_cast<const From*>(p), n);
        else convert(x.dtype(), p, stride, dtype_of<T>(), tile, 1, n), block(share, static_cast<const T*>(tile), n);
        b += n;
      }
  });
}
int64_t shares_of(const Tensor& x) { return std::min(kShares, x.numel() / kGrain + 1); }

// The extremes of a block: of whole numbers in one loop; with NaN to look for, in two, while the block is near.
template <class T, class From> std::pair<T, T> extremes_of_block(const From* p, int64_t n) {
  if constexpr (!std::is_same_v<T, From> || !std::is_integral_v<T>) {
    return {reduce_block<T, SmallestOf>(p, n), reduce_block<T, LargestOf>(p, n)};
  } else {
    constexpr int w = Vec<T>::size;
    Vec<T> low[2] = {Vec<T>(SmallestOf<T>::start), Vec<T>(SmallestOf<T>::start)}, high[2] = {Vec<T>(LargestOf<T>::start), Vec<T>(LargestOf<T>::start)};
    int64_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w)
      for (int k = 0; k < 2; k++) {
        const Vec<T> x = Vec<T>::load(p + i + k * w);
        low[k] = SmallestOf<T>::join(low[k], x), high[k] = LargestOf<T>::join(high[k], x);
      }
    T least = across_lanes(SmallestOf<T>::join(low[0], low[1]), [](Vec<T> a, Vec<T> b) { return SmallestOf<T>::join(a, b); });
    T most = across_lanes(LargestOf<T>::join(high[0], high[1]), [](Vec<T> a, Vec<T> b) { return LargestOf<T>::join(a, b); });
    for (; i < n; i++) least = SmallestOf<T>::join(least, p[i]), most = LargestOf<T>::join(most, p[i]);
    return {least, most};
  }
}

void extremes_of_all(const ExtremesOfAll&, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  auto run = [&]<class T, class From = T>(TypeTag<T>, TypeTag<From> = {}) {
    const int64_t shares = shares_of(x);
    T least[kShares], most[kShares];
    std::fill_n(least, shares, SmallestOf<T>::start), std::fill_n(most, shares, LargestOf<T>::start);
    each_block<T, From>(x, shares, [&](int64_t share, const auto* p, int64_t n) {
      const auto [low, high] = extremes_of_block<T>(p, n);
      least[share] = SmallestOf<T>::join(least[share], low), most[share] = LargestOf<T>::join(most[share], high);
    });
    for (int64_t i = 1; i < shares; i++) least[0] = SmallestOf<T>::join(least[0], least[i]), most[0] = LargestOf<T>::join(most[0], most[i]);
    convert(dtype_of<T>(), least, 1, x.dtype(), out[0].raw(), 1, 1);
    convert(dtype_of<T>(), most, 1, x.dtype(), out[1].raw(), 1, 1);
  };
  switch (x.dtype()) {
    case DType::float64: return run(TypeTag<double>{});
    case DType::bfloat16: return run(TypeTag<float>{}, TypeTag<BFloat16>{});
    case DType::float16: return run(TypeTag<float>{}, TypeTag<Half>{});
    case DType::float32: return run(TypeTag<float>{});
    case DType::int64: return run(TypeTag<int64_t>{});
    case DType::uint8: case DType::boolean: return run(TypeTag<uint8_t>{});
    default: return run(TypeTag<int32_t>{});
  }
}

void nonzeros_of_all(const NonzerosOfAll&, Inputs in, Outputs out) {
  visit_dtype(in[0].dtype(), [&]<class T>(TypeTag<T>) {
    using Lane = typename LaneInt<std::min(sizeof(T), sizeof(int64_t))>::type;  // as wide as the numbers, so that both fill the same registers
    constexpr int64_t block = sizeof(T) == 1 ? 64 : kTile;  // of which a lane holds the count
    const int64_t shares = shares_of(in[0]);
    int64_t count[kShares] = {};
    each_block<T, T>(in[0], shares, [&](int64_t share, const T* given, int64_t n) {
      const auto* p = reinterpret_cast<const Countable<T>*>(given);
      for (int64_t b = 0; b < n; b += block) {
        Lane some = 0;
        for (int64_t i = b, e = std::min(b + block, n); i < e; i++) some = Lane(some + counts(p[i]));
        count[share] += some;
      }
    });
    int64_t total = 0;
    for (int64_t c : count) total += c;
    *out[0].data<int64_t>() = total;
  });
}

const bool bound = [] {
  set_kernel<ExtremesOfAll, extremes_of_all>(DeviceType::cpu);
  set_kernel<NonzerosOfAll, nonzeros_of_all>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
