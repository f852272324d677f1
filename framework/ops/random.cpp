#include "framework/ops/random.h"

#include <algorithm>
#include <cmath>

#include "framework/core/warn.h"
#include "framework/graph/trace.h"
#include "framework/op/copy.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"

namespace weir {
namespace {

// The least and the largest int64 that a dtype reaches.
std::pair<int64_t, int64_t> whole_range(DType t) {
  switch (t) {
    case DType::boolean: return {0, 1};
    case DType::uint8: return {0, UINT8_MAX};
    case DType::int8: return {INT8_MIN, INT8_MAX};
    case DType::int16: return {INT16_MIN, INT16_MAX};
    case DType::int32: return {INT32_MIN, INT32_MAX};
    case DType::uint16: return {0, UINT16_MAX};
    case DType::uint32: return {0, UINT32_MAX};
    case DType::float16: return {-65504, 65504};
    default: return {INT64_MIN, INT64_MAX};
  }
}

// Beyond a power of two a floating dtype holds some whole numbers only.
void warn_of_gaps(const char* bound, int64_t value, DType t) {
  if (!is_floating(t)) return;
  const int digits = t == DType::float64 ? 53 : t == DType::float32 ? 24 : t == DType::float16 ? 11 : 8;
  if (value < -(int64_t(1) << digits) || value > int64_t(1) << digits)
    warn(str(bound, " is out of bounds [-(2^", digits, "), 2^", digits, "]: ", name_of(t), " has gaps between whole numbers there, and will refuse it in a later release."));
}
}  // namespace

Meta Uniform::infer(Inputs in) const {
  check<NotImplemented>(is_inexact(in[0].dtype()), "uniform_: not implemented for '", name_of(in[0].dtype()), "'");
  const DType t = is_complex(in[0].dtype()) ? real_type(in[0].dtype()) : in[0].dtype();
  if (is_complex(in[0].dtype()) && in[0].numel() == 0) return like(in[0]);  // by parts, of which there are none
  const double most = largest_number(t);
  for (auto [name, bound] : {std::pair("from", from), std::pair("to", to)})
    check(std::fabs(bound) <= most, "uniform_: ", name, " is out of bounds for ", name_of(t), ", got ", bound);
  check(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  check(to - from <= most, "uniform_ expects to-from <= the largest number of ", name_of(t), ", but found to=", to, " and from=", from,
        " which result in to-from to exceed the limit");
  return like(in[0]);
}
Meta Normal::infer(Inputs in) const {
  check<NotImplemented>(is_inexact(in[0].dtype()) || in[0].numel() == 0, "normal_: not implemented for '", name_of(in[0].dtype()), "'");
  check(std >= 0, "normal expects std >= 0.0, but found std ", std);
  return like(in[0]);
}
Meta RandomInt::infer(Inputs in) const {
  int64_t from = low.value_or(0);
  check<NotImplemented>(low || high || !is_wide_unsigned(in[0].dtype()), "\"random_\" not implemented for '", name_of(in[0].dtype()), "'");
  check(!is_complex(in[0].dtype()) || !(low || high), "check_random_bounds handles only integral, floating-point and boolean types");
  check(!high || from < *high, "random_ expects 'from' to be less than 'to', but got from=", from,
        " >= to=", high.value_or(0));
  bool all = from == INT64_MIN && !high && is_floating(in[0].dtype());  // every int64, rounded
  auto [least, most] = whole_range(in[0].dtype());
  check(all || (least <= from && from <= most), "from is out of bounds for ", name_of(in[0].dtype()));
  check(!high || (least < *high && *high - 1 <= most), "to - 1 is out of bounds for ", name_of(in[0].dtype()));
  if (low) warn_of_gaps("from", from, in[0].dtype());
  if (high) warn_of_gaps("to - 1", *high - 1, in[0].dtype());
  return like(in[0]);
}
Meta Bernoulli::infer(Inputs in) const {
  check(is_floating(in[0].dtype()), "bernoulli: expected a floating point tensor of probabilities, got ", name_of(in[0].dtype()));
  return like(in[0]);
}
// Source: PyTorch, which gives out= of what is drawn its shape without a warning.
void Bernoulli::take_out(Inputs in, const Tensor& out) const {
  if (!(out.sizes() == in[0].sizes())) resize(out, in[0].sizes());
}
Tensors Bernoulli::vjp(const Saved&, const Tensor& dy) const { return {zeros_of(dy.meta())}; }
static Meta filled_by(const Tensor& x, double p) {
  check(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  check<NotImplemented>(!is_complex(x.dtype()) || x.numel() == 0, "bernoulli_: not implemented for '", name_of(x.dtype()), "'");
  return like(x);
}
Meta BernoulliOf::infer(Inputs in) const { return filled_by(in[0], p); }
Meta BernoulliFill::infer(Inputs in) const { return filled_by(in[0], p); }
Meta DrawnFill::infer(Inputs in) const {
  const DType t = in[0].dtype();
  check<NotImplemented>(!is_complex(t) || in[0].numel() == 0, distribution.view(), "_: not implemented for '", name_of(t), "'");
  if (distribution == "geometric") {
    check(a > 0 && a < 1, "geometric_ expects p to be in (0, 1), but got p=", a);
    check<NotImplemented>(t != DType::boolean, "geometric_: not implemented for 'Bool'");
    return like(in[0]);
  }
  check<NotImplemented>(is_floating(t) || in[0].numel() == 0, distribution.view(), "_: not implemented for '", name_of(t), "'");
  if (distribution == "exponential") check(a > 0, "exponential_ expects lambda > 0.0, but found lambda=", a);
  else if (distribution == "cauchy") check(b > 0, "cauchy_ expects sigma > 0.0, but found sigma=", b);
  else check(distribution == "log_normal" && b > 0, distribution.view(), "_ expects std > 0.0, but found std=", b);
  return like(in[0]);
}
Meta RReluNoise::infer(Inputs in) const {
  check(is_floating(in[0].dtype()), "rrelu: expected a floating point tensor, got ", name_of(in[0].dtype()));
  return like(in[0]);
}
Meta RandPerm::infer(Inputs) const {
  check(n >= 0, "randperm: n must be non-negative, got ", n);
  return {Dims{n}, DType::int64};
}
std::array<Meta, 2> DropoutWithMask::infer(Inputs in) const {
  Meta kept = pointwise_meta("dropout", Rule::promote, in.first(1)), mask = kept;
  mask.dtype = DType::boolean;
  return {kept, mask};
}
Tensors DropoutWithMask::vjp(const Saved& s, const Tensor& dy) const {
  return {Fn<MaskScale>()(dy, s.output(1), 1 - p)};
}
Meta MaskScale::infer(Inputs in) const { return with_strides(like(in[0]), in[1]); }
Tensors MaskScale::vjp(const Saved& s, const Tensor& dy) const { return {Fn<MaskScale>()(dy, s.input(1), keep), Tensor()}; }

Tensor Dropout::compose(Inputs in) const {
  check(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (!train || p == 0 || in[0].numel() == 0) return in[0];
  if (p == 1) return cast_to(in[0] * num(int64_t(0)), in[0].dtype());
  return Fn<DropoutWithMask>()(in[0], p)[0];
}

Tensor Rand::compose(Inputs) const {
  Tensor r = fn::empty(size, dtype, device);
  fn::uniform.inplace(r, 0.0, 1.0, generator);
  return r;
}
Tensor Randn::compose(Inputs in) const { return NormalSized{{}, 0, 1, size, generator, dtype, device}.compose(in); }
Tensor NormalSized::compose(Inputs) const {
  Tensor r = fn::empty(size, dtype, device);
  fn::normal_fill.inplace(r, mean, std, generator);
  return r;
}
void NormalAround::take_out(Inputs in, const Tensor& out) {
  into = out.meta();
  for (const Tensor& x : in) {
    if (!x || x.has_flag(kWrappedNumber)) continue;
    const DType wanted = result_type(std::array{out, x});
    check(can_cast(wanted, out.dtype()), "normal: result type ", name_of(wanted), " can't be cast to the desired output type ", name_of(out.dtype()));
  }
}
Tensor NormalAround::compose(Inputs in) const {
  auto plain = [](const Tensor& x) { return is_differentiated(x) ? detach(x) : x; };
  const Tensor mean = plain(in[0]), std = in[1] ? plain(in[1]) : wrapped_number(Scalar(1.0));
  const bool one_mean = mean.has_flag(kWrappedNumber), one_std = std.has_flag(kWrappedNumber);
  check(!is_complex(std.dtype()), "normal expects standard deviation to be non-complex");
  if (one_std) check(item(std).to_double() >= 0, "normal expects std >= 0.0, but found std ", item(std).to_double());
  else fn::check_range(std, 0.0, HUGE_VAL, Str("normal: std"));  // NaN is in no range
  const DType dtype = into ? into->dtype : one_mean ? std.dtype() : mean.dtype();
  Dims shape = broadcast("normal", mean.sizes(), std.sizes());
  if (into && one_std) shape = broadcast("normal", shape, into->sizes);
  Tensor r = fn::empty(shape, dtype, one_mean ? std.device() : mean.device());
  fn::normal_fill.inplace(r, 0.0, 1.0, generator);
  if (one_mean && !is_inexact(std.dtype())) return check_written(item(mean), std.dtype()), r;
  const DType wanted = one_std ? dtype : result_type(std::array{mean, std});
  check(can_cast(wanted, dtype), "normal: result type ", name_of(wanted), " can't be cast to the desired output type ", name_of(dtype));
  if (!is_inexact(dtype)) return cast_to(r * std + mean, dtype);
  fn::mul.inplace(r, std);  // in place, so row by row
  fn::add.inplace(r, mean);
  auto differentiated = [](const Tensor& x) { return x && is_differentiated(x) ? x : Tensor(); };
  const Tensor by_mean = differentiated(in[0]), by_std = differentiated(in[1]);
  if (by_mean || by_std) fn::drawn_around.inplace(r, by_mean, by_std);
  return r;
}
Meta DrawnAround::infer(Inputs in) const { return like(in[0]); }
Tensors DrawnAround::vjp(const Saved& s, const Tensor& dy) const {
  auto zeros = [&](int i) { return s.needs(i) ? zeros_of(s.input_meta(i)) : Tensor(); };
  return {dy, zeros(1), zeros(2)};
}
Tensor RandInt::compose(Inputs in) const {
  return RandIntFrom{{}, 0, high, size, generator, dtype, device}.compose(in);
}
Tensor RandIntFrom::compose(Inputs) const {
  Tensor r = fn::empty(size, dtype.value_or(DType::int64), device);
  fn::random_range.inplace(r, low, high, generator);
  return r;
}
Tensor Permutation::compose(Inputs) const {
  const DType t = dtype.value_or(DType::int64);
  check<NotImplemented>(t != DType::boolean && !is_complex(t), "randperm: not implemented for ", name_of(t));
  const int bits = t == DType::float16 ? 11 : t == DType::float32 ? 24 : t == DType::float64 ? 53 : 62;  // of whole numbers next to each other
  check(n <= (int64_t(1) << bits) + 1, "randperm: n cannot be greater than ", (int64_t(1) << bits) + 1, " for ", name_of(t), ", got ", n);
  check_fits(Scalar(std::max<int64_t>(n - 1, 0)), t);
  if (device && device->type == DeviceType::meta) return fn::empty(Dims{n}, t, device);
  return cast_to(fn::randperm_of(n, generator), t);
}
Tensor RandLike::compose(Inputs in) const {
  Tensor r = fn::empty_like(in[0], dtype, device, memory_format);
  fn::uniform.inplace(r, 0.0, 1.0, generator);
  return r;
}
Tensor RandnLike::compose(Inputs in) const {
  Tensor r = fn::empty_like(in[0], dtype, device, memory_format);
  fn::normal_fill.inplace(r, 0.0, 1.0, generator);
  return r;
}
Tensor RandIntLike::compose(Inputs in) const {
  return RandIntLikeFrom{{}, 0, high, generator, dtype, device, memory_format}.compose(in);
}
Tensor RandIntLikeTensor::compose(Inputs in) const {
  check(in[1].ndim() == 0, "high must be a scalar tensor and on CPU");
  return RandIntLikeFrom{{}, 0, graph::number_of(in[1]).to_int(), generator, dtype, device, memory_format}.compose(in);
}
Tensor RandIntLikeFrom::compose(Inputs in) const {
  Tensor r = fn::empty_like(in[0], dtype, device, memory_format);
  fn::random_range.inplace(r, low, high, generator);
  return r;
}

static const RandomOps::Registration ops;

}  // namespace weir
