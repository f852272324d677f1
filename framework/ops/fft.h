// Discrete Fourier transforms. Source: https://pytorch.org/docs/stable/fft.html
//
// Three kernel ops do the work, complex to complex, real to half of the complex result, and back; they are each other's
// gradients. All named transforms are composites that check, pad and choose the scale.
#pragma once
#include "framework/ops/factory.h"

namespace weir {

struct FftC2c : Op {
  static constexpr Signature signature = "fft_c2c(input: Tensor, dim: list[int], scale: float, forward: bool) -> Tensor";
  static constexpr auto doc = "Transform of complex or real numbers over dim, times scale; complex. Shape: as input.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Layouts layouts = Layouts::apart;
  Dims dim;
  double scale;
  bool forward;
  static constexpr Fields fields{&FftC2c::dim, &FftC2c::scale, &FftC2c::forward};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct FftR2c : Op {
  static constexpr Signature signature = "fft_r2c(input: Tensor, dim: list[int], scale: float) -> Tensor";
  static constexpr auto doc = "Forward transform of real numbers over dim, times scale; of its last axis the first n / 2 + 1.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Layouts layouts = Layouts::apart;
  Dims dim;
  double scale;
  static constexpr Fields fields{&FftR2c::dim, &FftR2c::scale};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct FftC2r : Op {
  static constexpr Signature signature = "fft_c2r(input: Tensor, dim: list[int], scale: float, last_size: int) -> Tensor";
  static constexpr auto doc = "Backward transform over dim, times scale, of the first half of a Hermitian input; its last axis has last_size.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Layouts layouts = Layouts::apart;
  Dims dim;
  double scale;
  int64_t last_size;
  static constexpr Fields fields{&FftC2r::dim, &FftC2r::scale, &FftC2r::last_size};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// ---- over one axis -------------------------------------------------------------------------------------------
struct FftLine : Op {
  static constexpr Module module = Module::fft;
  static constexpr NewShape new_shape = NewShape::rows;
  std::optional<int64_t> n;
  int64_t dim;
  std::optional<Str> norm;
  static constexpr Fields fields{&FftLine::n, &FftLine::dim, &FftLine::norm};
};

struct Fft : FftLine {
  static constexpr Signature signature = "fft(input: Tensor, n: int | Tensor | None = None, dim: int = -1, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "Transform along dim, cut or padded with zeros to n.";
  Tensor compose(Inputs in) const;
};
struct Ifft : FftLine {
  static constexpr Signature signature = "ifft(input: Tensor, n: int | Tensor | None = None, dim: int = -1, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of fft.";
  // Of real numbers as ihfft below; of complex ones take_out says what is otherwise.
  static constexpr OutRule out{.history = OutHistory::kept};
  static constexpr NewShape new_shape = NewShape::as_made;
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};
struct Rfft : FftLine {
  static constexpr Signature signature = "rfft(input: Tensor, n: int | Tensor | None = None, dim: int = -1, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "Transform of real numbers: the first n / 2 + 1 results, which hold all.";
  Tensor compose(Inputs in) const;
};
struct Irfft : FftLine {
  static constexpr Signature signature = "irfft(input: Tensor, n: int | Tensor | None = None, dim: int = -1, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of rfft, real; n is 2 (size - 1) unless given.";
  Tensor compose(Inputs in) const;
};
struct Hfft : FftLine {
  static constexpr Signature signature = "hfft(input: Tensor, n: int | Tensor | None = None, dim: int = -1, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "Transform, real, of a Hermitian signal given by its first half.";
  Tensor compose(Inputs in) const;
};
struct Ihfft : FftLine {
  static constexpr Signature signature = "ihfft(input: Tensor, n: int | Tensor | None = None, dim: int = -1, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of hfft: of a real signal the first half.";
  // PyTorch conjugates the forward transform into out=, by an op that is recorded.
  static constexpr OutRule out{.history = OutHistory::kept};
  static constexpr NewShape new_shape = NewShape::as_made;
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

// ---- over several axes ---------------------------------------------------------------------------------------
struct FftGrid : Op {
  static constexpr Module module = Module::fft;
  static constexpr NewShape new_shape = NewShape::rows;
  std::optional<Dims> s, dim;
  std::optional<Str> norm;
  static constexpr Fields fields{&FftGrid::s, &FftGrid::dim, &FftGrid::norm};
};

struct Fftn : FftGrid {
  static constexpr Signature signature = "fftn(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = None, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "Transform along dim (all axes when None), each cut or padded with zeros to its s.";
  Tensor compose(Inputs in) const;
};
struct Ifftn : FftGrid {
  static constexpr Signature signature = "ifftn(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = None, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of fftn.";
  Tensor compose(Inputs in) const;
};
struct Rfftn : FftGrid {
  static constexpr Signature signature = "rfftn(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = None, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "Transform of real numbers: the first half along the last of dim.";
  Tensor compose(Inputs in) const;
};
struct Irfftn : FftGrid {
  static constexpr Signature signature = "irfftn(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = None, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of rfftn, real.";
  Tensor compose(Inputs in) const;
};
struct Hfftn : FftGrid {
  static constexpr Signature signature = "hfftn(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = None, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "Transform, real, of a signal that is Hermitian along the last of dim.";
  Tensor compose(Inputs in) const;
};
struct Ihfftn : FftGrid {
  static constexpr Signature signature = "ihfftn(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = None, norm: str | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of hfftn.";
  Tensor compose(Inputs in) const;
};

/// The same over two axes, the last ones unless told.
struct Fft2 : FftGrid {
  static constexpr Signature signature = "fft2(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = (-2,-1), norm: str | None = None) -> Tensor";
  static constexpr auto doc = "fftn over two axes.";
  Tensor compose(Inputs in) const;
};
struct Ifft2 : FftGrid {
  static constexpr Signature signature = "ifft2(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = (-2,-1), norm: str | None = None) -> Tensor";
  static constexpr auto doc = "ifftn over two axes.";
  Tensor compose(Inputs in) const;
};
struct Rfft2 : FftGrid {
  static constexpr Signature signature = "rfft2(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = (-2,-1), norm: str | None = None) -> Tensor";
  static constexpr auto doc = "rfftn over two axes.";
  Tensor compose(Inputs in) const;
};
struct Irfft2 : FftGrid {
  static constexpr Signature signature = "irfft2(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = (-2,-1), norm: str | None = None) -> Tensor";
  static constexpr auto doc = "irfftn over two axes.";
  Tensor compose(Inputs in) const;
};
struct Hfft2 : FftGrid {
  static constexpr Signature signature = "hfft2(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = (-2,-1), norm: str | None = None) -> Tensor";
  static constexpr auto doc = "hfftn over two axes.";
  Tensor compose(Inputs in) const;
};
struct Ihfft2 : FftGrid {
  static constexpr Signature signature = "ihfft2(input: Tensor, s: int | list[int] | None = None, dim: int | list[int] | None = (-2,-1), norm: str | None = None) -> Tensor";
  static constexpr auto doc = "ihfftn over two axes.";
  Tensor compose(Inputs in) const;
};

struct Fftshift : Op {
  static constexpr Signature signature = "fftshift(input: Tensor, dim: int | list[int] | None = None) -> Tensor";
  static constexpr auto doc = "Frequencies in rising order: the negative ones before the others. All axes when dim is None.";
  static constexpr Module module = Module::fft;
  static constexpr NewShape new_shape = NewShape::rows;
  static constexpr OutRule out{Out::none};
  std::optional<Dims> dim;
  static constexpr Fields fields{&Fftshift::dim};
  Tensor compose(Inputs in) const;
};
struct Ifftshift : Op {
  static constexpr Signature signature = "ifftshift(input: Tensor, dim: int | list[int] | None = None) -> Tensor";
  static constexpr auto doc = "The inverse of fftshift.";
  static constexpr Module module = Module::fft;
  static constexpr NewShape new_shape = NewShape::rows;
  static constexpr OutRule out{Out::none};
  std::optional<Dims> dim;
  static constexpr Fields fields{&Ifftshift::dim};
  Tensor compose(Inputs in) const;
};

/// What `fftfreq` and `rfftfreq` share.
struct Frequencies : Factory {
  static constexpr Module module = Module::fft;
  int64_t n;
  double d;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Frequencies::n, &Frequencies::d, &Frequencies::dtype, &Frequencies::device};
};

struct FftFreq : Frequencies {
  static constexpr Signature signature = "fftfreq(n: int, d: float = 1.0, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "The frequencies of fft's results for n samples at distance d: [0, 1, ..., -2, -1] / (d n). Shape: (n,).";
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct RfftFreq : Frequencies {
  static constexpr Signature signature = "rfftfreq(n: int, d: float = 1.0, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "The frequencies of rfft's results for n samples at distance d: [0, 1, ..., n // 2] / (d n). Shape: (n // 2 + 1,).";
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

using FftOps = OpList<FftC2c, FftR2c, FftC2r, Fft, Ifft, Rfft, Irfft, Hfft, Ihfft, Fftn, Ifftn, Rfftn, Irfftn, Hfftn, Ihfftn,
                      Fft2, Ifft2, Rfft2, Irfft2, Hfft2, Ihfft2, Fftshift, Ifftshift, FftFreq, RfftFreq>;

namespace fn {
inline constexpr Fn<FftC2c> fft_c2c;
inline constexpr Fn<FftR2c> fft_r2c;
inline constexpr Fn<FftC2r> fft_c2r;
inline constexpr Fn<Fft> fft;
inline constexpr Fn<Ifft> ifft;
inline constexpr Fn<Rfft> rfft;
inline constexpr Fn<Irfft> irfft;
inline constexpr Fn<Hfft> hfft;
inline constexpr Fn<Ihfft> ihfft;
inline constexpr Fn<Fftn> fftn;
inline constexpr Fn<Ifftn> ifftn;
inline constexpr Fn<Rfftn> rfftn;
inline constexpr Fn<Irfftn> irfftn;
inline constexpr Fn<Hfftn> hfftn;
inline constexpr Fn<Ihfftn> ihfftn;
inline constexpr Fn<Fft2> fft2;
inline constexpr Fn<Ifft2> ifft2;
inline constexpr Fn<Rfft2> rfft2;
inline constexpr Fn<Irfft2> irfft2;
inline constexpr Fn<Hfft2> hfft2;
inline constexpr Fn<Ihfft2> ihfft2;
inline constexpr Fn<Fftshift> fftshift;
inline constexpr Fn<Ifftshift> ifftshift;
}  // namespace fn

}  // namespace weir
