#include "framework/ops/window.h"

#include "framework/ops/pointwise.h"

namespace weir {

Meta Window::infer_as(std::string_view name) const {
  const DType t = dtype.value_or(default_dtype());
  check(is_floating(t) || (is_complex(t) && window_length < 2), name, " expects floating point dtypes, got: ", name_of(t));
  check(window_length >= 0, name, " requires non-negative window_length, got window_length=", window_length);
  Empty like;
  like.size = Dims{window_length}, like.dtype = t, like.device = device;
  return like.infer({});
}

static const WindowOps::Registration ops;

}  // namespace weir
