#include "framework/ops/deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

int64_t count_of(const Dims& sizes, const Dims& dim) {
  int64_t n = 1;
  for (int64_t d : dim) n *= sizes[int(d)];
  return n;
}

std::array<Tensor, 2> moments(const char* op, const Tensor& x, const std::optional<Dims>& dim, double correction, bool keepdim) {
  check(is_inexact(x.dtype()), op, ": var and std only support floating point and complex dtypes");
  const AxisSet axes = reduced_axes(op, dim, x.ndim());
  Dims list;
  for (int i = 0; i < x.ndim(); i++)
    if (axes >> i & 1) list.push(i);
  const int64_t left = reduced_sizes(x.sizes(), axes, false).product();
  if (double(x.numel() / std::max<int64_t>(1, left)) <= correction)
    warn(str(op, "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output numel)."));
  const bool whole = !dim || dim->empty();
  if (op[0] != 's') return fn::var_mean_forward(x, list, correction, keepdim, whole);
  if (!is_complex(x.dtype())) return fn::std_mean_forward(x, list, correction, keepdim, whole);
  // PyTorch adds the variances of the parts and takes the root of what their dtype holds. At 0 its gradient is 0, not infinite.
  auto [var, mean] = fn::var_mean_forward(x, list, correction, keepdim, whole);
  if (!is_differentiated(var)) return {fn::sqrt(var), mean};
  const Tensor zero = fn::eq(var, num(0.0));
  return {fn::masked_fill(fn::sqrt(fn::masked_fill(var, zero, 1.0)), zero, 0.0), mean};
}

Tensors listed(const std::array<Tensor, 2>& both) { return {both[0], both[1]}; }

}  // namespace

std::array<Meta, 2> VarMeanForward::infer(Inputs in) const {
  const Tensor& x = in[0];
  AxisSet axes = 0;
  for (int64_t d : dim) axes |= axis_bit(d);
  const Dims sizes = reduced_sizes(x.sizes(), axes, keepdim);
  return {Meta(sizes, real_type(x.dtype()), x.device()), Meta(sizes, x.dtype(), x.device())};
}
// The slope is written down, as in PyTorch: that of the parts passes through the mean, which an infinity spoils for all.
Tensors VarMeanForward::spread_back(const Saved& s, const Tensor& dvar) const {
  const Dims sizes = s.input_meta(0).sizes;
  Dims kept = sizes;
  for (int64_t d : dim) kept[int(d)] = 1;
  const int64_t n = count_of(sizes, dim);
  const double freedom = double(n) - correction;
  const Tensor dmean = s.cotangent(1);
  Tensor dx;
  if (dvar) {
    // The mean once more, which the running one is not where an infinity stands.
    const Tensor x = s.input(0), mean = fn::mean(x, dim, true);
    const double infinity = std::numeric_limits<double>::infinity();
    const Tensor each = fn::reshape(dvar, kept);
    // The number of results, not of elements, is multiplied by the constant.
    dx = freedom > 0 || !whole ? each * (freedom ? 2 / freedom : infinity) * (x - mean) : each * fn::where(fn::eq(x, mean), num(std::nan("")), num(infinity));
  }
  if (dmean) {
    const Tensor share = fn::expand(fn::reshape(dmean, kept) / double(n), sizes);
    dx = dx ? dx + share : share;
  }
  return {dx};
}

Tensors VarMeanForward::vjp(const Saved& s, const Tensor&) const { return spread_back(s, s.cotangent(0)); }
// At 0 the gradient is 0, not infinite: so PyTorch defines it.
Tensors StdMeanForward::vjp(const Saved& s, const Tensor&) const {
  const Tensor dstd = s.cotangent(0);
  if (!dstd) return spread_back(s, dstd);
  const Tensor deviation = s.output(0);
  return spread_back(s, fn::masked_fill(dstd / (deviation * 2.0), fn::eq(deviation, num(0.0)), 0.0));
}

std::array<Tensor, 2> ByCorrection::both(const char* op, const Tensor& x) const {
  return moments(op, x, dim, correction ? correction->to_double() : 1.0, keepdim);
}
std::array<Tensor, 2> ByUnbiased::both(const char* op, const Tensor& x) const { return moments(op, x, {}, unbiased, false); }
std::array<Tensor, 2> ByDimUnbiased::both(const char* op, const Tensor& x) const { return moments(op, x, dim, unbiased, keepdim); }

// Source: PyTorch's std_var_out, which has a loop of its own for one result, and does not reduce into complex numbers.
static void take_deviation(const Tensor& x, const std::optional<Dims>& dim, const Tensor& out) {
  const Dims kept = reduced_sizes(x.sizes(), reduced_axes("var", dim, x.ndim()), true);
  const bool one = kept.product() == 1;
  check(!one || !is_reduced(x.dtype()) || is_reduced(out.dtype()), "std_var_all: Unsupported dtype ", name_of(x.dtype()));
  check<NotImplemented>(one || kept.product() == 0 || is_complex(x.dtype()) || !is_complex(out.dtype()), "\"std_cpu\" not implemented for '", name_of(out.dtype()), "'");
}
void ByCorrection::take_out(Inputs in, const Tensor& out) const { take_deviation(in[0], dim, out); }
void ByUnbiased::take_out(Inputs in, const Tensor& out) const { take_deviation(in[0], {}, out); }
void ByDimUnbiased::take_out(Inputs in, const Tensor& out) const { take_deviation(in[0], dim, out); }

Tensor Var::compose(Inputs in) const { return both("var", in[0])[0]; }
Tensor VarUnbiased::compose(Inputs in) const { return both("var", in[0])[0]; }
Tensor VarDimUnbiased::compose(Inputs in) const { return both("var", in[0])[0]; }
Tensor Std::compose(Inputs in) const { return both("std", in[0])[0]; }
Tensor StdUnbiased::compose(Inputs in) const { return both("std", in[0])[0]; }
Tensor StdDimUnbiased::compose(Inputs in) const { return both("std", in[0])[0]; }
Tensors VarMean::compose(Inputs in) const { return listed(both("var_mean", in[0])); }
Tensors VarMeanUnbiased::compose(Inputs in) const { return listed(both("var_mean", in[0])); }
Tensors VarMeanDimUnbiased::compose(Inputs in) const { return listed(both("var_mean", in[0])); }
Tensors StdMean::compose(Inputs in) const { return listed(both("std_mean", in[0])); }
Tensors StdMeanUnbiased::compose(Inputs in) const { return listed(both("std_mean", in[0])); }
Tensors StdMeanDimUnbiased::compose(Inputs in) const { return listed(both("std_mean", in[0])); }

static const DeviationOps::Registration ops;

}  // namespace weir
