// Watching the door: which ops are called, when and for how long. What a profiler asks for.
#pragma once
#include <cstdint>

#include "framework/op/op.h"

namespace weir {

/// Told of every op that ends, on whichever thread, a composite behind its parts. Results are undefined where it raised, and not told
/// of composites. Times are nanoseconds of the steady clock.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void ended(const OpType& type, Inputs in, Inputs out, int64_t begin, int64_t end) = 0;
};

/// Null for nobody. An observer must outlive the calls that began before it was replaced.
void set_observer(Observer* observer);

}  // namespace weir
