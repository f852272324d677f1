#include "framework/ops/gating.h"

#include "framework/core/parallel.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Of as many neighbours as fill a vector: dy times the gate, and times a and the gate's slope.
template <class T> void open_gate(Vec<T> dy, Vec<T> a, Vec<T> b, T* da, T* db) {
  const Vec<T> one(T(1)), gate = one / (one + exp(-b));
  (dy * gate).store(da);
  (dy * a * (one - gate) * gate).store(db);
}

template <class T> void glu_lines(const T* dy, const T* x, T* dx, int64_t outer, int64_t half) {
  constexpr int64_t w = Vec<T>::size;
  parallel_for(outer, kGrain / half, [&](int64_t from, int64_t to) {
    for (int64_t l = from; l < to; l++) {
      const T *g = dy + l * half, *a = x + 2 * l * half, *b = a + half;
      T *da = dx + 2 * l * half, *db = da + half;
      int64_t i = 0;
      for (; i + w <= half; i += w) open_gate<T>(Vec<T>::load(g + i), Vec<T>::load(a + i), Vec<T>::load(b + i), da + i, db + i);
      if (i == half) continue;
      T rest[5][w] = {};  // through a vector too, so that the numbers do not depend on where they stand
      std::copy_n(g + i, half - i, rest[0]), std::copy_n(a + i, half - i, rest[1]), std::copy_n(b + i, half - i, rest[2]);
      open_gate<T>(Vec<T>::load(rest[0]), Vec<T>::load(rest[1]), Vec<T>::load(rest[2]), rest[3], rest[4]);
      std::copy_n(rest[3], half - i, da + i), std::copy_n(rest[4], half - i, db + i);
    }
  });
}

void glu_backward(const GluBackward& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  const Axis axis(out[0].sizes(), op.dim, "glu");
  const Tensor dy = row_major(in[0]), x = row_major(in[1]);
  auto run = [&]<class T>(TypeTag<T>) { glu_lines(dy.data<T>(), x.data<T>(), out[0].data<T>(), axis.outer, axis.n / 2 * axis.inner); };
  x.dtype() == DType::float64 ? run(TypeTag<double>{}) : run(TypeTag<float>{});
}

const bool bound = [] {
  set_kernel<GluOf, [](const GluOf&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }>(DeviceType::cpu);
  set_kernel<GluBackward, glu_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
