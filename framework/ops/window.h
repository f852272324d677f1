// Windows for spectral analysis, as many points long as one asks for. Source of each: the page of its name under torch.
#pragma once
#include "framework/ops/factory.h"

namespace weir {

/// A row of `length` numbers with fractions. RuntimeError for a negative length and for a dtype without them.
Meta window_meta(std::string_view name, int64_t length, std::optional<DType> dtype, std::optional<Device> device);

/// What the windows share: `window_length` points of one period, or, unless `periodic`, of a symmetric window.
struct Window : Factory {
  static constexpr OutRule out{Out::none};
  int64_t window_length;
  bool periodic;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Window::window_length, &Window::periodic, &Window::dtype, &Window::device};
};
template <class Derived> struct Named : Window {
  Meta infer(Inputs) const { return window_meta(Derived::signature.name, window_length, dtype, device); }
};

struct BartlettWindow : Named<BartlettWindow> {
  static constexpr Signature signature =
      "bartlett_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "The triangle 1 - |x| for x from -1 to 1. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
};
struct BlackmanWindow : Named<BlackmanWindow> {
  static constexpr Signature signature =
      "blackman_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "0.42 - 0.5 cos(x) + 0.08 cos(2 x) over one turn. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
};
struct HannWindow : Named<HannWindow> {
  static constexpr Signature signature =
      "hann_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "(1 - cos(x)) / 2 over one turn. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
};
struct HammingWindow : Named<HammingWindow> {
  static constexpr Signature signature =
      "hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: dtype | None = None, "
      "device: device | None = None) -> Tensor";
  static constexpr auto doc = "alpha - beta cos(x) over one turn. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
  double alpha, beta;
  static constexpr Fields fields{&HammingWindow::window_length, &HammingWindow::periodic, &HammingWindow::alpha, &HammingWindow::beta,
                                     &HammingWindow::dtype, &HammingWindow::device};
};
struct KaiserWindow : Named<KaiserWindow> {
  static constexpr Signature signature =
      "kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: dtype | None = None, "
      "device: device | None = None) -> Tensor";
  static constexpr auto doc = "i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
  double beta;
  static constexpr Fields fields{&KaiserWindow::window_length, &KaiserWindow::periodic, &KaiserWindow::beta, &KaiserWindow::dtype,
                                     &KaiserWindow::device};
};

struct GeneralCosineWindow : Named<GeneralCosineWindow> {
  static constexpr Signature signature =
      "general_cosine_window(a: Tensor, window_length: int, periodic: bool, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "The sum over i of (-1)^i a_i cos(i x) for x over one turn, a being of float64. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::hidden;
  Meta infer(Inputs in) const;
};
struct CosineWindow : Named<CosineWindow> {
  static constexpr Signature signature =
      "cosine_window(window_length: int, periodic: bool, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Half a period of the sine, at the middle of each of window_length parts, one more where periodic. Shape: (window_length,).";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::hidden;
};

/// Windows over the distance from a centre, counted in points from the first one.
template <class Derived> struct Centred : Factory {
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::hidden;
  int64_t window_length;
  double center, width;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Centred::window_length, &Centred::center, &Centred::width, &Centred::dtype, &Centred::device};
  Meta infer(Inputs) const { return window_meta(Derived::signature.name, window_length, dtype, device); }
};
struct ExponentialWindow : Centred<ExponentialWindow> {
  static constexpr Signature signature =
      "exponential_window(window_length: int, center: float, tau: float, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "exp(-|n - center| / tau). Shape: (window_length,).";
  static constexpr Notation notation = "fill";
};
struct GaussianWindow : Centred<GaussianWindow> {
  static constexpr Signature signature =
      "gaussian_window(window_length: int, center: float, std: float, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "exp(-((n - center) / std)^2 / 2). Shape: (window_length,).";
  static constexpr Notation notation = "fill";
};

using WindowOps = OpList<BartlettWindow, BlackmanWindow, HannWindow, HammingWindow, KaiserWindow, GeneralCosineWindow, CosineWindow, ExponentialWindow, GaussianWindow>;

}  // namespace weir
