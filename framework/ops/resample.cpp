#include "framework/ops/resample.h"

#include <algorithm>
#include <cmath>

#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/pool_adaptive.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

Meta with_axis(const Tensor& x, int d, int64_t size) {
  Dims sizes = x.sizes();
  sizes[d] = size;
  return {sizes, x.dtype(), x.device()};
}

int axis_of(const char* op, const Tensor& x, int64_t dim) {
  check(x.ndim() > 0, op, ": expected a tensor of at least one dimension");
  return wrap_dim(dim, x.ndim(), op);
}

void check_mode(const char* op, const Str& mode, std::initializer_list<std::string_view> known) {
  for (std::string_view name : known)
    if (mode == name) return;
  throw NotImplemented(str(op, ": unrecognised mode ", mode.view()));
}

// PyTorch copies the ends within its result, after what is left of the input: where that is less than is taken from it, the places lie over those written to, which is
// refused where they are one piece of memory.
void check_wraps(const Dims& input, const Dims& result, const Dims& pad) {
  if (result.contains(0)) return;
  for (int i = 0; i < pad.n / 2; i++) {
    const int d = result.n - 1 - i;
    const int64_t most = std::max(pad[2 * i], pad[2 * i + 1]), left = input[d] + std::min<int64_t>(pad[2 * i], 0) + std::min<int64_t>(pad[2 * i + 1], 0);
    check(most <= 0 || left > 0, "pad: nothing is left of dimension ", d, " of input ", input, " to wrap around for padding ", pad);
    const bool one_piece = std::all_of(result.begin(), result.begin() + d, [](int64_t n) { return n == 1; });
    check(left >= most || !one_piece, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location: padding ", pad,
          " wraps around more than is left of dimension ", d, " of input ", input);
  }
}

}  // namespace

Meta PadBorder::infer(Inputs in) const {
  const Tensor& x = in[0];
  check_mode("pad", mode, {"reflect", "replicate", "circular"});
  check(pad.n % 2 == 0 && pad.n / 2 <= x.ndim(), "pad: expected a pair of numbers for each of at most ", x.ndim(), " axes, got ", pad);
  Dims sizes = x.sizes();
  for (int i = 0; i < pad.n / 2; i++) {
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    if (before == 0 && after == 0) continue;
    const int d = x.ndim() - 1 - i;
    const int64_t n = sizes[d];
    sizes[d] = checked_add(checked_add(n, before), after);
    check(!(mode == "reflect") || (before < n && after < n), "pad: Padding size should be less than the corresponding input dimension, but got: padding (",
          before, ", ", after, ") at dimension ", d, " of input ", x.sizes());
    check(!(mode == "circular") || (before <= n && after <= n), "pad: Padding value causes wrapping around more than once.");
    check(n > 0 && sizes[d] >= 0, "pad: input (size: ", n, ") at dimension ", d, " is too small for padding (", before, ", ", after, ")");
  }
  if (mode == "circular") check_wraps(x.sizes(), sizes, pad);
  return {sizes, x.dtype(), x.device()};
}
Tensors PadBorder::vjp(const Saved& s, const Tensor& dy) const {
  Tensor g = dy;
  const Dims& sizes = s.input_meta(0).sizes;
  for (int i = pad.n / 2; i-- > 0;)
    if (pad[2 * i] || pad[2 * i + 1]) g = fn::pad_border_backward(g, int64_t(-1 - i), sizes[sizes.n - 1 - i], pad[2 * i], mode);
  return {pictured_as(dy, g)};
}
Meta PadBorderBackward::infer(Inputs in) const { return with_axis(in[0], axis_of("pad_border_backward", in[0], dim), size); }
Tensors PadBorderBackward::vjp(const Saved& s, const Tensor& g) const {
  const int d = wrap_dim(dim, g.ndim(), "pad");
  Dims pad;
  for (int i = g.ndim() - 1; i > d; i--) pad.push(0), pad.push(0);
  pad.push(before), pad.push(s.input_meta(0).sizes[d] - size - before);
  return {fn::pad_border(g, pad, mode)};
}

Meta Resample::infer(Inputs in) const {
  int d = axis_of("interpolate", in[0], dim);
  check_mode("interpolate", mode, {"nearest", "nearest-exact", "linear", "bicubic", "lanczos"});
  check(size > 0 && in[0].sizes()[d] > 0, "interpolate: Input and output sizes should be greater than 0, but got input ", in[0].sizes(),
        " and output ", size, " at dimension ", d);
  return with_axis(in[0], d, size);
}
Tensors Resample::vjp(const Saved& s, const Tensor& dy) const {
  int64_t old = s.input_meta(0).sizes[wrap_dim(dim, dy.ndim(), "interpolate")];
  return {pictured_as(dy, fn::resample_backward(dy, dim, old, step, mode, align_corners, antialias))};
}
Meta ResampleBackward::infer(Inputs in) const { return with_axis(in[0], axis_of("interpolate", in[0], dim), size); }
Tensors ResampleBackward::vjp(const Saved& s, const Tensor& g) const {
  int64_t made = s.input_meta(0).sizes[wrap_dim(dim, g.ndim(), "interpolate")];
  return {fn::resample(g, dim, made, step, mode, align_corners, antialias)};
}

// Modes are separable. Sums are in float32 at least: rounding between two axes would show in half precision.
Tensor Interpolate::compose(Inputs in) const {
  const Tensor& given = in[0];
  check(given.ndim() == size.n + 2 && steps.n == size.n, "interpolate: expected ", size.n, " axes after the second, got input ", given.sizes());
  numel_of(size);  // refused before the first axis is made
  for (int i = 0; i < size.n; i++)
    check(size[i] > 0 && given.sizes()[2 + i] > 0, "interpolate: Input and output sizes should be greater than 0, but got input ",
          given.sizes(), " and output ", size);
  // So is what there is no memory for: the tables of one axis may take all that there is.
  constexpr int64_t kLarge = 1 << 30;
  Meta made(given.sizes(), given.dtype(), given.device());
  for (int i = 0; i < size.n; i++) made.sizes[2 + i] = size[i];
  if (checked_mul(numel_of(made.sizes), size_of(made.dtype)) > kLarge && !weir::mode.recorder) empty(made);
  bool sums = !mode.view().starts_with("nearest");
  check<NotImplemented>(!sums || is_floating(given.dtype()) || given.dtype() == DType::uint8, "interpolate: ", mode.view(),
                        " is not implemented for ", name_of(given.dtype()));
  // Pictures of bytes are rounded after each axis, the last one first, as PyTorch does.
  const bool bytes = sums && given.dtype() == DType::uint8 && size.n == 2;
  const bool summed = sums || (size.n > 1 && is_differentiated(given));  // gradients of copies are sums
  Tensor x = summed && !bytes && (is_reduced(given.dtype()) || (sums && !is_floating(given.dtype()))) ? cast_to(given, DType::float32) : given;
  // Pictures with channels last are taken as their memory lies, with the channels as the innermost axis.
  const bool last = suggests_channels_last(given.sizes(), given.strides());
  Dims there{0}, back{0, given.ndim() - 1};
  for (int i = 2; i < given.ndim(); i++) there.push(i), back.push(i - 1);
  there.push(1);
  const Tensor laid = last ? fn::permute(x, there) : x;
  x = laid;
  for (int k = 0; k < size.n; k++) {
    const int i = bytes ? size.n - 1 - k : k, axis = (last ? 1 : 2) + i;
    // Source: PyTorch, which leaves an axis of the same size alone where it takes one after the other: bytes, windows and places. Else it sums each, so
    // that an infinite number beside a weight of zero becomes NaN.
    if (size[i] != x.sizes()[axis] || (!bytes && !antialias && (sums || steps[i] != 1)))
      x = fn::resample(x, int64_t(axis), size[i], steps[i], mode, align_corners, antialias);
  }
  if (x == laid) return last ? fn::clone(given) : fn::clone(given, MemoryFormat::contiguous);
  if (last) x = fn::permute(x, back);
  if (x.dtype() != given.dtype() && !is_floating(given.dtype())) x = fn::clamp(fn::round(x), 0.0, 255.0);
  x = cast_to(x, given.dtype());
  return pictured_as(given, x);
}

namespace {

// Windows that have the size, as adaptive pooling chooses them.
Tensor area(const Tensor& x, const Dims& size) {
  return size.n == 3 ? fn::adaptive_avg_pool3d(x, size) : size.n == 2 ? fn::adaptive_avg_pool2d(x, size) : fn::adaptive_avg_pool1d(x, size);
}

// How many axes a mode interpolates, or 0 where any number.
int axes_of(const Str& mode) {
  if (mode == "nearest" || mode == "area" || mode == "nearest-exact") return 0;
  return mode == "linear" ? 1 : mode == "bilinear" || mode == "bicubic" || mode == "lanczos" ? 2 : mode == "trilinear" ? 3 : -1;
}

}  // namespace

Tensor Resize::compose(Inputs in) const {
  const Tensor& x = in[0];
  const int rank = x.ndim() - 2, axes = axes_of(mode);
  check<ValueError>(axes || !align_corners, "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear");
  const bool fits = !axes || axes == rank, named = axes > 0 && mode.view().ends_with("linear");
  check<NotImplemented>(fits || !named || rank < 1 || rank > 3, "Got ", x.ndim(), "D input, but ", mode.view(), " mode needs ", axes + 2, "D input");
  check<NotImplemented>(fits && rank >= 1 && rank <= 3, "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", x.ndim(),
                        "D) for the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got ", mode.view(), ")");
  check<ValueError>(!antialias || axes == 2, "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input");
  check<ValueError>(!size || !scale_factor, "only one of size or scale_factor should be defined");
  check<ValueError>(size || scale_factor, "either size or scale_factor should be defined");
  const int given = size ? size->n : scale_factor->n;
  const char* what = size ? "size" : "scale_factor";
  check<ValueError>(given == rank, what, " shape must match input shape. Input is ", rank, "D, ", what, " is ", given);
  check<ValueError>(!size || !recompute_scale_factor.value_or(false), "recompute_scale_factor is not meaningful with an explicit size.");
  check<ValueError>(mode != "lanczos" || !align_corners.value_or(false), "Lanczos mode does not support align_corners=True");
  check<ValueError>(mode != "lanczos" || antialias, "Lanczos mode requires antialias=True");
  const bool scaled = scale_factor && !recompute_scale_factor.value_or(false);
  Dims sizes;
  for (int i = 0; i < rank; i++) sizes.push(size ? (*size)[i] : int64_t(std::floor(double(x.sizes()[2 + i]) * (*scale_factor)[i])));
  if (mode == "area") return area(x, sizes);
  const bool same = std::equal(sizes.begin(), sizes.end(), x.sizes().begin() + 2);
  const bool implemented = x.dtype() == DType::uint8 ? axes == 0 || axes == 2 : is_floating(x.dtype()) && (!antialias || same || !is_reduced(x.dtype()));
  check<NotImplemented>(implemented, "interpolate: ", mode.view(), antialias ? " with antialias" : "", " is not implemented for ", name_of(x.dtype()));
  for (int i = 1; i < x.ndim(); i++)
    check(x.sizes()[i] > 0, "interpolate: Non-empty ", x.ndim(), "D data tensor expected but got a tensor with sizes ", x.sizes());
  Floats steps;  // how many old elements lie between two new ones
  const bool aligned = align_corners.value_or(false), nothing = sizes.contains(0);
  for (int i = 0; i < rank; i++) {
    const double from = double(x.sizes()[2 + i]), to = double(sizes[i]), scale = scaled ? (*scale_factor)[i] : 0;
    steps.push(nothing ? 1.0 : aligned ? (to > 1 ? (from - 1) / (to - 1) : 0.0) : scale != 0 ? 1 / scale : from / to);
  }
  return fn::upsample(x, sizes, steps, axes == 0 || mode == "bicubic" || mode == "lanczos" ? mode : Str("linear"), aligned, antialias);
}

static const ResampleOps::Registration ops;

}  // namespace weir
