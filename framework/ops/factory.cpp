#include "framework/ops/factory.h"

#include <algorithm>
#include <cmath>

#include "framework/autograd/variable.h"
#include "framework/core/warn.h"
#include "framework/op/copy.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"

namespace weir {
namespace {

Meta like(const Tensor& x, std::optional<DType> dtype, std::optional<Device> device, std::optional<MemoryFormat> format) {
  Meta m(x.sizes(), dtype.value_or(x.dtype()), place_of_new(device, x.device()));
  if (format && *format != MemoryFormat::preserve) return in_format(m, format, "empty_like");
  return with_strides(m, x);
}

}  // namespace

Meta in_format(Meta m, std::optional<MemoryFormat> format, const char* op) {
  check(format != MemoryFormat::preserve, op, ": Unsupported memory format Preserve");
  if (format != MemoryFormat::channels_last && format != MemoryFormat::channels_last_3d) return m;
  int want = format == MemoryFormat::channels_last ? 4 : 5;
  check(m.sizes.n == want, "required rank ", want, " tensor to use channels_last", want == 4 ? "" : "_3d", " format");
  m.strides = channels_last_strides(m.sizes);
  return m;
}

Device place_of_new(const std::optional<Device>& told, Device otherwise) {
  Device d = told.value_or(otherwise);
  check_available(d);
  return d;
}

void Empty::take_out(Inputs, const Tensor&) const { check(!memory_format, "'memory_format' argument is incompatible with 'out' tensor argument"); }
Meta Empty::infer(Inputs) const { return in_format({size, dtype.value_or(default_dtype()), place_of_new(device)}, memory_format, "empty"); }
Meta Sized::infer(Inputs) const { return {size, dtype.value_or(default_dtype()), place_of_new(device)}; }
Meta ScalarTensor::infer(Inputs) const {
  const DType t = dtype.value_or(default_dtype());
  check_held(Held::wide, s, t);
  return {{}, t, place_of_new(device)};
}

// Strides as asked for, of which a negative one that is never taken becomes a row-major one.
static Dims taken_strides(const Dims& size, const Dims& stride) {
  check(size.n == stride.n, "empty_strided: dimensionality of sizes (", size.n, ") must match dimensionality of strides (", stride.n, ")");
  Dims taken = stride;
  for (int i = stride.n - 1; i >= 0; i--) {
    if (stride[i] >= 0) continue;
    check(size[i] <= 1 || size.contains(0), "empty_strided: negative strides are not supported, got ", stride);
    taken[i] = i + 1 < stride.n ? std::max<int64_t>(size[i + 1], 1) * taken[i + 1] : 1;
  }
  return taken;
}
Meta EmptyStrided::infer(Inputs) const { return {size, taken_strides(size, stride), dtype.value_or(default_dtype()), place_of_new(device)}; }
Meta NewEmptyStrided::infer(Inputs in) const {
  return {size, taken_strides(size, stride), dtype.value_or(in[0].dtype()), place_of_new(device, in[0].device())};
}

Meta EmptyPermuted::infer(Inputs) const {
  check(size.n == physical_layout.n, "Number of dimensions in size does not match the length of the physical_layout; got ", size.n, " and ", physical_layout.n);
  Dims strides(size.n, 0);
  int64_t step = 1;
  uint64_t seen = 0;
  for (int i = size.n - 1; i >= 0; i--) {
    const int64_t d = physical_layout[i];
    check(0 <= d && d < size.n, "Dimension out of range (expected to be between 0 and ", size.n - 1, ", but got ", d, " at index ", i,
          ").  NB: negative dims not currently supported; file an issue if you want it.");
    check(!(seen >> d & 1), "Duplicate dim not allowed");
    seen |= uint64_t(1) << d;
    strides[int(d)] = step;
    step = checked_mul(step, std::max<int64_t>(size[int(d)], 1));
  }
  return {size, strides, dtype.value_or(default_dtype()), place_of_new(device)};
}

void check_filled(const Scalar& number, const Dims& sizes, DType t) { check_written(number, is_reduced(t) && sizes.product() == 1 ? DType::float64 : t); }

Meta Full::infer(Inputs) const {
  DType t = dtype.value_or(fill_value.dtype(default_dtype()));
  if (!dtype && t == DType::complex32) t = DType::complex64;  // of a default of halves too, as in PyTorch
  check_filled(fill_value, size, t);
  return {size, t, place_of_new(device)};
}

Meta Eye::infer(Inputs) const {
  check(n >= 0, "n must be greater or equal to 0, got ", n);
  check(m.value_or(n) >= 0, "m must be greater or equal to 0, got ", m.value_or(n));
  return {Dims{n, m.value_or(n)}, dtype.value_or(default_dtype()), place_of_new(device)};
}

Meta Arange::infer(Inputs) const {
  const bool whole = std::ranges::all_of(std::array{start, end, step}, [](const Scalar& x) { return x.is_whole() || x.large; });
  const DType t = dtype.value_or(whole ? DType::int64 : default_dtype());
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  check<NotImplemented>(!is_complex(t) && t != DType::boolean, "\"arange_cpu\" not implemented for '", name_of(t), "'");
  check(s != 0, "arange: step must be nonzero");
  check(std::isfinite(a) && std::isfinite(b), "arange: unsupported range: ", a, " -> ", b);
  for (const Scalar& each : {start, end, step})
    if (is_reduced(t) || is_integral(t)) check_written(each, is_integral(t) ? DType::int64 : DType::float32);  // what steps are taken in
  check((s > 0 && b >= a) || (s < 0 && b <= a), "arange: upper bound and lower bound inconsistent with step sign");
  // PyTorch counts int64 elements, and no others, by the bounds without their fractions. Whole numbers beyond int64 are held as real ones.
  const bool exact = start.is_whole() && end.is_whole() && step.is_whole();
  if (!exact && t != DType::int64) {
    const double count = std::ceil((b - a) / s);
    check(count < 9.2e18, "arange: ", count, " elements are more than a tensor can hold");
    return {Dims{int64_t(count)}, t, place_of_new(device)};
  }
  const int64_t by = step.to_int();
  check<ValueError>(by != 0, "arange: step must be nonzero");
  // Without a sign the widest range fits, and so does what is divided by -1.
  const uint64_t from = uint64_t(start.to_int()), to = uint64_t(end.to_int()), range = by > 0 ? to - from : from - to;
  const uint64_t each = by > 0 ? uint64_t(by) : -uint64_t(by), count = range / each + (range % each != 0);
  check(count <= uint64_t(INT64_MAX), "arange: ", count, " elements are more than a tensor can hold");
  return {Dims{int64_t(count)}, t, place_of_new(device)};
}
Tensor ArangeTo::compose(Inputs) const { return fn::arange(Scalar(0), end, Scalar(1), dtype, device); }

// Alone among factories, PyTorch's arange (and what divides one, fftfreq) warns when it gives an out= another size.
void Arange::take_out(Inputs in, const Tensor& out) const {
  if (!out || out.numel() == 0) return;
  const int64_t count = infer(in).sizes[0];
  if (out.numel() != count)
    warn(str("The number of elements in the out tensor of shape ", out.sizes(), " is ", out.numel(), " which does not match the computed number of elements ", count,
             ": it is resized."));
}
void ArangeTo::take_out(Inputs in, const Tensor& out) const {
  Arange from_zero;
  from_zero.start = Scalar(0), from_zero.end = end, from_zero.step = Scalar(1), from_zero.dtype = dtype, from_zero.device = device;
  from_zero.take_out(in, out);
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
    return {Dims{checked_add(checked_sub(end.to_int(), start.to_int()) / step.to_int(), 1)}, t, place_of_new(device)};
  }
  const double count = (b - a) / by + 1;
  check(count < 9.2e18, "range: ", count, " elements are more than a tensor can hold");
  return {Dims{int64_t(count)}, t, place_of_new(device)};
}

Meta Like::infer(Inputs in) const { return like(in[0], dtype, device, memory_format); }

Meta FullLike::infer(Inputs in) const {
  Meta m = like(in[0], dtype, device, memory_format);
  check_filled(fill_value, m.sizes, m.dtype);
  return m;
}

Meta New::infer(Inputs in) const { return {size, dtype.value_or(in[0].dtype()), place_of_new(device, in[0].device())}; }

Meta NewFull::infer(Inputs in) const {
  Meta m(size, dtype.value_or(in[0].dtype()), place_of_new(device, in[0].device()));
  check_filled(fill_value, m.sizes, m.dtype);
  return m;
}

static const FactoryOps::Registration ops;

}  // namespace weir
