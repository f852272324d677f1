// Pooling as loops over planes, in either layout of pictures.
#pragma once
#include <algorithm>
#include <type_traits>

#include "framework/kernels/cpu/layouts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/widths.h"

namespace weir {
namespace WEIR_ISA {
namespace pool {

/// A pooling problem as (batch, planes of `lanes` interleaved channels): row-major tensors have one lane, channels_last
/// ones have all channels as lanes, so the innermost loop is dense in both.
struct Planes {
  int64_t count, lanes, in_area = 1, out_area = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};  // depth, height, width
  Planes(const Dims& in_sizes, const Dims& out_sizes, bool last) {
    int n = in_sizes.n - 2;
    for (int i = 0; i < n; i++) {
      in[3 - n + i] = in_sizes[i + 2], out[3 - n + i] = out_sizes[i + 2];
      in_area *= in_sizes[i + 2], out_area *= out_sizes[i + 2];
    }
    lanes = last ? in_sizes[1] : 1;
    count = in_sizes[0] * (last ? 1 : in_sizes[1]);
  }
};
/// Where windows of an op lie.
struct Window {
  int64_t k[3] = {1, 1, 1}, s[3] = {1, 1, 1}, p[3] = {0, 0, 0}, d[3] = {1, 1, 1};
  template <class Op> explicit Window(const Op& op) {
    int n = op.kernel_size.n;
    for (int i = 0; i < n; i++) {
      k[3 - n + i] = op.kernel_size[i], s[3 - n + i] = op.stride[i], p[3 - n + i] = op.padding[i];
      if constexpr (requires { op.dilation; }) d[3 - n + i] = op.dilation[i];
    }
  }
};

/// Calls f with the type of a dtype that is pooled.
template <class F> void by_type(DType t, F&& f) {
  visit_real_dtype("pooling", t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) throw NotImplemented("pooling: not implemented for 'bool'");
    else f(tag);
  });
}
/// What numbers of type T are added up in.
template <class T> using Acc = std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

constexpr int64_t kLanes = 64;

/// f(registers as a constant, first lane) for all of n lanes, which fill a register at least: four registers at a time, then single ones, of which the
/// last has some lanes again, rather than one by one.
template <class T, class F> void for_lanes(int64_t n, F&& f) {
  constexpr int64_t w = Vec<T>::size;
  int64_t lane = 0;
  for (; lane + 4 * w <= n; lane += 4 * w) f(std::integral_constant<int, 4>{}, lane);
  for (; lane < n; lane += w) f(std::integral_constant<int, 1>{}, std::min(lane, n - w));
}

}  // namespace pool
}  // namespace WEIR_ISA
}  // namespace weir
