#include "framework/ops/resample.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/unary.h"

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

}  // namespace

Meta PadBorder::infer(Inputs in) const {
  const Tensor& x = in[0];
  int d = axis_of("pad", x, dim);
  int64_t n = x.sizes()[d], total = checked_add(checked_add(n, before), after);
  check_mode("pad", mode, {"reflect", "replicate", "circular"});
  check(!(mode == "reflect") || (before < n && after < n), "pad: Padding size should be less than the corresponding input dimension, but got: padding (",
        before, ", ", after, ") at dimension ", d, " of input ", x.sizes());
  check(!(mode == "circular") || (before <= n && after <= n), "pad: Padding value causes wrapping around more than once.");
  check(n > 0 && total >= 0, "pad: input (size: ", n, ") at dimension ", d, " is too small for padding (", before, ", ", after, ")");
  return with_axis(x, d, total);
}
Tensors PadBorder::vjp(const Saved& s, const Tensor& dy) const {
  int n = s.input_meta(0).sizes.n;
  return {fn::pad_border_backward(dy, dim, s.input_meta(0).sizes[wrap_dim(dim, n, "pad")], before, mode)};
}
Meta PadBorderBackward::infer(Inputs in) const { return with_axis(in[0], axis_of("pad_border_backward", in[0], dim), size); }
Tensors PadBorderBackward::vjp(const Saved& s, const Tensor& g) const {
  int64_t total = s.input_meta(0).sizes[wrap_dim(dim, g.ndim(), "pad")];
  return {fn::pad_border(g, dim, before, total - size - before, mode)};
}

Meta Resample::infer(Inputs in) const {
  int d = axis_of("interpolate", in[0], dim);
  check_mode("interpolate", mode, {"nearest", "nearest-exact", "linear", "bicubic"});
  check(size > 0 && in[0].sizes()[d] > 0, "interpolate: Input and output sizes should be greater than 0, but got input ", in[0].sizes(),
        " and output ", size, " at dimension ", d);
  return with_axis(in[0], d, size);
}
Tensors Resample::vjp(const Saved& s, const Tensor& dy) const {
  int64_t old = s.input_meta(0).sizes[wrap_dim(dim, dy.ndim(), "interpolate")];
  return {fn::resample_backward(dy, dim, old, step, mode, align_corners, antialias)};
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
  bool sums = !mode.view().starts_with("nearest");
  check<NotImplemented>(!sums || is_floating(given.dtype()) || given.dtype() == DType::uint8, "interpolate: ", mode.view(),
                        " is not implemented for ", name_of(given.dtype()));
  // Pictures of bytes are rounded after each axis, the last one first, as PyTorch does.
  const bool bytes = sums && given.dtype() == DType::uint8 && size.n == 2;
  Tensor x = sums && !bytes && (is_reduced(given.dtype()) || !is_floating(given.dtype())) ? cast_to(given, DType::float32) : given;
  for (int k = 0; k < size.n; k++) {
    const int i = bytes ? size.n - 1 - k : k;
    if (size[i] != x.sizes()[2 + i] || (!bytes && (steps[i] != 1 || antialias)))
      x = fn::resample(x, int64_t(2 + i), size[i], steps[i], mode, align_corners, antialias);
  }
  if (x == given) return fn::clone(given);
  if (x.dtype() != given.dtype() && !is_floating(given.dtype())) x = fn::clamp(fn::round(x), 0.0, 255.0);
  x = cast_to(x, given.dtype());
  bool last = suggests_channels_last(given.sizes(), given.strides());
  return last ? clone_of(x, size.n == 2 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d) : x;
}

static const ResampleOps::Registration ops;

}  // namespace weir
