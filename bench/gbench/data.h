// Input tensors of a case: shape, strides, dtype and kind of data as the case says.
#pragma once
#include "bench/gbench/bind.h"

namespace weir::gbench {

/// One tensor per entry of `case["inputs"]`, `repeat` resolved; the same data on every run.
Tensors make_inputs(const Json& c);
/// Normal numbers in the layout of `t`. Ones would give softmax and norms the gradient of a constant, which is rounding errors.
Tensor random_like(const Tensor& t);

}  // namespace weir::gbench
