// Packing: a kernel that works in a layout of its own can be given an input that does not change in that layout, made once.
#pragma once
#include <unordered_map>

#include "framework/op/op.h"

namespace weir {

/// What runs instead of an op: another op, whose input of the same number is `data`.
struct Packed {
  const OpType* type = nullptr;  // null: packing would gain nothing
  std::vector<std::byte> op;
  Tensor data;
};

struct Packer {
  int input = 0;  // the one that is packed; the others may be without values
  Packed (*pack)(const void* op, Inputs in, const Tensor& out) = nullptr;
};

/// By op; filled by the kernel library.
inline std::unordered_map<const OpType*, Packer>& packers() {
  static std::unordered_map<const OpType*, Packer> all;
  return all;
}

}  // namespace weir
