// Which calls a composite may hand to a kernel as they are.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Whether nothing but the numbers is asked of a call: no input is differentiated and none is a batch, so that an op which has neither a gradient nor a
/// rule for batches can answer it. Inputs that are not given do not count.
inline bool is_plain(Inputs in) {
  for (const Tensor& t : in)
    if (t && (is_differentiated(t) || t.is_batched())) return false;
  return true;
}

}  // namespace weir
