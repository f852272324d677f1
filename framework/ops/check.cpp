#include "framework/ops/check.h"

namespace weir {

Meta Require::infer(Inputs in) const {
  check(in[0].dtype() == DType::boolean && in[1].dtype() == DType::uint8 && in[1].ndim() == 1, "require: expected a bool condition and a message of bytes");
  return {Dims{}, DType::boolean, in[0].device()};
}

static const CheckOps::Registration ops;

}  // namespace weir
