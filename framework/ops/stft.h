// Short-time Fourier transforms: composites over frames of a signal. Source: the PyTorch page of each name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Stft : Op {
  static constexpr Signature signature =
      "stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None, "
      "center: bool = True, pad_mode: str = 'reflect', normalized: bool = False, onesided: bool | None = None, "
      "return_complex: bool | None = None, align_to_window: bool | None = None) -> Tensor";
  static constexpr auto doc =
      "The transform of every frame of n_fft points, hop_length apart, times window. Shapes: (*, L) -> (*, frequencies, frames), "
      "or (*, frequencies, frames, 2) real where return_complex is False.";
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::float32;
  int64_t n_fft;
  std::optional<int64_t> hop_length, win_length;
  bool center;
  Str pad_mode;
  bool normalized;
  std::optional<bool> onesided, return_complex, align_to_window;
  static constexpr Fields fields{&Stft::n_fft, &Stft::hop_length, &Stft::win_length, &Stft::center, &Stft::pad_mode,
                                     &Stft::normalized, &Stft::onesided, &Stft::return_complex, &Stft::align_to_window};
  Tensor compose(Inputs in) const;
};

struct Istft : Op {
  static constexpr Signature signature =
      "istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None, "
      "center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None, "
      "return_complex: bool = False) -> Tensor";
  static constexpr auto doc =
      "The signal whose stft is nearest to input: frames transformed back, times window, added where they overlap, over the sum "
      "of squared windows. Shapes: (*, frequencies, frames) -> (*, length).";
  static constexpr OutRule out{Out::none};
  int64_t n_fft;
  std::optional<int64_t> hop_length, win_length;
  bool center, normalized;
  std::optional<bool> onesided;
  std::optional<int64_t> length;
  bool return_complex;
  static constexpr Fields fields{&Istft::n_fft, &Istft::hop_length, &Istft::win_length, &Istft::center, &Istft::normalized,
                                     &Istft::onesided, &Istft::length, &Istft::return_complex};
  Tensor compose(Inputs in) const;
};

using StftOps = OpList<Stft, Istft>;

namespace fn {
inline constexpr Fn<Stft> stft;
inline constexpr Fn<Istft> istft;
}  // namespace fn

}  // namespace weir
