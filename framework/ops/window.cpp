#include "framework/ops/window.h"

#include "framework/ops/pointwise.h"

namespace weir {

Meta window_meta(std::string_view name, int64_t length, std::optional<DType> dtype, std::optional<Device> device) {
  const DType t = dtype.value_or(default_dtype());
  check(is_floating(t) || (is_complex(t) && length < 2), name, " expects floating point dtypes, got: ", name_of(t));
  check(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  return {Dims{length}, t, place_of_new(device)};
}

// Unlike other factories this one reads its input, wherever the result is.
Meta GeneralCosineWindow::infer(Inputs in) const {
  const Meta m = window_meta(signature.name, window_length, dtype, device);
  check(in[0].dtype() == DType::float64 && in[0].ndim() == 1, signature.name, ": expected a line of float64, got ", name_of(in[0].dtype()), " of shape ", in[0].sizes());
  check(!in[0].is_meta() || m.device.type == DeviceType::meta, signature.name, ": the weights have no data to make a window of");
  return m;
}

static const WindowOps::Registration ops;

}  // namespace weir
