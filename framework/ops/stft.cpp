#include "framework/ops/stft.h"

#include <cmath>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/fft.h"
#include "framework/ops/index.h"
#include "framework/ops/pad.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"

namespace weir {
using namespace fn;
namespace {

/// Which element stands at place `i`, counted from before the first of `n`: -1 for a zero.
int64_t mirrored(const Str& mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (mode == "reflect") return i < 0 ? -i : 2 * (n - 1) - i;
  if (mode == "replicate") return i < 0 ? 0 : n - 1;
  if (mode == "circular") return i < 0 ? i + n : i - n;
  return -1;
}

// `by` points before and after the last axis.
Tensor padded(const char* op, const Tensor& x, int64_t by, const Str& mode) {
  int64_t n = x.size(-1);
  bool constant = mode == "constant";
  check<NotImplemented>(constant || mode == "reflect" || mode == "replicate" || mode == "circular", op, ": Unrecognised padding mode ",
                        mode.view());
  check(mode.view() != "reflect" || by < n, op, ": Padding size should be less than the corresponding input dimension, but got: padding (",
        by, ", ", by, ") of input ", x.sizes());
  check(mode.view() != "circular" || by <= n, op, ": Padding value causes wrapping around more than once.");
  if (constant) return fn::constant_pad_nd(x, Dims{by, by}, Scalar(0));
  Tensor at = weir::empty(Dims{n + 2 * by}, DType::int64);
  for (int64_t i = 0; i < n + 2 * by; i++) at.data<int64_t>()[i] = mirrored(mode, i - by, n);
  return fn::index_select(x, -1, at);
}

// The window of `length`, ones unless given, with zeros around it up to n_fft.
Tensor whole_window(const Tensor& given, int64_t length, int64_t n_fft, DType dtype) {
  Tensor w = given ? given : full_of(Meta(Dims{length}, dtype), Scalar(1.0));
  int64_t left = (n_fft - length) / 2;
  return length == n_fft ? w : fn::constant_pad_nd(w, Dims{left, n_fft - length - left}, Scalar(0));
}

// Frames (batch, frames, n_fft), `hop` apart, added up to (batch, length).
Tensor overlap_added(const Tensor& frames, int64_t hop, int64_t length) {
  int64_t n = frames.size(1), size = frames.size(2);
  Tensor at = reshape(fn::unfold(arange_of(length), int64_t(0), size, hop), Dims{-1});
  Tensor flat = reshape(frames, Dims{frames.size(0), n * size});
  return index_add_of(zeros_of(Meta(Dims{frames.size(0), length}, frames.dtype(), frames.device())), 1, at, flat);
}

double root_scale(int64_t n, bool on) { return on ? 1 / std::sqrt(double(n)) : 1; }

}  // namespace

static void warn_of_no_window() {
  static WarnOnce said;
  said("A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage.");
}

Tensor Stft::compose(Inputs in) const {
  const Tensor &x = in[0], &window = in[1];
  int64_t hop = hop_length.value_or(n_fft / 4), win = win_length.value_or(n_fft);
  bool complex = is_complex(x.dtype()) || (window && is_complex(window.dtype()));
  check(!(center && align_to_window), "stft align_to_window should only be set when center = false");
  check(return_complex || complex, "stft requires the return_complex parameter be given for real inputs, and will further require that "
        "return_complex=True in a future PyTorch release.");
  check(is_inexact(x.dtype()), "stft: expected a tensor of floating point or complex values, got ", name_of(x.dtype()));
  check(x.ndim() == 1 || x.ndim() == 2, "stft: expected a 1D or 2D tensor, got ", x.ndim(), "D");
  if (!window) warn_of_no_window();
  Tensor signal = center ? padded("stft", x, n_fft / 2, pad_mode) : x;
  check(n_fft > 0 && n_fft <= signal.size(-1), "stft: expected 0 < n_fft < ", signal.size(-1), ", but got n_fft=", n_fft);
  check(hop > 0, "stft: expected hop_length > 0, but got hop_length=", hop);
  check(win > 0 && win <= n_fft, "stft: expected 0 < win_length <= n_fft, but got win_length=", win);
  check(!window || (window.ndim() == 1 && window.size(0) == win), "stft: expected a 1D window tensor of size equal to win_length=", win,
        ", but got window with size ", window ? window.sizes() : Dims());
  check(!complex || !onesided.value_or(false), "Cannot have onesided output if window or input is complex");
  bool half = onesided.value_or(!complex);
  if (align_to_window.value_or(false)) {
    int64_t left = (n_fft - win) / 2;
    signal = fn::constant_pad_nd(signal, Dims{left, n_fft - win - left}, Scalar(0));
  }
  Tensor frames = fn::unfold(signal, int64_t(-1), n_fft, hop);
  if (window || win < n_fft) frames = frames * whole_window(window, win, n_fft, real_type(x.dtype()));
  double scale = root_scale(n_fft, normalized);
  Tensor y;
  if (!complex && half) y = fft_r2c(frames, Dims{-1}, scale);
  else y = fft_c2c(frames, Dims{-1}, scale, true);
  y = transpose(y, int64_t(-2), int64_t(-1));
  if (!return_complex.value_or(true)) warn_once("stft with return_complex=False is deprecated: use torch.view_as_real on its complex result.");
  return return_complex.value_or(true) ? y : view_as_real(y);
}

Tensor Istft::compose(Inputs in) const {
  const Tensor &given = in[0], &window = in[1];
  check(is_complex(given.dtype()), "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
  check(given.numel() > 0, "istft: input tensor cannot be empty.");
  check<IndexError>(given.ndim() > 1, "istft: expected a tensor with 2 or 3 dimensions, but got ", given.ndim());
  check(given.ndim() < 4, "istft: expected a tensor with 2 or 3 dimensions, but got ", given.ndim());
  bool complex_window = window && is_complex(window.dtype());
  check(!complex_window || return_complex, "Complex windows are incompatible with return_complex=False");
  int64_t hop = hop_length.value_or(n_fft / 4), win = win_length.value_or(n_fft), have = given.size(-2), n_frames = given.size(-1);
  bool half = onesided.value_or(have != n_fft);
  check(!half || have == n_fft / 2 + 1, "istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 "
        "when onesided=True, but got ", have);
  check(half || have == n_fft, "istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "
        "onesided=False, but got ", have);
  check(hop > 0 && hop <= win, "istft: expected 0 < hop_length <= win_length, got ", hop, " and ", win);
  check(win > 0 && win <= n_fft, "istft: expected 0 < win_length <= n_fft, got ", win, " and ", n_fft);
  check(!window || (window.ndim() == 1 && window.size(0) == win), "istft: Invalid window shape. window has to be 1D and length of `win_length`");
  check(!half || !return_complex, "Cannot have onesided output if window or input is complex");

  if (!window) warn_of_no_window();
  Tensor x = transpose(given.ndim() == 2 ? unsqueeze(given, int64_t(0)) : given, int64_t(1), int64_t(2));
  Tensor w = whole_window(window, win, n_fft, real_type(given.dtype()));
  double scale = normalized ? root_scale(n_fft, true) : 1 / double(n_fft);
  Tensor frames;
  if (return_complex) frames = fft_c2c(x, Dims{-1}, scale, false);
  else frames = fft_c2r(half ? x : slice(x, int64_t(-1), int64_t(0), n_fft / 2 + 1, int64_t(1)), Dims{-1}, scale, n_fft);

  int64_t whole = n_fft + hop * (n_frames - 1), start = center ? n_fft / 2 : 0;
  int64_t end = length ? checked_add(start, *length) : center ? whole - n_fft / 2 : whole;
  Tensor y = overlap_added(frames * w, hop, whole);
  Tensor weight = overlap_added(expand(reshape(square(w), Dims{1, 1, n_fft}), Dims{1, n_frames, n_fft}), hop, whole);
  y = slice(y, int64_t(1), start, end, int64_t(1)), weight = slice(weight, int64_t(1), start, end, int64_t(1));
  y = fn::check_true(y, logical_not(fn::min(abs(weight)) < 1e-11), Str("istft"), Str("window overlap add min: 1")) / weight;
  if (y.size(1) < end - start) {
    warn_once("The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
              "Please check your center and hop_length settings.");
    y = fn::constant_pad_nd(y, Dims{0, end - start - y.size(1)}, Scalar(0));
  }
  return given.ndim() == 2 ? squeeze(y, std::optional<Dims>(Dims{0})) : y;
}

static const StftOps::Registration ops;

}  // namespace weir
