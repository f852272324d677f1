// Largest elements of windows chosen so that the result has a given size. Window i of n over a length L runs from floor(iL/n) to
// ceil((i+1)L/n).
#pragma once
#include "framework/op/call.h"

namespace weir {

struct AdaptiveMaxPool : Op {
  static constexpr Signature signature = "adaptive_max_pool_nd(input: Tensor, output_size: list[int]) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc = "Largest element of each window and its int64 index in the flattened plane. Shape: (N, C, *in) -> (N, C, *output_size).";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.outputs = 0b10};
  static constexpr uint8_t recorded = 0b1;
  Dims output_size;
  static constexpr std::tuple fields{&AdaptiveMaxPool::output_size};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using PoolAdaptiveOps = OpList<AdaptiveMaxPool>;

namespace fn {
inline constexpr Fn<AdaptiveMaxPool> adaptive_max_pool_nd;
}  // namespace fn

}  // namespace weir
