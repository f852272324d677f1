#include "framework/ops/fft.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/factory.h"
#include "framework/ops/index.h"
#include "framework/ops/pad.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"

namespace weir {
using namespace fn;
namespace {

int64_t along(const Tensor& x, int64_t dim) { return x.ndim() ? x.size(dim) : 1; }
int64_t axis_of(const char* op, const Tensor& x, int64_t dim) {
  check<IndexError>(x.ndim() > 0, op, ": Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, x.ndim(), op);
}
// Cut to or padded with zeros to n[i] along dim[i]: padded once, so that what no memory holds is refused before any of it is made.
Tensor resized(Tensor x, const Dims& dim, const Dims& n) {
  Dims pad;  // from the last axis backwards
  for (int i = 0; i < dim.n; i++) {
    const int d = wrap_dim(dim[i], x.ndim(), "fft");
    if (n[i] < x.size(d)) x = slice(x, int64_t(d), int64_t(0), n[i], int64_t(1));
    if (n[i] <= x.size(d)) continue;
    const int place = 2 * (x.ndim() - 1 - d) + 1;
    while (pad.n <= place) pad.push(0);
    pad[place] = n[i] - x.size(d);
  }
  return pad.n ? fn::constant_pad_nd(x, pad, Scalar(0)) : x;
}
Tensor resized(const Tensor& x, int64_t dim, int64_t n) { return resized(x, Dims{dim}, Dims{n}); }

void check_size(int64_t n) { check(n >= 1, "Invalid number of data points (", n, ") specified"); }

// Source: PyTorch's promote_type_fft: whole numbers become the default float type, half precision has no kernel on a CPU.
Tensor promoted(const Tensor& x, bool to_complex, bool autocast = true) {
  DType t = is_inexact(x.dtype()) ? x.dtype() : default_dtype();
  if (autocast && mode.autocast && is_reduced(t)) t = DType::float32;  // autocast's precision for transforms
  check(!is_reduced(t), "Unsupported dtype ", t == DType::float16 ? "Half" : "BFloat16");
  return cast_to(x, to_complex ? complex_type(t) : t);
}
void check_real(const char* op, const Tensor& x) {
  check(!is_complex(x.dtype()), op, " expects a real input tensor, but got ", name_of(x.dtype()));
}

/// What results are multiplied by, for n points: nothing, 1 / n, or 1 / sqrt(n) in both directions.
double scale_of(const std::optional<Str>& norm, bool forward, int64_t n) {
  std::string_view name = norm ? norm->view() : "backward";
  if (name == "ortho") return 1 / std::sqrt(double(n));
  check(name == "backward" || name == "forward", "Invalid normalization mode: \"", name, "\"");
  return (name == "forward") == forward ? 1 / double(n) : 1;
}

// Real numbers stay so where their transform, which knows that half of it mirrors the other, lays its result out as that of complex ones.
bool to_complex(const Tensor& x) { return is_complex(x.dtype()) || !is_non_overlapping_and_dense(x.sizes(), x.strides()); }

Tensor c2c(const FftLine& o, Tensor x, bool forward) {
  x = promoted(x, is_complex(x.dtype()));
  int64_t dim = axis_of("fft", x, o.dim), n = o.n.value_or(along(x, dim));
  check_size(n);
  if (o.n) x = resized(x, dim, n);
  return fft_c2c(x, Dims{dim}, scale_of(o.norm, forward, n), forward);
}
Tensor r2c(const char* op, const FftLine& o, Tensor x, bool forward) {
  check_real(op, x);
  x = promoted(x, false);
  int64_t dim = axis_of(op, x, o.dim), n = o.n.value_or(along(x, dim));
  check_size(n);
  if (o.n) x = resized(x, dim, n);
  Tensor y = fft_r2c(x, Dims{dim}, scale_of(o.norm, forward, n));
  return forward ? y : conj(y);
}
// A backward transform; the forward one of hfft is that of the conjugate.
Tensor c2r(const char* op, const FftLine& o, Tensor x, bool forward) {
  x = promoted(x, true);
  int64_t dim = axis_of(op, x, o.dim), n = o.n.value_or(2 * (along(x, dim) - 1));
  check_size(n);
  if (o.n) x = resized(x, dim, n / 2 + 1);
  return fft_c2r(forward ? conj(x) : x, Dims{dim}, scale_of(o.norm, forward, n), n);
}

/// The axes of a transform, wrapped, and its size along each.
struct Grid {
  Dims dim, sizes;
  int64_t points() const { return sizes.product(); }
};
Grid grid_of(const FftGrid& o, const Tensor& x) {
  Grid g;
  const int n = x.ndim();
  if (o.dim)
    for (int64_t d : *o.dim) {
      int64_t k = axis_of("fft", x, d);
      check(!g.dim.contains(k), "FFT dims must be unique");
      g.dim.push(k);
    }
  if (o.s) {
    check(!o.dim || o.dim->n == o.s->n, "When given, dim and shape arguments must have the same length");
    check(o.s->n <= n, "Got shape with ", o.s->n, " values but input tensor only has ", n, " dimensions.");
    if (!o.dim)
      for (int k = n - o.s->n; k < n; k++) g.dim.push(k);
  } else if (!o.dim) {
    for (int k = 0; k < n; k++) g.dim.push(k);
  }
  for (int k = 0; k < g.dim.n; k++) g.sizes.push(o.s && (*o.s)[k] != -1 ? (*o.s)[k] : along(x, g.dim[k]));
  for (int64_t size : g.sizes) check_size(size);
  return g;
}
// Of a real result, of which the input holds half along the last axis.
Grid real_grid_of(const char* op, const FftGrid& o, const Tensor& x) {
  Grid g = grid_of(o, x);
  check(g.dim.n > 0, op, " must transform at least one axis");
  if (!o.s || o.s->back() == -1) g.sizes.back() = 2 * (along(x, g.dim.back()) - 1);
  check_size(g.sizes.back());
  return g;
}
Tensor resized(Tensor x, const Grid& g, bool half) {
  Dims sizes = g.sizes;
  if (half && sizes.n) sizes.back() = sizes.back() / 2 + 1;
  return resized(std::move(x), g.dim, sizes);
}
Dims without_last(Dims d) {
  d.n--;
  return d;
}

Tensor c2c_grid(const FftGrid& o, const Tensor& x, bool forward) {
  Grid g = grid_of(o, x);
  return fft_c2c(resized(promoted(x, g.dim.empty() || to_complex(x)), g, false), g.dim, scale_of(o.norm, forward, g.points()), forward);
}
Tensor to_half_spectrum(const FftGrid& o, const Tensor& x) {
  check_real("rfftn", x);
  Grid g = grid_of(o, x);
  check(g.dim.n > 0, "rfftn must transform at least one axis");
  return fft_r2c(resized(promoted(x, false), g, false), g.dim, scale_of(o.norm, true, g.points()));
}
Tensor from_half_spectrum(const FftGrid& o, const Tensor& x) {
  Grid g = real_grid_of("irfftn", o, x);
  return fft_c2r(resized(promoted(x, true), g, true), g.dim, scale_of(o.norm, false, g.points()), g.sizes.back());
}
Tensor hermitian_fftn(const FftGrid& o, const Tensor& x) {
  Grid g = real_grid_of("hfftn", o, x);
  Tensor half = resized(promoted(x, true, false), g, true);  // autocast's list lacks the Hermitian transforms of several axes
  if (g.dim.n > 1) half = fft_c2c(half, without_last(g.dim), 1.0, true);
  return fft_c2r(conj(half), Dims{g.dim.back()}, scale_of(o.norm, true, g.points()), g.sizes.back());
}
Tensor inverse_hermitian_fftn(const FftGrid& o, const Tensor& x) {
  Grid g = grid_of(o, x);
  check_real("ihfftn", x);
  check(g.dim.n > 0, "ihfftn must transform at least one axis");
  Tensor half = conj(fft_r2c(resized(promoted(x, false, false), g, false), Dims{g.dim.back()}, scale_of(o.norm, false, g.points())));
  return g.dim.n > 1 ? fft_c2c(half, without_last(g.dim), 1.0, false) : half;
}

// Each axis turned by `by(size)`.
template <class F> Tensor rolled(const Tensor& x, const std::optional<Dims>& dim, F&& by) {
  Dims axes, shifts;
  if (dim) axes = *dim;
  else for (int d = 0; d < x.ndim(); d++) axes.push(d);
  for (int64_t d : axes) {
    check<IndexError>(x.ndim() > 0, "fftshift: Dimension specified as ", d, " but tensor has no dimensions");
    shifts.push(by(x.size(d)));
  }
  return fn::roll(x, shifts, axes);
}

/// Strides of a result: axes that are not transformed lie outside, in the order of the input's strides, then the others as
/// `dim` has them. Source: PyTorch's _exec_fft.
Dims fft_strides(const Dims& input, const Dims& sizes, const Dims& dim) {
  Dims order;
  for (int d = 0; d < sizes.n; d++) order.push(d);
  int64_t* rest = std::partition(order.begin(), order.end(), [&](int64_t d) { return !dim.contains(d); });  // moves axes of equal strides, as PyTorch's
  std::stable_sort(order.begin(), rest, [&](int64_t a, int64_t b) { return input[int(a)] > input[int(b)]; });
  std::copy(dim.begin(), dim.end(), rest);
  Dims strides(sizes.n, 0);
  int64_t step = 1;
  for (int i = order.n; i-- > 0;) {
    strides[int(order[i])] = step;
    step *= std::max<int64_t>(sizes[int(order[i])], 1);
  }
  return strides;
}
/// `dim` wrapped, by falling strides; with `keep_last` the last one stays last.
Dims by_strides(const Dims& input, const Dims& dim, bool keep_last) {
  Dims d = dim;
  for (int64_t& k : d) k = wrap_dim(k, input.n, "fft");
  std::stable_sort(d.begin(), d.end() - keep_last, [&](int64_t a, int64_t b) { return input[int(a)] > input[int(b)]; });
  return d;
}
void lay_out(Meta& m, const Dims& strides) {
  if (!(strides == contiguous_strides(m.sizes))) m.strides = strides;
}

Meta transformed(const char* op, const Tensor& x, const Dims& dim, std::optional<bool> complex) {
  check(is_complex(x.dtype()) == complex.value_or(is_complex(x.dtype())) && !is_reduced(x.dtype()) && is_inexact(x.dtype()), op, ": unsupported dtype ", name_of(x.dtype()));
  for (int64_t d : dim) wrap_dim(d, x.ndim(), op);
  check(dim.empty() || x.numel() > 0, op, ": there are no lines to transform in a tensor of shape ", x.sizes(), ", as in PyTorch");
  return {x.sizes(), x.dtype(), x.device()};
}

/// Half a spectrum of lines of n points, with those times `factor` that stand for their conjugates too: all but the first, and the last of
/// an even n. Source: PyTorch's fft_c2r_backward.
Tensor mirrored(const Tensor& half, int64_t dim, int64_t n, double factor) {
  const int64_t d = wrap_dim(dim, half.ndim(), "fft"), twice = n - half.size(d);
  if (twice <= 0) return half;
  Dims sizes(half.ndim(), 1);
  sizes[d] = half.size(d);
  Tensor at = reshape(arange_of(half.size(d)), sizes);
  Tensor weight = where(at * (double(twice) + 1.0 - at) > 0.0, num(factor), num(1.0));
  return half * cast_to(weight, real_type(half.dtype()));
}

}  // namespace

Meta FftC2c::infer(Inputs in) const {
  Meta m = transformed("fft_c2c", in[0], dim, {});
  m.dtype = complex_type(m.dtype);
  if (m.sizes.n && !dim.empty()) lay_out(m, fft_strides(in[0].strides(), m.sizes, by_strides(in[0].strides(), dim, false)));
  return m;
}
Tensors FftC2c::vjp(const Saved& s, const Tensor& dy) const {
  Tensor dx = fft_c2c(dy, dim, scale, !forward);
  return {is_complex(s.input_meta(0).dtype) ? dx : real(dx)};
}

Meta FftR2c::infer(Inputs in) const {
  Meta m = transformed("fft_r2c", in[0], dim, false);
  m.dtype = complex_type(m.dtype);
  if (m.sizes.n) {
    m.sizes[wrap_dim(dim.back(), m.sizes.n, "fft_r2c")] = along(in[0], dim.back()) / 2 + 1;
    lay_out(m, fft_strides(in[0].strides(), m.sizes, by_strides(in[0].strides(), dim, true)));
  }
  return m;
}
// The real part of what half a spectrum gives back whose other half got no gradient: points that have a mirror image give half of it each.
Tensors FftR2c::vjp(const Saved& s, const Tensor& dy) const {
  const Meta& x = s.input_meta(0);
  if (x.sizes.n == 0) return {real(dy) * scale};
  const int64_t n = x.sizes[wrap_dim(dim.back(), x.sizes.n, "fft_r2c")];
  return {fft_c2r(mirrored(dy, dim.back(), n, 0.5), dim, scale, n)};
}

Meta FftC2r::infer(Inputs in) const {
  Meta m = transformed("fft_c2r", in[0], dim, true);
  check_size(last_size);
  m.dtype = real_type(m.dtype);
  if (m.sizes.n) {
    int d = wrap_dim(dim.back(), m.sizes.n, "fft_c2r");
    check(m.sizes[d] == last_size / 2 + 1, "fft_c2r: expected ", last_size / 2 + 1, " points along dim ", d, ", got ", m.sizes[d]);
    m.sizes[d] = last_size;
    // After a complex transform over the other axes, one over the last.
    Dims strides = in[0].strides(), others = without_last(dim);
    if (!others.empty()) strides = fft_strides(strides, in[0].sizes(), by_strides(strides, others, false));
    lay_out(m, fft_strides(strides, m.sizes, Dims{d}));
  }
  return m;
}
Tensors FftC2r::vjp(const Saved&, const Tensor& dy) const {
  Tensor half = fft_r2c(dy, dim, scale);
  return {half.ndim() == 0 ? half : mirrored(half, dim.back(), last_size, 2.0)};
}

Tensor Fft::compose(Inputs in) const { return c2c(*this, in[0], true); }
namespace {
template <class Line> Meta along_line(const Tensor& x, int64_t d) {
  Line line{};
  line.dim = Dims{d}, line.scale = 1;
  return line.infer(Inputs(&x, 1));
}
// Of real numbers PyTorch conjugates the forward transform into out=, by a loop over elements, which lays out axes of size 1 in its own way.
void lay_out_conjugates(const char* op, const FftLine& o, const Tensor& given, const Tensor& out, bool half) {
  Tensor x = promoted(given, false);
  const int64_t d = axis_of(op, x, o.dim), n = o.n.value_or(along(x, d));
  check_size(n);
  if (!out || (n > 1 && !x.sizes().contains(1))) return;
  if (o.n) x = resized(x, d, n);
  const Meta result = half ? along_line<FftR2c>(x, d) : along_line<FftC2c>(x, d);
  shape_out(out, pointwise_meta(op, Rule::promote, std::array<Tensor, 1>{weir::empty(result)}));
}
}  // namespace
void Ihfft::take_out(Inputs in, const Tensor& out) const {
  if (!is_complex(in[0].dtype())) lay_out_conjugates("ihfft", *this, in[0], out, true);
}
void Ifft::take_out(Inputs in, const Tensor& out) const {
  const Tensor& x = in[0];
  if (!is_complex(x.dtype())) return lay_out_conjugates("ifft", *this, x, out, false);
  check_out_history("ifft", out, x);
  const int64_t d = axis_of("ifft", x, dim);
  Dims sizes = x.sizes();
  sizes[int(d)] = n.value_or(along(x, d));
  check_size(sizes[int(d)]);
  shape_out(out, Meta(sizes, x.dtype()));
}
Tensor Ifft::compose(Inputs in) const { return c2c(*this, in[0], false); }
Tensor Rfft::compose(Inputs in) const { return r2c("rfft", *this, in[0], true); }
Tensor Ihfft::compose(Inputs in) const { return r2c("ihfft", *this, in[0], false); }
Tensor Irfft::compose(Inputs in) const { return c2r("irfft", *this, in[0], false); }
Tensor Hfft::compose(Inputs in) const { return c2r("hfft", *this, in[0], true); }

Tensor Fftn::compose(Inputs in) const { return c2c_grid(*this, in[0], true); }
Tensor Ifftn::compose(Inputs in) const { return c2c_grid(*this, in[0], false); }
Tensor Rfftn::compose(Inputs in) const { return to_half_spectrum(*this, in[0]); }
Tensor Irfftn::compose(Inputs in) const { return from_half_spectrum(*this, in[0]); }
Tensor Hfftn::compose(Inputs in) const { return hermitian_fftn(*this, in[0]); }
Tensor Ihfftn::compose(Inputs in) const { return inverse_hermitian_fftn(*this, in[0]); }

Tensor Fft2::compose(Inputs in) const { return c2c_grid(*this, in[0], true); }
Tensor Ifft2::compose(Inputs in) const { return c2c_grid(*this, in[0], false); }
Tensor Rfft2::compose(Inputs in) const { return to_half_spectrum(*this, in[0]); }
Tensor Irfft2::compose(Inputs in) const { return from_half_spectrum(*this, in[0]); }
Tensor Hfft2::compose(Inputs in) const { return hermitian_fftn(*this, in[0]); }
Tensor Ihfft2::compose(Inputs in) const { return inverse_hermitian_fftn(*this, in[0]); }

Tensor Fftshift::compose(Inputs in) const {
  return rolled(in[0], dim, [](int64_t n) { return n / 2; });
}
Tensor Ifftshift::compose(Inputs in) const {
  return rolled(in[0], dim, [](int64_t n) { return (n + 1) / 2; });
}

// start, ... below end, of which frequencies are multiples.
static Tensor whole_numbers(const char* op, const Frequencies& f, int64_t start, int64_t end) {
  const DType t = f.dtype.value_or(default_dtype());
  check(is_inexact(t), op, " requires a floating point or complex dtype");
  check<NotImplemented>(!is_complex(t), op, ": not implemented for ", name_of(t));
  return fn::arange(Scalar(start), Scalar(end), Scalar(int64_t(1)), t, f.device);
}
// They are aranges that are divided, and so warn as arange does of an out= of another size.
static void take_out_of_arange(int64_t n, Inputs in, const Tensor& out) {
  ArangeTo whole;
  whole.end = Scalar(n);
  whole.take_out(in, out);
}
void FftFreq::take_out(Inputs in, const Tensor& out) const { take_out_of_arange(n, in, out); }
void RfftFreq::take_out(Inputs in, const Tensor& out) const { take_out_of_arange(n / 2 + 1, in, out); }

Tensor FftFreq::compose(Inputs) const {
  const Tensor whole = whole_numbers("fftfreq", *this, 0, n);  // joined by a write, since autocast has no part in a factory, as it would in cat
  copy_into(fn::slice(whole, int64_t(0), (n + 1) / 2, n, int64_t(1)), whole_numbers("fftfreq", *this, -(n / 2), 0));
  return whole * (1 / (double(n) * d));
}
Tensor RfftFreq::compose(Inputs) const { return whole_numbers("rfftfreq", *this, 0, n / 2 + 1) * (1 / (double(n) * d)); }

static const FftOps::Registration ops;

}  // namespace weir
