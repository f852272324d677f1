// Autocast's state beyond the mode flag.
#pragma once
#include <cstring>

#include "framework/op/call.h"

namespace weir {

/// Forgets the casts of parameters; called when the outermost autocast scope ends and when parameters change.
void clear_autocast_cache();

}  // namespace weir
