// Fourier transforms, one axis after the other: of powers of two by our own steps (fft_power.h), else by ducc0, whose lines along an axis are
// shared among our threads, so that it needs none of its own. Source: https://pypi.org/project/ducc0 (its FFT is BSD-3-Clause).
#include "framework/ops/fft.h"

#include "framework/kernels/cpu/fft_power.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/ops/reduce.h"

// ducc0's functions are templates and inline: a name per instruction set keeps two kernel libraries apart.
#define WEIR_JOIN(a, b) a##b
#define WEIR_JOINED(a, b) WEIR_JOIN(a, b)
#define DUCC0_NAMESPACE WEIR_JOINED(ducc0_, WEIR_ISA)
#define DUCC0_NO_LOWLEVEL_THREADING
#include "framework/kernels/cpu/fft_lanes.h"
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

constexpr int kLinesAtOnce = 64;  // of which short ones are told, so that what they share is looked up once

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
    parallel_for(n, kGrain / each, f);
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

// f(x, y) of the first numbers of all lines along `dim` of `from` and of `to`, n of them at a time;
// given a second axis, of those where it is at `beside`, too.
template <int n = 1, class From, class To, class F> void each_line(const Tensor& from, const Tensor& to, int dim, int beside, int64_t work, F&& f) {
  Dims sizes, x, y;
  for (int k = 0; k < from.ndim(); k++)
    if (k != dim && k != beside) sizes.push(from.sizes()[k]), x.push(from.strides()[k]), y.push(to.strides()[k]);
  parallel_for(sizes.product(), kGrain / work, [&](int64_t b, int64_t e) {
    const From *in = from.data<From>(), *some_in[n];
    To *out = to.data<To>(), *some_out[n];
    Dims at = sizes;
    for (int64_t k = sizes.n, rest = b; k-- > 0; rest /= sizes[k]) at[k] = rest % sizes[k], in += at[k] * x[k], out += at[k] * y[k];
    for (int64_t i = b, some = 0; i < e; i++) {
      some_in[some] = in, some_out[some++] = out;
      if (some == n || i + 1 == e) {
        f(some_in, some_out, some);
        some = 0;
      }
      for (int64_t k = sizes.n; k-- > 0;) {  // counted on, since short lines take no longer than a division for each axis
        in += x[k], out += y[k];
        if (++at[k] < sizes[k]) break;
        in -= sizes[k] * x[k], out -= sizes[k] * y[k], at[k] = 0;
      }
    }
  });
}

// Whether a line of n real numbers is taken as a complex one of half the length: shorter ones take longer to be parted from it than ducc0 takes for all.
template <class R> bool is_real_power_line(int64_t n) { return n >= 128 && n % 2 == 0 && is_power_line<R>(n / 2); }

bool dense_lines(const Tensor& from, const Tensor& to, int dim) { return from.ndim() && from.strides()[dim] == 1 && to.strides()[dim] == 1; }

// Whether lines along `dim` are taken several at once, which hold or, if real, stand for n complex numbers.
template <class R> bool are_short_lines(const Tensor& from, const Tensor& to, int dim, int64_t n) {
  return from.ndim() && to.strides()[dim] == 1 && are_short_power_lines<R>(n, from.numel() / from.sizes()[dim]);
}
// Of less than 16 numbers ducc0 takes sums and differences alone, in which an infinity stays one.
template <class R> bool are_short_real_lines(const Tensor& from, const Tensor& to, int dim, int64_t n) {
  return n >= 16 && n % 2 == 0 && are_short_lines<R>(from, to, dim, n / 2);
}
template <class R> void short_real_lines(const Tensor& from, const Tensor& to, int dim, R scale, bool whole, bool forward) {
  const int64_t n = from.sizes()[dim];
  each_line<kLinesAtOnce, R, std::complex<R>>(from, to, dim, -1, n, [&](auto x, auto y, int64_t count) { rfft_lines(x, from.strides()[dim], y, count, n, whole, forward, scale); });
}

// The axis along which neighbouring columns lie side by side in both, or -1.
int columns_beside(const Tensor& from, const Tensor& to, int dim) {
  for (int k = 0; k < from.ndim(); k++)
    if (k != dim && from.strides()[k] == 1 && to.strides()[k] == 1 && from.sizes()[k] >= 4) return k;
  return -1;
}

template <class R> void complex_lines(const Tensor& from, const Tensor& to, int dim, R scale, bool forward) {
  using C = std::complex<R>;
  const int64_t n = from.ndim() ? from.sizes()[dim] : 1;
  if (are_short_lines<R>(from, to, dim, n))
    return each_line<kLinesAtOnce, C, C>(from, to, dim, -1, n, [&](auto x, auto y, int64_t count) { fft_lines(x, from.strides()[dim], y, count, n, forward, scale); });
  if (is_power_line<R>(n) && dense_lines(from, to, dim))
    return each_line<1, C, C>(from, to, dim, -1, n, [&](auto x, auto y, int64_t) { fft_line(*x, *y, n, forward, scale); });
  if (const int beside = columns_beside(from, to, dim); beside >= 0 && is_power_column(n)) {
    const int64_t a = from.strides()[dim], b = to.strides()[dim], columns = from.sizes()[beside];
    return each_line<1, C, C>(from, to, dim, beside, n * columns, [&](auto x, auto y, int64_t) { fft_columns(*x, a, *y, b, n, columns, forward, scale); });
  }
  each_part<C, C>(from, to, dim, [&](auto& in, auto& out) { ducc0::c2c(in, out, {size_t(dim)}, forward, scale, 1); });
}
template <class R> void real_lines(const Tensor& from, const Tensor& to, int dim, R scale) {
  const int64_t n = from.ndim() ? from.sizes()[dim] : 1;
  if (are_short_real_lines<R>(from, to, dim, n)) return short_real_lines<R>(from, to, dim, scale, false, true);
  if (is_real_power_line<R>(n) && dense_lines(from, to, dim))
    return each_line<1, R, std::complex<R>>(from, to, dim, -1, n, [&](auto x, auto y, int64_t) { rfft_line(*x, *y, n, scale); });
  each_part<R, std::complex<R>>(from, to, dim, [&](auto& x, auto& y) { ducc0::r2c(x, y, size_t(dim), true, scale, 1); });
}
template <class R> void half_lines(const Tensor& from, const Tensor& to, int dim, R scale) {
  const int64_t n = to.ndim() ? to.sizes()[dim] : 1;
  if (are_short_real_lines<R>(from, to, dim, n))
    return each_line<kLinesAtOnce, std::complex<R>, R>(from, to, dim, -1, n, [&](auto x, auto y, int64_t count) { irfft_lines(x, from.strides()[dim], y, count, n, scale); });
  if (is_real_power_line<R>(n) && dense_lines(from, to, dim))
    return each_line<1, std::complex<R>, R>(from, to, dim, -1, n, [&](auto x, auto y, int64_t) { irfft_line(*x, *y, n, scale); });
  each_part<std::complex<R>, R>(from, to, dim, [&](auto& x, auto& y) { ducc0::c2r(x, y, size_t(dim), false, scale, 1); });
}

template <class F> void by_precision(DType t, F&& f) {
  if (real_type(t) == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

// The axes of `dim` but the last `skipped`, from `from` into `to`, which may be the same.
template <class R> void complex_axes(Tensor from, const Tensor& to, const Dims& dim, int skipped, R scale, bool forward) {
  for (int k = 0; k + skipped < dim.n; k++) {
    complex_lines<R>(from, to, wrap_dim(dim[k], to.ndim(), "fft"), scale, forward);
    from = to, scale = 1;
  }
  if (dim.n > skipped) return;
  run_copy(from, to);
}

/// The first `n` numbers along axis d of t.
Tensor cut(const Tensor& t, int d, int64_t n) {
  Dims sizes = t.sizes();
  sizes[d] = n;
  return alias(t->storage, t.dtype(), sizes, t.strides(), t->offset);
}

// The transform of real numbers at k is the conjugate of that at -k, in all transformed axes: the part beyond the half along `d` is copied.
template <class R> void mirror(const Tensor& t, const Dims& dim, int d, bool forward) {
  Dims sizes, strides;
  AxisSet turned = 0;
  for (int k = 0; k < t.ndim(); k++) {
    if (k == d) continue;
    for (int64_t axis : dim)
      if (wrap_dim(axis, t.ndim(), "fft") == k) turned |= axis_bit(sizes.n);
    sizes.push(t.sizes()[k]), strides.push(t.strides()[k]);
  }
  const int64_t n = t.sizes()[d], step = t.strides()[d], half = n / 2 + 1;
  std::complex<R>* p = t.data<std::complex<R>>();
  auto each = [&](auto&& f) {
    parallel_for(sizes.product(), kGrain / n, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        int64_t to = 0, from = 0, rest = i;
        for (int k = sizes.n; k-- > 0; rest /= sizes[k]) {
          const int64_t at = rest % sizes[k];
          to += at * strides[k], from += (turned & axis_bit(k) && at ? sizes[k] - at : at) * strides[k];
        }
        f(p + to, p + from);
      }
    });
  };
  each([&](std::complex<R>* to, const std::complex<R>* from) {
    for (int64_t k = half; k < n; k++) to[k * step] = std::conj(from[(n - k) * step]);
  });
  if (!forward) each([&](std::complex<R>* to, const std::complex<R>*) {
    for (int64_t k = 0; k < n; k++) to[k * step] = std::conj(to[k * step]);
  });
}

// Half of the result from real numbers, the rest from that. Backwards is the conjugate of forwards.
template <class R> void real_to_whole(const Tensor& x, const Tensor& y, const Dims& dim, R scale, bool forward) {
  int last = wrap_dim(dim.back(), x.ndim(), "fft");
  Dims others;
  for (int64_t axis : dim)
    if (int k = wrap_dim(axis, x.ndim(), "fft"); dense_lines(x, y, k)) last = k;
  for (int64_t axis : dim)
    if (wrap_dim(axis, x.ndim(), "fft") != last) others.push(axis);
  if (x.ndim() == 0) return real_lines<R>(x, y, last, scale);
  if (others.empty() && are_short_real_lines<R>(x, y, last, x.sizes()[last])) return short_real_lines<R>(x, y, last, scale, true, forward);
  const Tensor half = cut(y, last, x.sizes()[last] / 2 + 1);
  real_lines<R>(x, half, last, scale);
  if (!others.empty()) complex_axes<R>(half, half, others, 0, R(1), true);
  mirror<R>(y, dim, last, forward);
}

void c2c(const FftC2c& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  by_precision(out[0].dtype(), [&]<class R>(TypeTag<R>) {
    if (!is_complex(in[0].dtype())) return real_to_whole<R>(in[0], out[0], op.dim, R(op.scale), op.forward);
    complex_axes<R>(in[0], out[0], op.dim, 0, R(op.scale), op.forward);
  });
}

void r2c(const FftR2c& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  int d = wrap_dim(op.dim.back(), in[0].ndim(), "fft");
  by_precision(out[0].dtype(), [&]<class R>(TypeTag<R>) {
    real_lines<R>(in[0], out[0], d, R(op.scale));
    if (op.dim.n > 1) complex_axes<R>(out[0], out[0], op.dim, 1, R(1), true);
  });
}

void c2r(const FftC2r& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  int d = wrap_dim(op.dim.back(), in[0].ndim(), "fft");
  by_precision(out[0].dtype(), [&]<class R>(TypeTag<R>) {
    Tensor half = in[0];
    if (op.dim.n > 1) half = empty(in[0].sizes(), in[0].dtype()), complex_axes<R>(in[0], half, op.dim, 1, R(1), false);
    half_lines<R>(half, out[0], d, R(op.scale));
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
