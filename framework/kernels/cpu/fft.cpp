// Fourier transforms by ducc0, one axis after the other: the lines along an axis are shared among our threads, so that
// ducc0 needs none of its own. Source: https://pypi.org/project/ducc0 (its FFT is BSD-3-Clause).
#include "framework/ops/fft.h"

#include "framework/kernels/cpu/loops.h"

// ducc0's functions are templates and inline: a name per instruction set keeps two kernel libraries apart.
#define WEIR_JOIN(a, b) a##b
#define WEIR_JOINED(a, b) WEIR_JOIN(a, b)
#define DUCC0_NAMESPACE WEIR_JOINED(ducc0_, WEIR_ISA)
#define DUCC0_NO_LOWLEVEL_THREADING
#include <ducc0/infra/string_utils.cc>
#include <ducc0/infra/threading.cc>
#include <ducc0/infra/mav.cc>
#include <ducc0/fft/fft1d_impl.h>
#include <ducc0/fft/fftnd_impl.h>

namespace weir {
namespace WEIR_ISA {
namespace {

namespace ducc0 = ::DUCC0_NAMESPACE;
using Shape = std::vector<size_t>;
using Strides = std::vector<ptrdiff_t>;

// All positions of a tensor but one axis, split among threads along the longest of the others.
struct Lines {
  int dim, split = -1;

  Lines(const Tensor& t, int d) : dim(d) {
    for (int k = 0; k < t.ndim(); k++)
      if (k != d && (split < 0 || t.sizes()[k] > t.sizes()[split])) split = k;
  }
  /// f(begin, end) of the split axis; once, with (0, 1), where there is none.
  template <class F> void run(const Tensor& t, F&& f) const {
    if (split < 0) return f(0, 1);
    int64_t n = t.sizes()[split], each = std::max<int64_t>(1, t.numel() / std::max<int64_t>(n, 1));
    parallel_for(n, std::max<int64_t>(1, kGrain / each), f);
  }
  template <class T> T* data(const Tensor& t, int64_t begin) const {
    return t.data<T>() + (split < 0 ? 0 : begin * t.strides()[split]);
  }
  Shape shape(const Tensor& t, int64_t begin, int64_t end) const {
    Shape s(t.sizes().begin(), t.sizes().end());
    if (split >= 0) s[split] = size_t(end - begin);
    return s.empty() ? Shape{1} : s;
  }
};
Strides strides(const Tensor& t) {
  return t.ndim() ? Strides(t.strides().begin(), t.strides().end()) : Strides{1};
}

template <class From, class To, class F> void each_part(const Tensor& from, const Tensor& to, int dim, F&& f) {
  Lines lines(from, dim);
  lines.run(from, [&](int64_t b, int64_t e) {
    ducc0::cfmav<From> in(lines.data<From>(from, b), lines.shape(from, b, e), strides(from));
    ducc0::vfmav<To> out(lines.data<To>(to, b), lines.shape(to, b, e), strides(to));
    f(in, out);
  });
}

template <class F> void by_precision(DType t, F&& f) {
  if (real_type(t) == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

// The axes of `dim` but the last `skipped`, from `from` into `to`, which may be the same.
template <class R> void complex_axes(Tensor from, const Tensor& to, const Dims& dim, int skipped, R scale, bool forward) {
  using C = std::complex<R>;
  for (int k = 0; k + skipped < dim.n; k++) {
    int d = wrap_dim(dim[k], to.ndim(), "fft");
    each_part<C, C>(from, to, d, [&](auto& in, auto& out) { ducc0::c2c(in, out, {size_t(d)}, forward, scale, 1); });
    from = to, scale = 1;
  }
  if (dim.n > skipped) return;
  run_copy(from, to);
}

void c2c(const FftC2c& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  by_precision(out[0].dtype(), [&]<class R>(TypeTag<R>) { complex_axes<R>(in[0], out[0], op.dim, 0, R(op.scale), op.forward); });
}

void r2c(const FftR2c& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  int d = wrap_dim(op.dim.back(), in[0].ndim(), "fft");
  by_precision(out[0].dtype(), [&]<class R>(TypeTag<R>) {
    each_part<R, std::complex<R>>(in[0], out[0], d, [&](auto& x, auto& y) { ducc0::r2c(x, y, size_t(d), true, R(op.scale), 1); });
    if (op.dim.n > 1) complex_axes<R>(out[0], out[0], op.dim, 1, R(1), true);
  });
}

void c2r(const FftC2r& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  int d = wrap_dim(op.dim.back(), in[0].ndim(), "fft");
  by_precision(out[0].dtype(), [&]<class R>(TypeTag<R>) {
    Tensor half = in[0];
    if (op.dim.n > 1) half = empty(in[0].sizes(), in[0].dtype()), complex_axes<R>(in[0], half, op.dim, 1, R(1), false);
    each_part<std::complex<R>, R>(half, out[0], d, [&](auto& x, auto& y) { ducc0::c2r(x, y, size_t(d), false, R(op.scale), 1); });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<FftC2c, c2c>(DeviceType::cpu);
  set_kernel<FftR2c, r2c>(DeviceType::cpu);
  set_kernel<FftC2r, c2r>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
