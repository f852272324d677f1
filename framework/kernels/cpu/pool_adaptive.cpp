#include "framework/ops/pool_adaptive.h"

#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/loops.h"

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

void adaptive_max_pool(const AdaptiveMaxPool& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  Tensor x = row_major(in[0]);
  const int n = op.output_size.n;
  int64_t from[3] = {1, 1, 1}, to[3] = {1, 1, 1};  // depth, height, width
  for (int i = 0; i < n; i++) from[3 - n + i] = x.sizes()[i + 2], to[3 - n + i] = op.output_size[i];
  const int64_t area = from[0] * from[1] * from[2], results = to[0] * to[1] * to[2], planes = x.sizes()[0] * x.sizes()[1];
  std::vector<Span> columns;
  for (int64_t i = 0; i < to[2]; i++) columns.push_back(window(i, to[2], from[2]));
  visit_real_dtype("adaptive_max_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
    parallel_for(planes, kGrain / std::max<int64_t>(area, 1), [&](int64_t b, int64_t e) {
      for (int64_t p = b; p < e; p++) {
        const T* plane = x.data<T>() + p * area;
        T* most = out[0].data<T>() + p * results;
        int64_t* place = out[1].data<int64_t>() + p * results;
        for (int64_t row = 0; row < to[0] * to[1]; row++, most += to[2], place += to[2]) {
          const Span d = window(row / to[1], to[0], from[0]), h = window(row % to[1], to[1], from[1]);
          for (int64_t c = 0; c < to[2]; c++) {
            const Span w = columns[c];
            int64_t best = (d.begin * from[1] + h.begin) * from[2] + w.begin;
            A high = A(plane[best]);
            for (int64_t i = d.begin; i < d.end; i++)
              for (int64_t j = h.begin; j < h.end; j++) {
                const int64_t line = (i * from[1] + j) * from[2];
                keep_largest(plane, line + w.begin, line + w.end, high, best);
              }
            most[c] = plane[best], place[c] = best;
          }
        }
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
