#include "framework/ops/pool_adaptive.h"

#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/pool_max.h"

namespace weir {
namespace WEIR_ISA {
namespace {

struct Span { int64_t begin, end; };
Span window(int64_t i, int64_t out, int64_t in) { return {i * in / out, ((i + 1) * in + out - 1) / out}; }

// The largest number of a part of a row, if it is above `high`; a NaN wins over all before it, as in PyTorch. `best` is where it stands.
template <class A, class T> void keep_largest(const T* plane, int64_t begin, int64_t end, A& high, int64_t& best) {
  constexpr int64_t kLong = 16;  // from which on a look for the value alone, which runs in vectors, pays
  if (end - begin >= kLong) {
    A most = high;
    int unordered = 0;
#pragma omp simd reduction(max : most) reduction(| : unordered)
    for (int64_t k = begin; k < end; k++) {
      const A v = A(plane[k]);
      most = v > most ? v : most;
      unordered |= v != v;
    }
    if (!unordered) {
      if (most > high) best = std::find_if(plane + begin, plane + end, [&](T v) { return A(v) == most; }) - plane, high = most;
      return;
    }
  }
  for (int64_t k = begin; k < end; k++) {
    const A v = A(plane[k]);
    const bool better = v > high || v != v;
    high = better ? v : high;
    best = better ? k : best;
  }
}

// A pooling to sizes: extents and windows of depth, height and width.
struct Sizes {
  int64_t from[3] = {1, 1, 1}, to[3] = {1, 1, 1}, area = 1, results = 1;
  std::vector<Span> spans[3];
  Sizes(const Dims& in, const Dims& out) {
    for (int i = 0, n = out.n; i < n; i++) from[3 - n + i] = in[i + 2], to[3 - n + i] = out[i];
    for (int a = 0; a < 3; a++) {
      area *= from[a], results *= to[a];
      for (int64_t i = 0; i < to[a]; i++) spans[a].push_back(window(i, to[a], from[a]));
    }
  }
  /// Calls f(number of the output, the spans under it).
  template <class F> void each(F&& f) const {
    int64_t o = 0;
    for (const Span& d : spans[0])
      for (const Span& h : spans[1])
        for (const Span& w : spans[2]) f(o++, d, h, w);
  }
};

template <class T> void largest_of_plane(const Sizes& sizes, const T* plane, Scratch<Wide<T>>& buffer, T* most, int64_t* place) {
  using A = pool::Acc<T>;
  const Wide<T>* numbers = widened(plane, buffer, sizes.area);
  sizes.each([&](int64_t o, Span d, Span h, Span w) {
    int64_t best = (d.begin * sizes.from[1] + h.begin) * sizes.from[2] + w.begin;
    A high = A(numbers[best]);
    for (int64_t i = d.begin; i < d.end; i++)
      for (int64_t j = h.begin; j < h.end; j++) {
        const int64_t line = (i * sizes.from[1] + j) * sizes.from[2];
        keep_largest(numbers, line + w.begin, line + w.end, high, best);
      }
    most[o] = plane[best], place[o] = best;
  });
}

// The same where channels are dense, side by side.
template <class T> void largest_of_channels(const Sizes& sizes, int64_t channels, const T* picture, T* most, int64_t* place) {
  using A = pool::Acc<T>;
  pool::Best<A> best;
  sizes.each([&](int64_t o, Span d, Span h, Span w) {
    for (int64_t c = 0; c < channels; c += pool::kLanes) {
      const int64_t m = std::min(pool::kLanes, channels - c);
      auto each_tap = [&](auto&& f) {
        for (int64_t i = d.begin; i < d.end; i++)
          for (int64_t j = h.begin; j < h.end; j++)
            for (int64_t k = w.begin, at = (i * sizes.from[1] + j) * sizes.from[2] + k; k < w.end; k++, at++) f(picture + at * channels + c, at);
      };
      best.clear();
      if constexpr (std::is_same_v<Wide<T>, float>)
        if (m >= Vec<float>::size) pool::best_of_many(m, 0, best, each_tap);
      if (std::any_of(best.index, best.index + m, [](int32_t at) { return at < 0; })) {  // too few channels, or nothing above the lowest number
        best.clear();
        each_tap([&](const T* from, int64_t at) { pool::keep_larger(from, std::integral_constant<int64_t, 1>{}, int32_t(at), 0, 0, m, best); });
      }
      convert(dtype_of<A>(), best.value, 1, dtype_of<T>(), most + o * channels + c, 1, m);
      std::copy_n(best.index, m, place + o * channels + c);
    }
  });
}

void adaptive_max_pool(const AdaptiveMaxPool& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  // The results decide, whose strides follow the order of the input's: a cut of a channels-last picture is not dense itself.
  const bool last = only_channels_last(out[0]) || (only_channels_last(in[0]) && is_channels_last(out[0].sizes(), out[0].strides()));
  const Tensor x = in_layout(in[0], last);
  const Sizes sizes(x.sizes(), op.output_size);
  const int64_t channels = x.sizes()[1], planes = last ? x.sizes()[0] : x.sizes()[0] * channels, lanes = last ? channels : 1;
  visit_real_dtype("adaptive_max_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_integral_v<T>)
      parallel_for(planes, kGrain / std::max<int64_t>(sizes.area * lanes, 1), [&](int64_t b, int64_t e) {
        Scratch<Wide<T>> buffer;
        for (int64_t p = b; p < e; p++) {
          const T* from = x.data<T>() + p * sizes.area * lanes;
          T* most = out[0].data<T>() + p * sizes.results * lanes;
          int64_t* place = out[1].data<int64_t>() + p * sizes.results * lanes;
          if (last) largest_of_channels(sizes, channels, from, most, place);
          else largest_of_plane(sizes, from, buffer, most, place);
        }
      });
  });
}

const bool bound = [] {
  set_kernel<AdaptiveMaxPool, adaptive_max_pool>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
