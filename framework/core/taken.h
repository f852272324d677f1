// Numbers that a traced program takes from its arguments.
#pragma once
#include <optional>

#include "framework/core/tensor.h"

namespace weir {

/// The number in an element of a traced program's arguments, where `t` is one: other numbers make other plans. Set by the tracer.
inline std::optional<Scalar> (*taken_number)(const Tensor& t) = [](const Tensor&) { return std::optional<Scalar>(); };

}  // namespace weir
