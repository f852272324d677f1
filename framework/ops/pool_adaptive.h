// Pools over windows chosen so that the result has a given size. Window i of n over a length L runs from floor(iL/n) to
// ceil((i+1)L/n). Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct AdaptiveMaxPool : Op {
  static constexpr Signature signature = "adaptive_max_pool_nd(input: Tensor, output_size: list[int]) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc = "Largest element of each window and its int64 index in the flattened plane. Shape: (N, C, *in) -> (N, C, *output_size).";
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.outputs = 0b10};
  static constexpr GradientRule gradient{.outputs = 0b1};
  Dims output_size;
  static constexpr Fields fields{&AdaptiveMaxPool::output_size};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// What calls of users share: a size for each of the last axes, of which a single number stands for one axis only.
struct Adaptive : Op {
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  Dims output_size;
  static constexpr Fields fields{&Adaptive::output_size};
};

struct AdaptiveAvgPool1d : Adaptive {
  static constexpr Signature signature = "adaptive_avg_pool1d(input: Tensor, output_size: int | list[int]) -> Tensor";
  static constexpr auto doc = "Means of (N, C, L) or (C, L) pooled to a length.";
  Tensor compose(Inputs in) const;
};
struct AdaptiveAvgPool2d : Adaptive {
  static constexpr Signature signature = "adaptive_avg_pool2d(input: Tensor, output_size: list[int]) -> Tensor";
  static constexpr auto doc = "Means of (N, C, H, W) or (C, H, W) pooled to output_size; to one number each, of any planes.";
  Tensor compose(Inputs in) const;
};
struct AdaptiveAvgPool3d : Adaptive {
  static constexpr Signature signature = "adaptive_avg_pool3d(input: Tensor, output_size: list[int]) -> Tensor";
  static constexpr auto doc = "Means of (N, C, D, H, W) or (C, D, H, W) pooled to output_size; to one number each, of any volumes.";
  static constexpr Autocast autocast = Autocast::float32;
  Tensor compose(Inputs in) const;
};

struct AdaptiveMaxPool1d : Adaptive {
  static constexpr Signature signature = "adaptive_max_pool1d(input: Tensor, output_size: int | list[int]) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc = "Maxima of (N, C, L) or (C, L) pooled to a length, and their positions.";
  Tensors compose(Inputs in) const;
};
struct AdaptiveMaxPool2d : Adaptive {
  static constexpr Signature signature = "adaptive_max_pool2d(input: Tensor, output_size: list[int]) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc = "Maxima of (N, C, H, W) or (C, H, W) pooled to output_size, and their positions in the plane.";
  Tensors compose(Inputs in) const;
};
struct AdaptiveMaxPool3d : Adaptive {
  static constexpr Signature signature = "adaptive_max_pool3d(input: Tensor, output_size: list[int]) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc = "Maxima of (N, C, D, H, W) or (C, D, H, W) pooled to output_size, and their positions in the volume.";
  static constexpr Autocast autocast = Autocast::float32;
  Tensors compose(Inputs in) const;
};

using PoolAdaptiveOps = OpList<AdaptiveMaxPool, AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d>;

namespace fn {
inline constexpr Fn<AdaptiveMaxPool> adaptive_max_pool_nd;
inline constexpr Fn<AdaptiveAvgPool1d> adaptive_avg_pool1d;
inline constexpr Fn<AdaptiveAvgPool2d> adaptive_avg_pool2d;
inline constexpr Fn<AdaptiveAvgPool3d> adaptive_avg_pool3d;
}  // namespace fn

}  // namespace weir
