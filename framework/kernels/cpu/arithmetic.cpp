#include "framework/kernels/cpu/arithmetic.h"

#include "framework/kernels/cpu/pointwise.h"
#include "framework/ops/arithmetic.h"

namespace weir {
namespace WEIR_ISA {

// A complex power whose exponent is no Python number: exp(b log a) where that is special, so that 0 to the 0 is NaN. Source: PyTorch, which
// has products and constants only where the exponent is a number.
struct PowOfTensors : Pow {};
template <class R> ComplexVec<R> formula(const PowOfTensors&, ComplexVec<R> a, ComplexVec<R> b) {
  ComplexVec<R> r = pow(a, b);
  for (int i = 0; i < r.size; i++) {
    const std::complex<double> x(a.re.v[i], a.im.v[i]), y(b.re.v[i], b.im.v[i]);
    if (x != 0.0 && std::isfinite(std::abs(x)) && std::isfinite(std::abs(y))) continue;
    const std::complex<double> z = std::pow(x, y);
    r.re.v[i] = R(z.real()), r.im.v[i] = R(z.imag());
  }
  return r;
}
// To any power, says PyTorch of the number 1.
struct PowOfOne : Pow {};
template <class T> T formula(const PowOfOne&, T, T) { return T(std::complex<double>(1)); }

// Powers below zero, of a number: PyTorch divides by a product or a root made before, which decides what infinities give.
struct PowBelowZero : Pow {};
template <class R> ComplexVec<R> formula(const PowBelowZero&, ComplexVec<R> a, ComplexVec<R> b) {
  using V = ComplexVec<R>;
  const V one(std::complex<double>(1));
  const double e = double(b.re.v[0]);
  if (e == -1) return one / a;
  if (e == -2) return one / (a * a);
  if (e == -0.5) return one / sqrt(a);
  if (e != -3) return pow(a, b);
  V r = a;
  for (int i = 0; i < r.size; i++) {
    const std::complex<double> z = std::pow(std::complex<double>(a.re.v[i], a.im.v[i]), std::complex<double>(-3));
    r.re.v[i] = R(z.real()), r.im.v[i] = R(z.imag());
  }
  return r;
}

// To the number 2 or 3: products, in the dtype itself.
struct PowOfProducts : Pow {};
template <class R> ComplexVec<R> formula(const PowOfProducts&, ComplexVec<R> a, ComplexVec<R> b) {
  const ComplexVec<R> square = a * a;
  return b.re.v[0] == 2 ? square : square * a;
}
template <class T> requires kReal<T> Vec<T> formula(const PowOfProducts&, Vec<T> a, Vec<T> b) {
  const Vec<T> square = a * a;
  return b.v[0] == 2 ? square : square * a;
}

// To the number 1/2, or -1/2.
struct PowOfHalf : Pow {};
template <class T> T formula(const PowOfHalf& op, T a, T) { return op.root > 0 ? sqrt(a) : T(1) / sqrt(a); }
const Loops& root_loops() {
  static const Loops loops = [] { Loops l; l.f32 = loop<PowOfHalf, float>, l.f64 = loop<PowOfHalf, double>; return l; }();
  return loops;
}

// Loops that also run complex numbers, by a formula of their own; products of any numbers.
template <class Other> Loops with_complex(Loops l) {
  l.c128 = loop<Other, std::complex<double>>;
  return l;
}
template <> Loops with_complex<PowOfProducts>(Loops l) {
  l.f32 = loop<PowOfProducts, float>, l.f64 = loop<PowOfProducts, double>;
  l.c64 = loop<PowOfProducts, std::complex<float>>, l.c128 = loop<PowOfProducts, std::complex<double>>;
  return l;
}

static void power(const Pow& op, Inputs in, Outputs out) {
  static const Loops numbers = loops_of<Pow>(), tensors = with_complex<PowOfTensors>(numbers), one = with_complex<PowOfOne>(numbers),
                     below = with_complex<PowBelowZero>(numbers), products = with_complex<PowOfProducts>(numbers);
  auto is_number = [&](int i) { return in[i].has_flag(kWrappedNumber); };
  auto pick = [&]() -> const Loops& {
    if (op.root) return root_loops();
    if (is_number(0) && in[0].dtype() != DType::boolean && item(in[0]).to_complex() == 1.0) return one;
    if (!is_number(1)) return tensors;
    const std::complex<double> e = item(in[1]).to_complex();
    return e == 2.0 || e == 3.0 ? products : e.imag() == 0 && e.real() < 0 ? below : numbers;
  };
  run_pointwise("pow(", pick(), computes<Pow>(&op, in, out[0].dtype()), &op, in, out[0]);
}

// Quotients without what is behind the point: no vector is asked which way they are rounded.
struct DivTrunc : DivMode {};
template <class T> T formula(const DivTrunc&, T a, T b) { return div_trunc(a, b); }
template <> constexpr bool kBrief<DivTrunc> = true;
static void divide(const DivMode& op, Inputs in, Outputs out) {
  static const Loops either = loops_of<DivMode>(), trunc = real_loops<DivTrunc>(either);
  run_pointwise("div(", (*op.rounding_mode).v[0] == 't' ? trunc : either, computes<DivMode>(&op, in, out[0].dtype()), &op, in, out[0]);
}

// One bound alone is the larger, or the smaller, of two numbers, of which the bound comes first: it is the result where it is NaN.
static void clamp(const ClampTensor& op, Inputs in, Outputs out) {
  static const Loops both = loops_of<ClampTensor>(), low = loops_of<Maximum>(), high = loops_of<Minimum>();
  const DType compute = computes<ClampTensor>(&op, in, out[0].dtype());
  const char* name = ClampTensor::signature.name.data();
  if (in[1] && in[2]) return run_pointwise(name, both, compute, &op, in, out[0]);
  const Tensor pair[] = {in[1] ? in[1] : in[2], in[0]};
  run_pointwise(name, in[1] ? low : high, compute, &op, pair, out[0]);
}

static const PointwiseKernels<ArithmeticOps> kernels;
static const bool by_argument = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Pow, power>(cpu), set_kernel<DivMode, divide>(cpu), set_kernel<ClampTensor, clamp>(cpu);
  return true;
}();

void add(const Tensor& a, const Tensor& b, const Tensor& out) {
  Add op;
  op.alpha = 1;
  Tensor pair[2] = {a, b}, to[1] = {out};
  kernel_slots<Add>[int(DeviceType::cpu)](&op, Inputs(pair, 2), Outputs(to, 1));
}

}  // namespace WEIR_ISA
}  // namespace weir
