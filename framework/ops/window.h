// Windows for spectral analysis, as many points long as one asks for. Source of each: the page of its name under torch.
#pragma once
#include "framework/ops/factory.h"

namespace weir {

/// What the windows share: `window_length` points of one period, or, unless `periodic`, of a symmetric window. RuntimeError for a negative
/// length and for a dtype without fractions.
struct Window : Factory {
  static constexpr Out out = Out::none;
  int64_t window_length;
  bool periodic;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr std::tuple fields{&Window::window_length, &Window::periodic, &Window::dtype, &Window::device};
  Meta infer_as(std::string_view name) const;
};
template <class Derived> struct Named : Window {
  Meta infer(Inputs) const { return infer_as(Derived::signature.name); }
};

struct BartlettWindow : Named<BartlettWindow> {
  static constexpr Signature signature =
      "bartlett_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "The triangle 1 - |x| for x from -1 to 1. Shape: (window_length,).";
};
struct BlackmanWindow : Named<BlackmanWindow> {
  static constexpr Signature signature =
      "blackman_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "0.42 - 0.5 cos(x) + 0.08 cos(2 x) over one turn. Shape: (window_length,).";
};
struct HannWindow : Named<HannWindow> {
  static constexpr Signature signature =
      "hann_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "(1 - cos(x)) / 2 over one turn. Shape: (window_length,).";
};
struct HammingWindow : Named<HammingWindow> {
  static constexpr Signature signature =
      "hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: dtype | None = None, "
      "device: device | None = None) -> Tensor";
  static constexpr auto doc = "alpha - beta cos(x) over one turn. Shape: (window_length,).";
  double alpha, beta;
  static constexpr std::tuple fields{&HammingWindow::window_length, &HammingWindow::periodic, &HammingWindow::alpha, &HammingWindow::beta,
                                     &HammingWindow::dtype, &HammingWindow::device};
};
struct KaiserWindow : Named<KaiserWindow> {
  static constexpr Signature signature =
      "kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: dtype | None = None, "
      "device: device | None = None) -> Tensor";
  static constexpr auto doc = "i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1. Shape: (window_length,).";
  double beta;
  static constexpr std::tuple fields{&KaiserWindow::window_length, &KaiserWindow::periodic, &KaiserWindow::beta, &KaiserWindow::dtype,
                                     &KaiserWindow::device};
};

struct GeneralCosineWindow : Named<GeneralCosineWindow> {
  static constexpr Signature signature =
      "general_cosine_window(window_length: int, periodic: bool, a: list[float], *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "The sum over i of (-1)^i a_i cos(i x) for x over one turn. Shape: (window_length,).";
  static constexpr Module module = Module::hidden;
  Floats a;
  static constexpr std::tuple fields{&GeneralCosineWindow::window_length, &GeneralCosineWindow::periodic, &GeneralCosineWindow::a,
                                     &GeneralCosineWindow::dtype, &GeneralCosineWindow::device};
};

using WindowOps = OpList<BartlettWindow, BlackmanWindow, HannWindow, HammingWindow, KaiserWindow, GeneralCosineWindow>;

}  // namespace weir
