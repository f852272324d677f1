// Autocast's state beyond the mode flag.
#pragma once
#include <cstring>

#include "framework/op/call.h"

namespace weir {

/// RuntimeError where autocast is on and would refuse to join tensors of `t`, which it promotes between float32 and its own dtype only: of
/// an op that joins parts in PyTorch and does not here.
void check_joinable(const char* op, DType t);

/// Forgets the casts of parameters; called when the outermost autocast scope ends and when parameters change.
void clear_autocast_cache();

}  // namespace weir
