// Joining: a pass that makes one op of several asks the kernel library first whether this machine's kernel would gain by it.
#pragma once
#include <unordered_map>

#include "framework/op/op.h"

namespace weir {

/// By op; filled by the kernel library. The inputs are known by their geometry only.
using Gains = bool (*)(const void* op, Inputs in);
inline std::unordered_map<const OpType*, Gains>& joined_ops() {
  static std::unordered_map<const OpType*, Gains> all;
  return all;
}

}  // namespace weir
