// Sampling at given places. Source: Jaderberg et al. 2015, and PyTorch's GridSampler for borders.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct GridSample : Op {
  static constexpr Signature signature =
      "grid_sampler_forward(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor";
  static constexpr auto doc =
      "input (N, C, [D,] H, W) at the places grid (N, ..., rank) names, last axis first, -1 to 1 from border to border. Modes: 0 "
      "bilinear, 1 nearest, 2 bicubic; outside lie 0 zeros, 1 the border, 2 the mirror image.";
  static constexpr Notation notation = "gather";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  int64_t interpolation_mode, padding_mode;
  bool align_corners;
  static constexpr Fields fields{&GridSample::interpolation_mode, &GridSample::padding_mode, &GridSample::align_corners};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GridSampleBackward : Op {
  static constexpr Signature signature =
      "grid_sampler_backward(grad_output: Tensor, input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> (grad_input: Tensor, grad_grid: Tensor)";
  static constexpr auto doc = "Gradients of grid_sampler_forward. Their own are those of sampling in parts.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b111};
  int64_t interpolation_mode, padding_mode;
  bool align_corners;
  static constexpr Fields fields{&GridSampleBackward::interpolation_mode, &GridSampleBackward::padding_mode, &GridSampleBackward::align_corners};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GridSampler : Op {
  static constexpr Signature signature =
      "grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor";
  static constexpr auto doc = "grid_sampler_forward of images or volumes.";
  static constexpr Module module = Module::function;
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr OutRule out{Out::none};
  int64_t interpolation_mode, padding_mode;
  bool align_corners;
  static constexpr Fields fields{&GridSampler::interpolation_mode, &GridSampler::padding_mode, &GridSampler::align_corners};
  Tensor compose(Inputs in) const;
};

struct GridSampler2d : Op {
  static constexpr Signature signature =
      "grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor";
  static constexpr auto doc = "grid_sampler of images.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::none};
  int64_t interpolation_mode, padding_mode;
  bool align_corners;
  static constexpr Fields fields{&GridSampler2d::interpolation_mode, &GridSampler2d::padding_mode, &GridSampler2d::align_corners};
  Tensor compose(Inputs in) const;
};

struct GridSampler3d : Op {
  static constexpr Signature signature =
      "grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor";
  static constexpr auto doc = "grid_sampler of volumes.";
  static constexpr Module module = Module::function;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::none};
  int64_t interpolation_mode, padding_mode;
  bool align_corners;
  static constexpr Fields fields{&GridSampler3d::interpolation_mode, &GridSampler3d::padding_mode, &GridSampler3d::align_corners};
  Tensor compose(Inputs in) const;
};

struct AffineGrid : Op {
  static constexpr Signature signature = "affine_grid_generator(theta: Tensor, size: list[int], align_corners: bool) -> Tensor";
  static constexpr auto doc = "Sampling grid (N, [D,] H, W, rank) of the affine maps theta (N, rank, rank + 1) for results of `size`.";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::none};
  Dims size;
  bool align_corners;
  static constexpr Fields fields{&AffineGrid::size, &AffineGrid::align_corners};
  Tensor compose(Inputs in) const;
};

using GridOps = OpList<GridSample, GridSampleBackward, GridSampler, GridSampler2d, GridSampler3d, AffineGrid>;

namespace fn {
inline constexpr Fn<GridSample> grid_sampler_forward;
inline constexpr Fn<GridSampleBackward> grid_sampler_backward;
inline constexpr Fn<GridSampler> grid_sampler;
inline constexpr Fn<GridSampler2d> grid_sampler_2d;
inline constexpr Fn<GridSampler3d> grid_sampler_3d;
inline constexpr Fn<AffineGrid> affine_grid_generator;
}  // namespace fn

}  // namespace weir
