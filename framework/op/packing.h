// Packing: a kernel that works in a layout of its own can be given an input that does not change in that layout, made once, and with it
// what follows its result.
#pragma once
#include <unordered_map>

#include "framework/op/op.h"

namespace weir {

/// What follows an op's result, in the order of the members; `norm` does not change, `other` is known by its geometry only.
struct Tail {
  Tensors norm;      // batch norm's weight, bias, mean and variance, or nothing
  double eps = 0;    // of the batch norm
  Tensor other;      // added
  bool relu = false;
  explicit operator bool() const { return !norm.empty() || other || relu; }
};

/// What runs instead of an op and its tail: another op, which reads the same inputs and behind them `other`, but what is `made` for it.
struct Packed {
  const OpType* type = nullptr;  // null: nothing would be gained, or it cannot be done
  std::vector<std::byte> op;
  Tensors made;
  int other = -1;  // the place of the tail's `other` among the inputs
};

struct Packer {
  int input = 0;  // the one that is packed; the others may be without values
  bool (*fits)(const void* op, Inputs in, const Tensor& out) = nullptr;  // does the kernel have a layout of its own for it?
  Packed (*pack)(const void* op, Inputs in, const Tensor& out, const Tail& tail) = nullptr;
};

/// By op; filled by the kernel library.
inline std::unordered_map<const OpType*, Packer>& packers() {
  static std::unordered_map<const OpType*, Packer> all;
  return all;
}

}  // namespace weir
