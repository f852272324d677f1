// Max pooling over windows whose starts are drawn. Source: Graham 2014.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct FractionalMaxPool : Op {
  static constexpr Signature signature =
      "fractional_max_pool(input: Tensor, random_samples: Tensor, kernel_size: list[int], output_size: list[int]) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc =
      "The largest element of each window and its place in the flattened plane. Shapes: (N, C, *spatial), (N, C, axes) in [0, 1), which say "
      "where windows start: by axis for three, the last axis first for two -> (N, C, *output_size), int64.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr Save saves{.outputs = 0b10};
  static constexpr GradientRule gradient{.of_complex = false, .outputs = 0b1};
  Dims kernel_size, output_size;
  static constexpr Fields fields{&FractionalMaxPool::kernel_size, &FractionalMaxPool::output_size};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct FractionalPool : Op {
  static constexpr Signature signature =
      "fractional_pool(input: Tensor, random_samples: Tensor | None, axes: int, kernel_size: list[int], output_size: list[int] | None, "
      "output_ratio: list[float] | None) -> (output: Tensor, indices: Tensor)";
  static constexpr auto doc =
      "fractional_max_pool of (N, C, *spatial) or (C, *spatial) with two or three axes, to output_size or to output_ratio of input's. Samples that are "
      "not given are drawn in input's dtype.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  int64_t axes;
  Dims kernel_size;
  std::optional<Dims> output_size;
  std::optional<Floats> output_ratio;
  static constexpr Fields fields{&FractionalPool::axes, &FractionalPool::kernel_size, &FractionalPool::output_size, &FractionalPool::output_ratio};
  Tensors compose(Inputs in) const;
};

using FractionalOps = OpList<FractionalMaxPool, FractionalPool>;

namespace fn {
inline constexpr Fn<FractionalMaxPool> fractional_max_pool;
}

}  // namespace weir
