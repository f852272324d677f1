// Batch norm with known statistics is x * scale + shift, by channel.
#pragma once
#include <cmath>
#include <utility>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// The n numbers of a row `t`, or n times `fallback` where there is none.
inline Scratch<double> numbers(const Tensor& t, int64_t n, double fallback) {
  Scratch<double> r(n, fallback);
  if (t) convert(t.dtype(), t.raw(), t.ndim() ? t.strides()[0] : 1, DType::float64, r.data(), 1, n);
  return r;
}

/// Of a batch, whose equal numbers have 0 where no eps is given. Source: PyTorch's InvStd, which does not ask of given statistics.
inline double inverse_deviation(double variance, double eps) { return variance == 0 && eps == 0 ? 0 : 1 / std::sqrt(variance + eps); }

inline Scratch<double> inverse_deviation(Scratch<double> variance, double eps) {
  for (double& v : variance) v = 1 / std::sqrt(v + eps);
  return variance;
}

/// Each step is rounded as PyTorch rounds it: of one value, where x is the mean, the digits lost here are all there is.
template <class A>
std::pair<Scratch<A>, Scratch<A>> scale_and_shift(const Scratch<double>& mean, const Scratch<double>& invstd, const Scratch<double>& weight,
                                                          const Scratch<double>& bias) {
  Scratch<A> scale(mean.size()), shift(mean.size());
  for (size_t c = 0; c < mean.size(); c++) {
    scale[c] = A(double(A(invstd[c])) * double(A(weight[c])));
    shift[c] = A(double(A(bias[c])) - double(A(double(A(mean[c])) * double(scale[c]))));
  }
  return {scale, shift};
}

}  // namespace WEIR_ISA
}  // namespace weir
