#include "framework/ops/window.h"

#include "framework/ops/pointwise.h"

namespace weir {

Meta window_meta(std::string_view name, int64_t length, std::optional<DType> dtype, std::optional<Device> device) {
  const DType t = dtype.value_or(default_dtype());
  check(is_floating(t) || (is_complex(t) && length < 2), name, " expects floating point dtypes, got: ", name_of(t));
  check(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  return {Dims{length}, t, place_of_new(device)};
}

static const WindowOps::Registration ops;

}  // namespace weir
