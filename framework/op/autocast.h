// Autocast's state beyond the mode flag.
#pragma once
#include <cstring>

#include "framework/op/call.h"

namespace weir {

/// RuntimeError where autocast is on and would refuse to join tensors of `t`, which it promotes between float32 and its own dtype only: of
/// an op that joins parts in PyTorch and does not here.
void check_joinable(const char* op, DType t);

/// Autocast is off for a scope.
class WithoutAutocast {
 public:
  WithoutAutocast() : before_(mode.autocast) { mode.autocast = false; }
  ~WithoutAutocast() { mode.autocast = before_; }
  WithoutAutocast(const WithoutAutocast&) = delete;

 private:
  bool before_;
};

/// Forgets the casts of parameters; called when the outermost autocast scope ends and when parameters change.
void clear_autocast_cache();

}  // namespace weir
