// Input tensors of a case: shape, strides, dtype and kind of data as the case says.
#pragma once
#include "bench/gbench/bind.h"

namespace weir::gbench {

/// One tensor per entry of `case["inputs"]`, `repeat` resolved; the same data on every run.
Tensors make_inputs(const Json& c);

}  // namespace weir::gbench
