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

// To the number 1/2, or -1/2.
struct PowOfHalf : Pow {};
template <class T> T formula(const PowOfHalf& op, T a, T) { return op.root > 0 ? sqrt(a) : T(1) / sqrt(a); }
const Loops& root_loops() {
  static const Loops loops = [] { Loops l; l.f32 = loop<PowOfHalf, float>, l.f64 = loop<PowOfHalf, double>; return l; }();
  return loops;
}

static void power(const Pow& op, Inputs in, Outputs out) {
  static const Loops numbers = loops_of<Pow>();
  static const auto complex_by = [](auto loop) { Loops l = numbers; l.c128 = loop; return l; };
  static const Loops tensors = complex_by(loop<PowOfTensors, std::complex<double>>), one = complex_by(loop<PowOfOne, std::complex<double>>),
                     below = complex_by(loop<PowBelowZero, std::complex<double>>), products = [] {
                       Loops l;
                       l.c64 = loop<PowOfProducts, std::complex<float>>, l.c128 = loop<PowOfProducts, std::complex<double>>;
                       return l;
                     }();
  if (op.root) return run_pointwise("pow(", root_loops(), computes<Pow>(&op, in, out[0].dtype()), &op, in, out[0]);
  const bool of_one = in[0].has_flag(kWrappedNumber) && in[0].dtype() != DType::boolean && item(in[0]).to_complex() == 1.0;
  auto below_zero = [](const Scalar& e) { return e.to_complex().imag() == 0 && e.to_complex().real() < 0; };
  const DType compute = computes<Pow>(&op, in, out[0].dtype());
  auto of_products = [](const Scalar& e) { return e.to_complex() == 2.0 || e.to_complex() == 3.0; };
  if (is_complex(compute) && in[1].has_flag(kWrappedNumber) && !of_one && of_products(item(in[1]))) return run_pointwise("pow(", products, compute, &op, in, out[0]);
  const Loops& loops = of_one ? one : !in[1].has_flag(kWrappedNumber) ? tensors : below_zero(item(in[1])) ? below : numbers;
  run_pointwise("pow(", loops, compute, &op, in, out[0]);
}

static const PointwiseKernels<ArithmeticOps> kernels;
static const bool powers = (set_kernel<Pow, power>(DeviceType::cpu), true);

void add(const Tensor& a, const Tensor& b, const Tensor& out) {
  Add op;
  op.alpha = 1;
  Tensor pair[2] = {a, b}, to[1] = {out};
  kernel_slots<Add>[int(DeviceType::cpu)](&op, Inputs(pair, 2), Outputs(to, 1));
}

}  // namespace WEIR_ISA
}  // namespace weir
