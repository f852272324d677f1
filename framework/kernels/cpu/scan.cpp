#include "framework/ops/scan.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// log(exp(a) + exp(b)); of equal infinities the value itself.
double joined(double a, double b) {
  double low = std::min(a, b), high = std::max(a, b);
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return low != high || std::isfinite(low) ? std::log1p(std::exp(low - high)) + high : a;
}
std::complex<double> joined(std::complex<double> a, std::complex<double> b) {
  auto low = a.real() < b.real() ? a : b, high = a.real() < b.real() ? b : a;
  if (std::isnan(a.real()) || std::isnan(a.imag()) || std::isnan(b.real()) || std::isnan(b.imag())) return {NAN, NAN};
  if (!std::isfinite(low.real()) && low.real() == high.real())
    return low.real() < 0 ? low : std::log(std::exp(low) + std::exp(high));
  auto e = std::exp(low - high);
  double x = e.real(), y = e.imag();
  return high + std::complex<double>(0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x));
}

void logcumsumexp(const Logcumsumexp& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  Tensor x = row_major(in[0]);
  const Axis axis(x.sizes(), op.dim, "logcumsumexp");
  const int64_t n = axis.n, inner = axis.inner;
  auto run = [&]<class T>(TypeTag<T>) {
    const int64_t item = int64_t(size_of(x.dtype()));
    parallel_for(x.numel() / n, std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t b, int64_t e) {
      std::vector<T> line(n);
      for (int64_t l = b; l < e; l++) {
        int64_t at = axis.line(l) * item;
        convert(x.dtype(), x.raw() + at, inner, dtype_of<T>(), line.data(), 1, n);
        for (int64_t i = 1; i < n; i++) line[i] = joined(line[i], line[i - 1]);
        convert(dtype_of<T>(), line.data(), 1, x.dtype(), out[0].raw() + at, inner, n);
      }
    });
  };
  if (is_complex(x.dtype())) run(TypeTag<std::complex<double>>{});
  else run(TypeTag<double>{});
}

const bool bound = [] {
  set_kernel<Logcumsumexp, logcumsumexp>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
