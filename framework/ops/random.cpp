#include "framework/ops/random.h"

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
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
  const double most = largest_number(t);
  for (auto [name, bound] : {std::pair("from", from), std::pair("to", to)})
    check(std::fabs(bound) <= most, "uniform_: ", name, " is out of bounds for ", name_of(t), ", got ", bound);
  check(from <= to || (is_complex(in[0].dtype()) && in[0].numel() == 0), "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  return like(in[0]);
}
Meta Normal::infer(Inputs in) const {
  check(is_inexact(in[0].dtype()), "normal_: not implemented for '", name_of(in[0].dtype()), "'");
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

static const RandomOps::Registration ops;

}  // namespace weir
