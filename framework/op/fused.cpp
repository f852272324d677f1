#include "framework/op/fused.h"

namespace weir {

bool (*fused_loop)(const OpType&, const void*, Inputs, DType, FusedStep*) = nullptr;

Meta Fused::infer(Inputs) const { throw NotImplemented("fused: is made by a pass, not called"); }

static const Unlisted<Fused> ops;

}  // namespace weir
