#include "framework/ops/deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

/// Count, mean and sum of squared deviations of some numbers.
struct Moments {
  double n = 0, mean = 0, squares = 0;
  /// Source: Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
  void add(const Moments& o) {
    const double total = n + o.n, delta = o.mean - mean;
    mean += delta * (o.n / total);
    squares += o.squares + delta * delta * (n * o.n / total);
    n = total;
  }
};

/// Squares of `n` distances to a rounded mean as those to the mean itself, given the square of the distances' sum; rounding leaves no less than 0.
double centred(double squares, double rest, double n) {
  const double left = squares - rest / n;
  return left < 0 ? 0 : left;
}

template <class A> Moments moments(const A* x, int64_t n) {
  double sum = 0, squares = 0, rest = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += double(x[i]);
  const double mean = sum / double(n);
#pragma omp simd reduction(+ : squares, rest)
  for (int64_t i = 0; i < n; i++) {
    const double d = double(x[i]) - mean;
    squares += d * d, rest += d;
  }
  return {double(n), mean + rest / double(n), centred(squares, rest * rest, double(n))};  // the distances' sum is what rounding took from the mean
}

/// The mean of numbers of which some are not finite. PyTorch takes the difference to each next number, which spoils an infinity
/// that is not the last.
template <class A> double running_mean(const A* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (std::isinf(sum)) return std::nan("");
    sum += double(x[i]);
  }
  return sum / double(n);
}

double spread(const VarMeanForward& op, double squares, int64_t n) { return squares / std::max(0.0, double(n) - op.correction); }
double spread(const StdMeanForward& op, double squares, int64_t n) { return std::sqrt(spread(static_cast<const VarMeanForward&>(op), squares, n)); }

constexpr int64_t kBlock = 4096;  // numbers whose moments are found together: they stay in the first-level cache

/// `lines` row-major rows of n numbers, as numbers of type A.
template <class A, class Op> void rows(const Tensor& x, int64_t lines, int64_t n, const Op& op, Outputs out) {
  const int64_t blocks = (n + kBlock - 1) / kBlock, item = size_of(x.dtype());
  auto numbers = [&](int64_t at, int64_t count, A* buffer) -> const A* {
    if (x.dtype() == dtype_of<A>()) return x.data<A>() + at;
    convert(x.dtype(), x.raw() + at * item, 1, dtype_of<A>(), buffer, 1, count);
    return buffer;
  };
  std::vector<Moments> part(size_t(lines * blocks));
  parallel_for(lines * blocks, kGrain / std::min(n, kBlock), [&](int64_t b, int64_t e) {
    A buffer[kBlock];
    for (int64_t i = b; i < e; i++) {
      const int64_t at = i % blocks * kBlock, count = std::min(kBlock, n - at);
      part[size_t(i)] = moments(numbers(i / blocks * n + at, count, buffer), count);
    }
  });
  std::vector<double> var(size_t(lines), 0), mean(size_t(lines), 0);
  for (int64_t l = 0; l < lines; l++) {
    Moments all;
    for (int64_t k = 0; k < blocks; k++) all.add(part[size_t(l * blocks + k)]);
    if (!std::isfinite(all.mean)) {  // infinities of two blocks have met, or PyTorch's mean would have met them
      std::vector<A> line(size_t(n), 0);
      all.mean = running_mean(numbers(l * n, n, line.data()), n);
    }
    var[size_t(l)] = spread(op, all.squares, n), mean[size_t(l)] = all.mean;
  }
  convert(DType::float64, var.data(), 1, out[0].dtype(), out[0].raw(), 1, lines);
  convert(DType::float64, mean.data(), 1, out[1].dtype(), out[1].raw(), 1, lines);
}

/// Columns of a row-major (n, lines) matrix, a strip of them at a time.
template <class A, class Op> void columns(const Tensor& x, int64_t outer, int64_t n, int64_t inner, const Op& op, Outputs out) {
  constexpr int64_t kStrip = 64;
  const int64_t strips = (inner + kStrip - 1) / kStrip, item = size_of(x.dtype());
  parallel_for(outer * strips, kGrain / std::max<int64_t>(n * kStrip, 1), [&](int64_t b, int64_t e) {
    A buffer[kStrip];
    double sum[kStrip], squares[kStrip], mean[kStrip];
    bool spoiled[kStrip];
    for (int64_t s = b; s < e; s++) {
      const int64_t o = s / strips, c = s % strips * kStrip, width = std::min(kStrip, inner - c);
      auto row = [&](int64_t r) -> const A* {
        const auto* at = x.raw() + ((o * n + r) * inner + c) * item;
        if (x.dtype() == dtype_of<A>()) return reinterpret_cast<const A*>(at);
        convert(x.dtype(), at, 1, dtype_of<A>(), buffer, 1, width);
        return buffer;
      };
      std::fill(sum, sum + kStrip, 0.0), std::fill(squares, squares + kStrip, 0.0), std::fill(spoiled, spoiled + kStrip, false);
      for (int64_t r = 0; r < n; r++) {
        const A* p = row(r);
#pragma omp simd
        for (int64_t i = 0; i < width; i++) sum[i] += double(p[i]);
        if (r == n - 2)
          for (int64_t i = 0; i < width; i++) spoiled[i] = std::isinf(sum[i]);
      }
      for (int64_t i = 0; i < width; i++) mean[i] = sum[i] / double(n);
      for (int64_t r = 0; r < n; r++) {
        const A* p = row(r);
#pragma omp simd
        for (int64_t i = 0; i < width; i++) squares[i] += (double(p[i]) - mean[i]) * (double(p[i]) - mean[i]);
      }
      for (int64_t i = 0; i < width; i++) {
        squares[i] = spread(op, squares[i], n);
        if (spoiled[i]) mean[i] = std::nan("");
      }
      convert(DType::float64, squares, 1, out[0].dtype(), out[0].raw() + (o * inner + c) * int64_t(size_of(out[0].dtype())), 1, width);
      convert(DType::float64, mean, 1, out[1].dtype(), out[1].raw() + (o * inner + c) * int64_t(size_of(out[1].dtype())), 1, width);
    }
  });
}

template <class T, class Op> void complex_rows(const Tensor& x, int64_t lines, int64_t n, const Op& op, Outputs out) {
  using R = typename T::value_type;
  for (int64_t l = 0; l < lines; l++) {
    const T* p = x.data<T>() + l * n;
    std::complex<double> sum = 0;
    double squares = 0;
    bool met = false, met_too = false;  // does an infinity stand in a part before its last number? A running mean is NaN then, as in PyTorch
    for (int64_t i = 0; i < n; i++) {
      if (i == n - 1) met = std::isinf(sum.real()), met_too = std::isinf(sum.imag());
      sum += std::complex<double>(p[i]);
    }
    const std::complex<double> mean(met ? std::nan("") : sum.real() / double(n), met_too ? std::nan("") : sum.imag() / double(n));
    std::complex<double> rest = 0;  // what rounding left of the mean
    for (int64_t i = 0; i < n; i++) {
      const std::complex<double> d = std::complex<double>(p[i]) - mean;
      squares += std::norm(d), rest += d;
    }
    out[0].data<R>()[l] = R(spread(op, centred(squares, std::norm(rest), double(n)), n));
    out[1].data<T>()[l] = T(mean);
  }
}

template <class Op> void var_mean(const Op& op, Inputs in, Outputs out) {
  const Tensor& x = in[0];
  Dims order, reduced;
  int64_t n = 1, lines = 1;
  for (int d = 0; d < x.ndim(); d++) {
    if (op.dim.contains(d)) reduced.push(d), n *= x.sizes()[d];
    else order.push(d), lines *= x.sizes()[d];
  }
  if (lines == 0) return;
  if (n == 0) {
    for (const Tensor& t : out) {
      const std::complex<double> nan(std::nan(""), std::nan(""));  // a real dtype takes its first part
      convert(is_complex(t.dtype()) ? DType::complex128 : DType::float64, &nan, 0, t.dtype(), t.raw(), 1, lines);
    }
    return;
  }
  // Reduced axes that stand beside each other in a row-major tensor need no copy.
  const bool together = !reduced.empty() && reduced.back() - reduced[0] == reduced.n - 1;
  int64_t inner = 1;
  for (int d = reduced.empty() ? x.ndim() : int(reduced.back()) + 1; d < x.ndim(); d++) inner *= x.sizes()[d];
  const bool direct = x.is_contiguous() && (reduced.empty() || together);
  if (direct && inner > 1 && !reduced.empty() && !is_complex(x.dtype())) {
    if (x.dtype() == DType::float64) return columns<double>(x, lines / inner, n, inner, op, out);
    return columns<float>(x, lines / inner, n, inner, op, out);
  }
  Dims sizes, strides;
  for (int64_t d : reduced) order.push(d);
  for (int64_t d : order) sizes.push(x.sizes()[int(d)]), strides.push(x.strides()[int(d)]);
  const Tensor lined = row_major(alias(x, sizes, strides, x->offset));
  if (lined.dtype() == DType::complex64) return complex_rows<std::complex<float>>(lined, lines, n, op, out);
  if (lined.dtype() == DType::complex128) return complex_rows<std::complex<double>>(lined, lines, n, op, out);
  if (lined.dtype() == DType::float64) return rows<double>(lined, lines, n, op, out);
  rows<float>(lined, lines, n, op, out);
}

}  // namespace

static const bool registered = [] {
  set_kernel<VarMeanForward, var_mean<VarMeanForward>>(DeviceType::cpu);
  set_kernel<StdMeanForward, var_mean<StdMeanForward>>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
