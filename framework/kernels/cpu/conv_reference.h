// Convolutions number by number, for dtypes, sizes and numbers that faster ways refuse.
#pragma once
#include <algorithm>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// f(input, weight, output) for every three places that meet.
template <class Op, class F> void for_taps(const Op& op, const Dims& in, const Dims& w, const Dims& out, F&& f) {
  int n = in.n - 2;
  int64_t cg = w[1], og = w[0] / op.groups, taps = 1;
  for (int i = 0; i < n; i++) taps *= w[i + 2];
  int64_t places = 1;
  for (int i = 0; i < n; i++) places *= out[i + 2];
  for (int64_t b = 0; b < out[0]; b++)
    for (int64_t p = 0; p < places; p++)
      for (int64_t k = 0; k < taps; k++) {
        int64_t rest = p, tap = k, in_at = 0, step = 1;
        bool inside = true;
        for (int i = n; i-- > 0;) {
          int64_t at = rest % out[i + 2] * op.stride[i] - op.padding[i] + tap % w[i + 2] * op.dilation[i];
          inside &= at >= 0 && at < in[i + 2];
          in_at += at * step;
          step *= in[i + 2];
          rest /= out[i + 2];
          tap /= w[i + 2];
        }
        if (!inside) continue;
        for (int64_t o = 0; o < w[0]; o++)
          for (int64_t c = 0; c < cg; c++)
            f((b * in[1] + o / og * cg + c) * step + in_at, (o * cg + c) * taps + k, (b * w[0] + o) * places + p);
      }
}
/// out[o] += a[i] * b[k] for every three places that `each` names, in double, or in int64 for integers.
template <class T, class Each> void accumulate_as(const Tensor& a, const Tensor& b, const Tensor& out, Each&& each) {
  Tensor x = copied(a, Meta(a.sizes(), dtype_of<T>())), w = copied(b, Meta(b.sizes(), dtype_of<T>())), sum = empty(out.sizes(), dtype_of<T>());
  T *px = x.data<T>(), *pw = w.data<T>(), *po = sum.data<T>();
  std::fill_n(po, sum.numel(), T(0));
  each([=](int64_t i, int64_t k, int64_t o) { po[o] += px[i] * pw[k]; });
  run_copy(sum, out);
}
template <class Each> void accumulate(const Tensor& a, const Tensor& b, const Tensor& out, Each&& each) {
  if (is_floating(out.dtype())) accumulate_as<double>(a, b, out, each);
  else accumulate_as<int64_t>(a, b, out, each);
}

}  // namespace WEIR_ISA
}  // namespace weir
