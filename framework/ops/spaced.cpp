#include "framework/ops/spaced.h"

#include <algorithm>
#include <cmath>

#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/factory.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/unary.h"

namespace weir {
namespace {

bool is_number(const Tensor& x) { return x.has_flag(kWrappedNumber); }

/// The dtype of a range: as told, or the default one, complex where an end is. Raises where a told one is real and an end is not.
DType checked_type(const char* op, Inputs ends, int64_t steps, const std::optional<DType>& told, const std::optional<Device>& device, bool into_out) {
  place_of_new(device);
  for (int i = 0; i < 2; i++)
    check(ends[i].ndim() == 0, op, " only supports 0-dimensional start and end tensors, but got ", i ? "end" : "start", " with ", ends[i].ndim(),
          " dimension(s).");
  const bool wide = is_complex(ends[0].dtype()) || is_complex(ends[1].dtype());
  const DType usual = wide ? complex_type(default_dtype()) : default_dtype();
  const bool of_few = into_out && (steps == 0 || (steps == 1 && !is_complex(ends[0].dtype())));  // an end that is not reached has any dtype
  check(!told || !wide || is_complex(*told) || of_few, op, ": inferred dtype ", name_of(usual), " can't be safely cast to passed dtype ", name_of(told.value_or(usual)));
  check(steps >= 0, op, ": number of steps must be non-negative");
  check<NotImplemented>(told != DType::boolean || steps < 2, "\"", op, "_cpu\" not implemented for 'Bool'");
  return told.value_or(usual);
}

/// linspace in dtype `made` between ends of dtype `t`, of which tensors may hold one each: their values are not read.
Tensor between(Inputs ends, int64_t steps, DType t, DType made) {
  if (steps == 0) return full_of(Meta(Dims{0}, made, Device{}), Scalar(int64_t(0)));
  for (const Tensor& x : ends.first(steps > 1 ? 2 : 1))
    if (steps > 1 || is_integral(t)) check_written(x, t);
  if (steps == 1 && is_number(ends[0])) return full_of(Meta(Dims{1}, made, Device{}), as_end(item(ends[0]), is_integral(t)));
  const Tensor& last = ends[steps > 1];  // one step reaches no end
  if (is_number(ends[0]) && is_number(ends[1])) return fn::linspace(as_end(item(ends[0]), is_integral(t)), as_end(item(last), is_integral(t)), steps, made);
  auto as_tensor = [](const Tensor& x) { return is_number(x) ? full_of(Meta({}, x.dtype(), x.device()), item(x)) : detach(x); };
  return fn::linspace_between(as_tensor(ends[0]), as_tensor(last), steps, is_integral(t), made);
}

Tensor placed(const Tensor& r, const std::optional<Device>& device) {
  return device && device->type != r.device().type ? empty(Meta(r.sizes(), r.dtype(), *device)) : r;
}

Tensor counted(const char* op, const Tensor& r, Inputs ends, bool into_out) {
  if (!into_out || std::none_of(ends.begin(), ends.end(), is_differentiated)) return r;
  return fn::underived(r, Tensors(ends.begin(), ends.end()), Str(op));
}

}  // namespace

Meta SpacedBetween::infer(Inputs) const { return {Dims{steps}, dtype}; }

Tensor EvenlySpaced::compose(Inputs in) const {
  const DType t = checked_type("linspace", in, steps, dtype, device, into_out);
  return counted("linspace", placed(between(in, steps, t, t), device), in, into_out);
}

Tensor LogSpaced::compose(Inputs in) const {
  const DType t = checked_type("logspace", in, steps, dtype, device, into_out);
  if (steps == 1 && is_integral(t) && is_number(in[0])) {  // Source: PyTorch, which fills with the power of the number as it is
    const Scalar power(std::pow(base, item(in[0]).to_double()));
    check_written(power, t);
    return counted("logspace", placed(full_of(Meta(Dims{1}, t, Device{}), power), device), in, into_out);
  }
  const Tensor exponents = between(in, steps, t, is_complex(t) ? DType::complex128 : DType::float64);
  return counted("logspace", placed(cast_to(fn::pow(base, exponents), t), device), in, into_out);
}

static const SpacedOps::Registration ops;

}  // namespace weir
