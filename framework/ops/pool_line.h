// Pools over one axis, as pools over pictures of one row, and the way back from maxima to their places.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct AvgPool1d : Op {
  static constexpr Signature signature =
      "avg_pool1d(input: Tensor, kernel_size: int | list[int], stride: int | list[int] | None = None, padding: int | list[int] = 0, ceil_mode: bool = False, "
      "count_include_pad: bool = True) -> Tensor";
  static constexpr auto doc = "Means over windows of (N, C, L) or (C, L); without a stride they lie side by side.";
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::functional;
  Dims kernel_size;
  std::optional<Dims> stride;
  Dims padding;
  bool ceil_mode, count_include_pad;
  static constexpr Fields fields{&AvgPool1d::kernel_size, &AvgPool1d::stride, &AvgPool1d::padding, &AvgPool1d::ceil_mode, &AvgPool1d::count_include_pad};
  Tensor compose(Inputs in) const;
};

struct MaxPool1dWithIndices : Op {
  static constexpr Signature signature =
      "max_pool1d_with_indices(input: Tensor, kernel_size: int | list[int], stride: int | list[int] | None = None, padding: int | list[int] = 0, "
      "dilation: int | list[int] = 1, ceil_mode: bool = False) -> list[Tensor]";
  static constexpr auto doc = "Largest elements of windows of (N, C, L) or (C, L), and their positions.";
  static constexpr Module module = Module::hidden;
  Dims kernel_size;
  std::optional<Dims> stride;
  Dims padding, dilation;
  bool ceil_mode;
  static constexpr Fields fields{&MaxPool1dWithIndices::kernel_size, &MaxPool1dWithIndices::stride, &MaxPool1dWithIndices::padding,
                                     &MaxPool1dWithIndices::dilation, &MaxPool1dWithIndices::ceil_mode};
  Tensors compose(Inputs in) const;
};

struct MaxPool1d : Op {
  static constexpr Signature signature =
      "max_pool1d(input: Tensor, kernel_size: int | list[int], stride: int | list[int] | None = None, padding: int | list[int] = 0, "
      "dilation: int | list[int] = 1, ceil_mode: bool = False) -> Tensor";
  static constexpr auto doc = "Largest elements of windows of (N, C, L) or (C, L); row-major where nothing is recorded, as in PyTorch.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  Dims kernel_size;
  std::optional<Dims> stride;
  Dims padding, dilation;
  bool ceil_mode;
  static constexpr Fields fields{&MaxPool1d::kernel_size, &MaxPool1d::stride, &MaxPool1d::padding, &MaxPool1d::dilation, &MaxPool1d::ceil_mode};
  Tensor compose(Inputs in) const;
};

struct MaxOfWindows : Op {
  static constexpr Signature signature = "max_of_windows(input: Tensor, windows: int, kernel_size: int, stride: int, padding: int, dilation: int) -> Tensor";
  static constexpr auto doc = "The largest elements of so many windows along the last axis, of which nobody asks where they stood.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  int64_t windows, kernel_size, stride, padding, dilation;
  static constexpr Fields fields{&MaxOfWindows::windows, &MaxOfWindows::kernel_size, &MaxOfWindows::stride, &MaxOfWindows::padding, &MaxOfWindows::dilation};
  Meta infer(Inputs in) const;
};

struct MaxUnpool : Op {
  static constexpr Signature signature =
      "max_unpool_nd(input: Tensor, indices: Tensor, output_size: list[int], stride: list[int] | None = None, padding: list[int] | None = None) -> Tensor";
  static constexpr auto doc =
      "Puts values of (N, C, *in) or (C, *in) back where a max pool over as many axes as output_size has found them, zeros elsewhere. Shape: (N, C, *output_size).";
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  Dims output_size;
  std::optional<Dims> stride, padding;
  static constexpr Fields fields{&MaxUnpool::output_size, &MaxUnpool::stride, &MaxUnpool::padding};
  Tensor compose(Inputs in) const;
};

using PoolLineOps = OpList<AvgPool1d, MaxPool1dWithIndices, MaxPool1d, MaxOfWindows, MaxUnpool>;

namespace fn {
inline constexpr Fn<AvgPool1d> avg_pool1d;
inline constexpr Fn<MaxOfWindows> max_of_windows;
inline constexpr Fn<MaxPool1dWithIndices> max_pool1d_with_indices;
}  // namespace fn

}  // namespace weir
