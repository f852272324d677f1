#include "framework/ops/arithmetic.h"

#include <cmath>

#include "framework/core/layout.h"
#include "framework/core/warn.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return fn::sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return fn::div(a, b); }
Tensor operator-(const Tensor& a) { return neg(a); }

bool mixes_widths(Inputs in, DType result) {
  if (in[0].dtype() == in[1].dtype() || is_inexact(result) || result == DType::boolean) return false;
  const int64_t bits = 8 * int64_t(size_of(result)) - !is_unsigned(result);
  for (const Tensor& x : in) {
    if (x.dtype() == result || x.dtype() == DType::boolean) continue;
    if (!x.has_flag(kWrappedNumber) || x.is_meta()) return true;
    const double number = item(x).to_double(), end = std::ldexp(1.0, int(bits));
    if (number >= end || number < (is_unsigned(result) ? 0.0 : -end)) return true;
  }
  return false;
}

void make_one_width(Tensors& in, DType result) {
  GradMode off(false);
  for (Tensor& x : in) x = cast_to(x, result);
}

// Two factors whose quotient a kernel computes exactly, infinities and the signs of zeros too.
void divide_halves(Tensors& in, bool floors) {
  GradMode off(false);
  const Tensor a = in[0], b = in[1], plain = a / b;
  if (!floors) {
    in = {fn::trunc(plain), full_of(Meta(Dims{}, plain.dtype(), plain.device()), Scalar(1.0))};
    return;
  }
  const Tensor rest = fn::fmod(a, b), exact = (a - rest) / b;
  const Tensor low = where(fn::logical_and(rest, fn::ne(b < 0.0, rest < 0.0)), exact - 1.0, exact), whole = fn::floor(low);
  Tensor q = where(low - whole > 0.5, whole + 1.0, whole);
  q = where(logical_not(low), fn::copysign(zeros_of(plain.meta()), plain), q);
  q = where(logical_not(b), plain, q);
  in = {q, cast_to(logical_not(isinf(q)), q.dtype())};  // infinite by zero
}

// By the bits, which are numbers with a sign, in the order of the halves. The kernel keeps what is to step towards itself.
void Nextafter::round(Tensors& in, const Meta& m) {
  Pointwise::round(in, m);
  GradMode off(false);
  const Tensor a = in[0], b = in[1], up = b > a, bits = fn::view(a, DType::int16);
  const Tensor away = fn::eq(a > 0.0, up), least = where(up, num(int64_t(1)), num(int64_t(-32767)));
  const Tensor step = where(away, bits + num(int64_t(1)), bits - num(int64_t(1)));
  const Tensor moved = fn::view(cast_to(where(logical_not(a), least, step), DType::int16), m.dtype);
  const Tensor next = where(fn::logical_or(isnan(a), isnan(b)), a + b, where(fn::eq(a, b), b, moved));
  in = {next, next};
}

namespace {

// Half of the gradient to each side where both are equal, all of it to the chosen side elsewhere.
Tensors choose(const Saved& s, const Tensor& dy, bool larger) {
  Tensor a = s.input(0), b = s.input(1), equal = fn::eq(a, b), half = dy * 0.5, zero = num(0.0);
  Tensor first = larger ? a > b : a < b, second = larger ? a < b : a > b;
  // NaN goes to whoever is chosen by the comparison with itself, as in PyTorch: neither.
  Tensor da = where(equal, half, where(second, zero, dy));
  Tensor db = where(equal, half, where(first, zero, dy));
  return {da, db};
}

double of(const Scalar& s) { return s.to_double(); }
// Of two numbers of Python's the operators would make one of the default dtype, which holds less than they do.
Tensor plus(const Tensor& t, double by) {
  if (!t.has_flag(kWrappedNumber)) return t + by;
  Scalar s = item(t);
  return wrapped_number(s.is_complex() ? Scalar(s.to_complex() + by) : Scalar(s.to_double() + by));
}
bool is_one(const Scalar& s) { return s.to_complex() == 1.0; }
Tensor times(const Tensor& t, const Scalar& s) { return is_one(s) ? t : t * wrapped_number(s); }

// Not dy * 0, which is NaN where dy is not finite.
Tensors no_gradients(const Tensor& dy) { return {zeros_of(dy.meta()), zeros_of(dy.meta())}; }
Tensor divided(const Tensor& a, const Tensor& b, const char* mode) { return fn::div(a, b, Str(mode)); }

}  // namespace

// Raises for a factor that a result of dtype `t` cannot hold.
static Meta checked_factor(const char* op, const Scalar& alpha, Meta m) {
  const DType t = m.dtype;
  check(alpha.kind != Scalar::Kind::boolean || t == DType::boolean, op, ": Boolean alpha only supported for Boolean results.");
  check(is_inexact(t) || alpha.is_whole(), op, ": For integral input tensors, argument alpha must not be a floating point number.");
  check(is_complex(t) || !alpha.is_complex(), op, ": For non-complex input tensors, argument alpha must not be a complex number.");
  check_held(Held::own, alpha, t);
  return m;
}
Meta Add::infer(Inputs in) const { return checked_factor("add", alpha, pointwise_meta("add(", Rule::promote, in)); }

// Source: PyTorch refuses `-` of bools, where a difference has no meaning.
Meta Sub::infer(Inputs in) const {
  check(in[0].dtype() != DType::boolean || in[1].dtype() != DType::boolean, "sub: Subtraction, the `-` operator, with two bool tensors is "
        "not supported. Use the `^` or `logical_xor()` operator instead.");
  check(in[0].dtype() != DType::boolean && in[1].dtype() != DType::boolean, "sub: Subtraction, the `-` operator, with a bool tensor is not supported. If "
        "you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  return checked_factor("sub", alpha, pointwise_meta("sub(", Rule::promote, in));
}
// Source: PyTorch's pow of a number does not look at the strides of the exponent.
// Of an op of one tensor that is cast to the result's dtype first: by then what had gaps is dense, and where it is rows so is the result.
static Dims strides_of_cast(const Meta& m, const Tensor& x) {
  return x.dtype() != m.dtype && !m.row_major() && is_row_major(m.sizes, m.strides) ? Meta(m.sizes, m.dtype, m.device).strides : m.strides;
}

Meta Pow::infer(Inputs in) const {
  const Tensor& e = in[1];
  check(!e.has_flag(kWrappedNumber) || is_inexact(in[0].dtype()) || is_inexact(e.dtype()) || item(e).to_double() >= 0,
        "pow: Integers to negative integer powers are not allowed.");
  Meta m = pointwise_meta("pow(", Rule::promote, in);
  check<NotImplemented>(m.dtype != DType::boolean || e.has_flag(kWrappedNumber), "pow: not implemented for 'bool'");
  if (in[0].has_flag(kWrappedNumber)) return {m.sizes, m.dtype, m.device};
  if (e.has_flag(kWrappedNumber) && !e.is_meta() && (is_reduced(m.dtype) || is_integral(m.dtype))) check_held(Held::own, item(e), m.dtype);
  if (e.has_flag(kWrappedNumber)) {  // no operand of PyTorch's
    m.strides = pointwise_meta("pow(", Rule::promote, in.first(1)).strides;
    m.strides = strides_of_cast(m, in[0]);
  }
  return m;
}
// Source: PyTorch's pow of a tensor to a number, which takes roots of all floating dtypes but float16: of -infinity they are NaN, of -0 -0.
int Pow::root_of(Inputs in, const Meta& m) {
  const Tensor& e = in[1];
  if (!e.has_flag(kWrappedNumber) || e.is_meta() || !is_floating(m.dtype) || m.dtype == DType::float16) return 0;
  const double number = item(e).to_double();
  return number == 0.5 ? 1 : number == -0.5 ? -1 : 0;
}
Tensors Add::vjp(const Saved& s, const Tensor& dy) const {
  return {dy, s.needs(1) ? times(dy, alpha) : Tensor()};
}
Tensors Sub::vjp(const Saved& s, const Tensor& dy) const {
  return {dy, s.needs(1) ? -times(dy, alpha) : Tensor()};
}
Tensors Mul::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? dy * s.input(1) : Tensor(), s.needs(1) ? dy * s.input(0) : Tensor()};
}
Tensors Div::vjp(const Saved& s, const Tensor& dy) const {
  Tensor b = s.input(1);
  return {s.needs(0) ? dy / b : Tensor(), s.needs(1) ? -dy * ((s.input(0) / b) / b) : Tensor()};
}
Meta DivMode::infer(Inputs in) const {
  check(rounding_mode && (*rounding_mode == "trunc" || *rounding_mode == "floor"), "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
        rounding_mode ? rounding_mode->view() : "None", "'");
  return Quotient::infer(in);
}

Tensors DivMode::vjp(const Saved&, const Tensor& dy) const { return no_gradients(dy); }
Tensors FloorDivide::vjp(const Saved&, const Tensor& dy) const { return no_gradients(dy); }
Tensors Remainder::vjp(const Saved& s, const Tensor& dy) const {
  return {dy, s.needs(1) ? -dy * divided(s.input(0), s.input(1), "floor") : Tensor()};
}
Tensors Fmod::vjp(const Saved& s, const Tensor& dy) const {
  return {dy, s.needs(1) ? -dy * divided(s.input(0), s.input(1), "trunc") : Tensor()};
}
Tensors Pow::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), e = s.input(1), da, db;
  const bool is_number = e.has_flag(kWrappedNumber), is_constant = is_number && item(e).is_zero();
  // Python's False is no zero to PyTorch's formula: it multiplies.
  auto is_false = [](const Tensor& t) { return t.has_flag(kWrappedNumber) && t.dtype() == DType::boolean; };
  auto lowered = [&] {
    const Tensor power = is_number && x.dtype() == dy.dtype() && item(e).to_complex() == 2.0 ? x : pow(x, plus(e, -1));
    return dy * (is_number ? power * e : e * power);  // which beside halves are two things
  };
  if (s.needs(0) && (is_false(e) || (is_number && !is_constant))) da = lowered();
  else if (s.needs(0)) da = is_constant ? zeros_of(dy.meta()) : where(logical_not(e), num(0.0), lowered());
  if (s.needs(1)) {
    // d/de x**e = x**e log x; 0 where x is 0 and e is not negative. A further derivative there is NaN, as in PyTorch.
    Tensor zero = fn::logical_and(logical_not(x), real(e) >= 0.0);
    if (is_complex(e.dtype())) zero = fn::logical_and(zero, logical_not(imag(e)));
    const DType t = s.output().dtype();
    // A number stays one, in double precision, beside halves too; a negative one may have a complex logarithm.
    const bool is_real_number = x.has_flag(kWrappedNumber) && !is_complex(x.dtype()) && !is_complex(t);
    db = s.output() * (is_real_number ? num(std::log(item(x).to_double())) : log(cast_to(x, t)));
    db = dy * (is_false(x) ? db : where(zero, num(0.0), db));
  }
  return {da, db};
}
Tensors Maximum::vjp(const Saved& s, const Tensor& dy) const { return choose(s, dy, true); }
Tensors Minimum::vjp(const Saved& s, const Tensor& dy) const { return choose(s, dy, false); }
Tensors Fmax::vjp(const Saved& s, const Tensor& dy) const {
  Tensor a = s.input(0), b = s.input(1), first = fn::logical_or(a >= b, isnan(b));
  return {where(first, dy, num(0.0)), where(first, num(0.0), dy)};
}
Tensors Fmin::vjp(const Saved& s, const Tensor& dy) const {
  Tensor a = s.input(0), b = s.input(1), first = fn::logical_or(a <= b, isnan(b));
  return {where(first, dy, num(0.0)), where(first, num(0.0), dy)};
}
Tensors Atan2::vjp(const Saved& s, const Tensor& dy) const {
  Tensor y = s.input(0), x = s.input(1), square = y * y + x * x;
  Tensor recip = where(logical_not(square), num(0.0), fn::reciprocal(square));  // nothing at the origin
  return {dy * x * recip, dy * -y * recip};
}
Tensors Hypot::vjp(const Saved& s, const Tensor& dy) const {
  Tensor length = s.output();
  return {dy * s.input(0) / length, dy * s.input(1) / length};  // PyTorch's order: a second derivative that cancels shows each rounding
}
Tensors Copysign::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor a = s.input(0);
  return {dy * where(logical_not(a), num(0.0), s.output() / a), zeros_of(dy.meta())};
}
// Source: PyTorch, which lets the step count as a constant, and gives nothing where there is none.
Tensors Nextafter::vjp(const Saved& s, const Tensor& dy) const {
  return {where(fn::eq(s.input(0), s.input(1)), num(0.0), dy), zeros_of(dy.meta())};
}
Tensors Logaddexp::vjp(const Saved& s, const Tensor& dy) const {
  Tensor a = s.input(0), b = s.input(1);
  if (is_complex(dy.dtype())) {  // a quotient by infinity is NaN there: by the exponential of what is below
    const Tensor above = b - a, higher = fn::real(above) > 0.0, low = exp(where(higher, -above, above)), high = dy / (1.0 + low);
    return {where(higher, high * low, high), where(higher, high, high * low)};
  }
  return {dy / (1.0 + exp(b - a)), dy / (1.0 + exp(a - b))};
}
Tensors Logaddexp2::vjp(const Saved& s, const Tensor& dy) const {
  Tensor a = s.input(0), b = s.input(1);
  return {dy / (1.0 + fn::exp2(b - a)), dy / (1.0 + fn::exp2(a - b))};
}
Tensors Xlogy::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), y = s.input(1);
  Tensor dx = where(fn::logical_and(logical_not(x), y <= 0.0), num(0.0), fn::xlogy(dy, y));
  return {dx, dy * x / y};
}
Tensors Xlog1py::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), y = s.input(1);
  Tensor dx = where(fn::logical_and(logical_not(x), y <= -1.0), num(0.0), fn::xlog1py(dy, y));
  return {dx, dy * x / (y + 1.0)};
}
Tensors Lerp::vjp(const Saved& s, const Tensor& dy) const {
  Tensor w = s.input(2), rest = w.has_flag(kWrappedNumber) ? plus(w, -1) : w - 1.0;
  return {-dy * rest, dy * w, s.needs(2) ? dy * (s.input(1) - s.input(0)) : Tensor()};
}
Tensors Addcmul::vjp(const Saved& s, const Tensor& dy) const {
  return {dy, s.needs(1) ? dy * times(s.input(2), value) : Tensor(), s.needs(2) ? dy * times(s.input(1), value) : Tensor()};
}
Tensors Addcdiv::vjp(const Saved& s, const Tensor& dy) const {
  Tensor a = s.input(1), b = s.input(2);
  return {dy, s.needs(1) ? dy * times(fn::reciprocal(b), value) : Tensor(), s.needs(2) ? -dy * (times(a, value) / (b * b)) : Tensor()};
}
Meta Addcmul::infer(Inputs in) const {
  const Meta m = Pointwise::infer(in);
  check<NotImplemented>(m.dtype != DType::boolean, "addcmul: not implemented for 'bool'");
  return m;
}
Meta Addcdiv::infer(Inputs in) const {
  check(is_inexact(in[1].dtype()) || is_inexact(in[2].dtype()), "Integer division with addcdiv is no longer supported, and in a future release addcdiv will "
        "perform a true division of tensor1 and tensor2.");
  return Pointwise::infer(in);
}
Meta Heaviside::infer(Inputs in) const {
  check(in[0].dtype() == in[1].dtype(), "heaviside: Expected input and values of one dtype, got ", name_of(in[0].dtype()),
        " and ", name_of(in[1].dtype()));
  return pointwise_meta("heaviside(", Rule::promote, in);
}

void Lerp::take_out(Inputs in, const Tensor& out) {
  check(in[2].ndim() == 0 || out.dtype() == in[0].dtype(), "lerp: Found dtype ", name_of(out.dtype()), " but expected ", name_of(in[0].dtype()));
}
Meta Lerp::infer(Inputs in) const {
  for (int i : {1, 2}) {
    if (in[i].has_flag(kWrappedNumber) || (i == 2 && in[i].ndim() == 0)) continue;
    check(in[i].dtype() == in[0].dtype(), "lerp: expected dtype ", name_of(in[0].dtype()), " for `", i == 1 ? "end" : "weight", "` but got dtype ",
          name_of(in[i].dtype()));
  }
  Meta m = pointwise_meta("lerp(", Rule::real, in);
  if (in[2].has_flag(kWrappedNumber)) {
    if (is_inexact(in[0].dtype())) check_held(Held::wide, item(in[2]), m.dtype);
    m.strides = pointwise_meta("lerp(", Rule::real, in.first(2)).strides;  // no operand of PyTorch's
  }
  return m;
}

Meta Where::infer(Inputs in) const {
  check(in[0].dtype() == DType::boolean || in[0].dtype() == DType::uint8, "where expected condition to be a boolean tensor, but got a tensor with dtype ",
        name_of(in[0].dtype()));
  if (in[0].dtype() == DType::uint8) warn("where: a condition of dtype torch.uint8 is deprecated, use torch.bool");
  const Meta m = pointwise_meta("where(", Rule::select, in);
  // Source: PyTorch, which makes a tensor of the result's dtype of a number; that of halves may be infinite.
  for (const Tensor& x : in.subspan(1))
    if (x.has_flag(kWrappedNumber) && !x.is_meta() && !is_reduced(m.dtype)) check_held(Held::own, item(x), m.dtype);
  return m;
}
Tensors Where::vjp(const Saved& s, const Tensor& dy) const {
  Tensor c = s.input(0), zero = num(0.0);
  return {Tensor(), s.needs(1) ? where(c, dy, zero) : Tensor(), s.needs(2) ? where(c, zero, dy) : Tensor()};
}

Meta Clamp::infer(Inputs in) const {
  check(min || max, "clamp: At least one of 'min' or 'max' must not be None");
  Meta m = pointwise_meta("clamp(", Rule::promote, in);
  m.dtype = computes_in(in);
  m.strides = strides_of_cast(m, in[0]);
  check<NotImplemented>(m.dtype != DType::boolean, "clamp: not implemented for 'bool'");
  for (const auto& bound : {min, max})
    if (!is_complex(m.dtype)) check_held(Held::own, bound, m.dtype);
  return m;
}
DType Clamp::computes_in(Inputs in) const {
  auto weak = [](const std::optional<Scalar>& bound) { return bound ? wrapped_number(bound->large ? Scalar(0) : *bound) : Tensor(); };
  return result_type(std::array{in[0], weak(min), weak(max)});
}
Tensors Clamp::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), g = dy;
  if (min) g = where(x >= of(*min), g, num(0.0));  // NaN is outside, as in PyTorch
  if (max) g = where(x <= of(*max), g, num(0.0));
  return {g};
}
Meta ClampTensor::infer(Inputs in) const {
  check(in[1].defined() || in[2].defined(), "clamp: At least one of 'min' or 'max' must not be None");
  const Meta m = pointwise_meta("clamp(", Rule::promote, in);
  check<NotImplemented>(m.dtype != DType::boolean || !in[1] || !in[2], "clamp: not implemented for 'bool'");  // one bound is a maximum or minimum
  return m;
}
Tensors ClampTensor::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), low = s.input(1), high = s.input(2), zero = num(0.0), dx = dy, dlow, dhigh;
  Tensor below = low ? x < low : Tensor(), above = high ? x > high : Tensor();
  if (low) dx = where(x >= low, dx, zero);
  if (high) dx = where(x <= high, dx, zero);
  if (low) dlow = where(below, dy, zero);
  if (low && high) dlow = where(low < high, dlow, zero);  // of equal bounds neither, nor beside NaN, as in PyTorch
  if (high) dhigh = where(low ? fn::logical_or(above, low > high) : above, dy, zero);
  return {dx, dlow, dhigh};
}

static const ArithmeticOps::Registration ops;

}  // namespace weir
