// Maps along axes: each result is a weighted sum of a few elements. Padding by reflection, replication and wrapping round, and interpolation
// in all modes, one axis after the other.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct PadBorder : Op {
  static constexpr Signature signature = "pad_border(input: Tensor, pad: list[int], mode: str) -> Tensor";
  static constexpr auto doc =
      "The last axes with further elements, or fewer where negative: `pad` holds (before, after) pairs from the last axis on; mode: reflect, replicate or circular.";
  static constexpr Notation notation = "move";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  Dims pad;
  Str mode;
  static constexpr Fields fields{&PadBorder::pad, &PadBorder::mode};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct PadBorderBackward : Op {
  static constexpr Signature signature = "pad_border_backward(grad_output: Tensor, dim: int, size: int, before: int, mode: str) -> Tensor";
  static constexpr auto doc = "The gradient of pad_border along one axis: what each of `size` elements was copied to, summed.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  int64_t dim, size, before;
  Str mode;
  static constexpr Fields fields{&PadBorderBackward::dim, &PadBorderBackward::size, &PadBorderBackward::before, &PadBorderBackward::mode};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// How the elements of an interpolated axis lie among those it came from.
struct Grid {
  double step;          // old elements per new one
  Str mode;             // nearest, nearest-exact, linear, bicubic
  bool align_corners, antialias;
};

struct Resample : Op {
  static constexpr Signature signature =
      "resample(input: Tensor, dim: int, size: int, step: float, mode: str, align_corners: bool, antialias: bool) -> Tensor";
  static constexpr auto doc = "dim interpolated at `size` places `step` apart; mode: nearest, nearest-exact, linear or bicubic.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  int64_t dim, size;
  double step;
  Str mode;
  bool align_corners, antialias;
  static constexpr Fields fields{&Resample::dim, &Resample::size, &Resample::step, &Resample::mode, &Resample::align_corners, &Resample::antialias};
  Grid grid() const { return {step, mode, align_corners, antialias}; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ResampleBackward : Op {
  static constexpr Signature signature =
      "resample_backward(grad_output: Tensor, dim: int, size: int, step: float, mode: str, align_corners: bool, antialias: bool) -> Tensor";
  static constexpr auto doc = "The gradient of resample with respect to an axis of `size` elements.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  int64_t dim, size;
  double step;
  Str mode;
  bool align_corners, antialias;
  static constexpr Fields fields{&ResampleBackward::dim, &ResampleBackward::size, &ResampleBackward::step, &ResampleBackward::mode,
                                     &ResampleBackward::align_corners, &ResampleBackward::antialias};
  Grid grid() const { return {step, mode, align_corners, antialias}; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Interpolate : Op {
  static constexpr Signature signature =
      "upsample(input: Tensor, size: list[int], steps: list[float], mode: str, align_corners: bool = False, antialias: bool = False) -> Tensor";
  static constexpr auto doc =
      "The axes after the second at `size` places each, `steps` old elements apart. Shape: (N, C, *size). Source: PyTorch's interpolate.";
  static constexpr Module module = Module::hidden;
  Dims size;
  Floats steps;
  Str mode;
  bool align_corners, antialias;
  static constexpr Fields fields{&Interpolate::size, &Interpolate::steps, &Interpolate::mode, &Interpolate::align_corners, &Interpolate::antialias};
  Tensor compose(Inputs in) const;
};

struct Resize : Op {
  static constexpr Signature signature =
      "interpolate(input: Tensor, size: list[int] | None = None, scale_factor: list[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, "
      "recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor";
  static constexpr auto doc =
      "(N, C, *spatial) resized to `size` or by `scale_factor`, a number for each axis. mode: nearest, nearest-exact, linear (3-d input), bilinear and bicubic "
      "(4-d), lanczos (4-d, with antialias), trilinear (5-d), area. ValueError for contradicting arguments, NotImplementedError for a mode unfit for the input.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  std::optional<Dims> size;
  std::optional<Floats> scale_factor;
  Str mode;
  std::optional<bool> align_corners, recompute_scale_factor;
  bool antialias;
  static constexpr Fields fields{&Resize::size, &Resize::scale_factor, &Resize::mode, &Resize::align_corners, &Resize::recompute_scale_factor, &Resize::antialias};
  Tensor compose(Inputs in) const;
};

using ResampleOps = OpList<PadBorder, PadBorderBackward, Resample, ResampleBackward, Interpolate, Resize>;

namespace fn {
inline constexpr Fn<PadBorder> pad_border;
inline constexpr Fn<PadBorderBackward> pad_border_backward;
inline constexpr Fn<Resample> resample;
inline constexpr Fn<ResampleBackward> resample_backward;
inline constexpr Fn<Interpolate> upsample;
}  // namespace fn

}  // namespace weir
