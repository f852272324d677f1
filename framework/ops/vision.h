// Channels and features rearranged or combined. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct ChannelShuffle : Op {
  static constexpr Signature signature = "channel_shuffle(input: Tensor, groups: int) -> Tensor";
  static constexpr auto doc = "Channels of (N, C, *) taken in turn from `groups` groups, row-major. Source: Zhang et al. 2017.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  int64_t groups;
  static constexpr Fields fields{&ChannelShuffle::groups};
  Tensor compose(Inputs in) const;
};

struct PixelShuffle : Op {
  static constexpr Signature signature = "pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor";
  static constexpr auto doc = "(*, C r^2, H, W) -> (*, C, H r, W r), row-major. Source: Shi et al. 2016.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  int64_t upscale_factor;
  static constexpr Fields fields{&PixelShuffle::upscale_factor};
  Tensor compose(Inputs in) const;
};

struct PixelUnshuffle : Op {
  static constexpr Signature signature = "pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor";
  static constexpr auto doc = "(*, C, H r, W r) -> (*, C r^2, H, W), the inverse of pixel_shuffle.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  int64_t downscale_factor;
  static constexpr Fields fields{&PixelUnshuffle::downscale_factor};
  Tensor compose(Inputs in) const;
};

struct ConvTbc : Op {
  static constexpr Signature signature = "conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor";
  static constexpr auto doc =
      "A convolution over time first. Shapes: (T, B, C_in), (K, C_in, C_out), (C_out) to (T + 2 pad - K + 1, B, C_out).";
  static constexpr Module module = Module::function;
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::none};
  int64_t pad;
  static constexpr Fields fields{&ConvTbc::pad};
  Tensor compose(Inputs in) const;
};

struct Bilinear : Op {
  static constexpr Signature signature = "bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "x1^T W_k x2 + b_k for each output k. Shapes: (*, I), (*, J), (K, I, J), (K) -> (*, K).";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

using VisionOps = OpList<ChannelShuffle, PixelShuffle, PixelUnshuffle, ConvTbc, Bilinear>;

namespace fn {
inline constexpr Fn<ChannelShuffle> channel_shuffle;
inline constexpr Fn<PixelShuffle> pixel_shuffle;
inline constexpr Fn<PixelUnshuffle> pixel_unshuffle;
inline constexpr Fn<ConvTbc> conv_tbc;
inline constexpr Fn<Bilinear> bilinear;
}  // namespace fn

}  // namespace weir
