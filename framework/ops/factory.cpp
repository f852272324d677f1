#include "framework/ops/factory.h"

#include <cmath>

#include "framework/autograd/variable.h"
#include "framework/op/copy.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"

namespace weir {
namespace {

Device placed(const std::optional<Device>& device, Device otherwise = {}) {
  Device d = device.value_or(otherwise);
  check<AssertionError>(d.type != DeviceType::cuda, "Torch not compiled with CUDA enabled");
  return d;
}

Meta in_format(Meta m, std::optional<MemoryFormat> format, const char* op) {
  check(format != MemoryFormat::preserve, op, ": Unsupported memory format Preserve");
  if (format != MemoryFormat::channels_last && format != MemoryFormat::channels_last_3d) return m;
  int want = format == MemoryFormat::channels_last ? 4 : 5;
  check(m.sizes.n == want, "required rank ", want, " tensor to use channels_last", want == 4 ? "" : "_3d", " format");
  m.strides = channels_last_strides(m.sizes);
  return m;
}

Meta like(const Tensor& x, std::optional<DType> dtype, std::optional<Device> device, std::optional<MemoryFormat> format) {
  Meta m(x.sizes(), dtype.value_or(x.dtype()), placed(device, x.device()));
  if (format && *format != MemoryFormat::preserve) return in_format(m, format, "empty_like");
  return with_strides(m, x);
}

}  // namespace

void Empty::take_out(Inputs, const Tensor&) const { check(!memory_format, "'memory_format' argument is incompatible with 'out' tensor argument"); }
Meta Empty::infer(Inputs) const { return in_format({size, dtype.value_or(default_dtype()), placed(device)}, memory_format, "empty"); }
Meta Sized::infer(Inputs) const { return {size, dtype.value_or(default_dtype()), placed(device)}; }
Meta ScalarTensor::infer(Inputs) const {
  const DType t = dtype.value_or(default_dtype());
  check_held(Held::wide, s, t);
  return {{}, t, placed(device)};
}

Meta EmptyStrided::infer(Inputs) const {
  check(size.n == stride.n, "empty_strided: dimensionality of sizes (", size.n, ") must match dimensionality of strides (", stride.n, ")");
  Dims taken = stride;
  for (int i = stride.n - 1; i >= 0; i--) {
    if (stride[i] >= 0) continue;
    check(size[i] <= 1 || size.contains(0), "empty_strided: negative strides are not supported, got ", stride);
    taken[i] = i + 1 < stride.n ? std::max<int64_t>(size[i + 1], 1) * taken[i + 1] : 1;  // one that is never taken becomes a row-major one
  }
  return {size, taken, dtype.value_or(default_dtype()), placed(device)};
}

Meta Full::infer(Inputs) const {
  DType t = dtype.value_or(fill_value.dtype(default_dtype()));
  check_written(fill_value, t);
  return {size, t, placed(device)};
}

Meta Eye::infer(Inputs) const {
  check(n >= 0, "n must be greater or equal to 0, got ", n);
  check(m.value_or(n) >= 0, "m must be greater or equal to 0, got ", m.value_or(n));
  return {Dims{n, m.value_or(n)}, dtype.value_or(default_dtype()), placed(device)};
}

Meta Range::infer(Inputs) const {
  const DType t = dtype.value_or(default_dtype());
  check<NotImplemented>(!is_complex(t) && t != DType::boolean, "\"range_cpu\" not implemented for '", name_of(t), "'");
  for (const Scalar& s : {start, end, step})
    if (is_integral(t)) check_fits(s, DType::int64);
  const double a = start.to_double(), b = end.to_double(), by = step.to_double();
  check(std::isfinite(a) && std::isfinite(b), "unsupported range: ", a, " -> ", b);
  check(by > 0 || by < 0, "step must be nonzero");
  check(by > 0 ? b >= a : b <= a, "upper bound and lower bound inconsistent with step sign");
  if (is_integral(t)) {
    check(step.to_int() != 0, "step must be nonzero");
    return {Dims{checked_add(checked_sub(end.to_int(), start.to_int()) / step.to_int(), 1)}, t, placed(device)};
  }
  const double count = (b - a) / by + 1;
  check(count < 9.2e18, "range: ", count, " elements are more than a tensor can hold");
  return {Dims{int64_t(count)}, t, placed(device)};
}

Meta Like::infer(Inputs in) const { return like(in[0], dtype, device, memory_format); }

Meta FullLike::infer(Inputs in) const {
  Meta m = like(in[0], dtype, device, memory_format);
  check_written(fill_value, m.dtype);
  return m;
}

Meta New::infer(Inputs in) const { return {size, dtype.value_or(in[0].dtype()), placed(device, in[0].device())}; }

Meta NewFull::infer(Inputs in) const {
  Meta m(size, dtype.value_or(in[0].dtype()), placed(device, in[0].device()));
  check_written(fill_value, m.dtype);
  return m;
}

static const FactoryOps::Registration ops;

}  // namespace weir
