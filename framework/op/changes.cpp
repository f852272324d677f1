#include "framework/op/changes.h"

#include <unordered_map>

namespace weir {

static std::unordered_map<const OpType*, Changes>& table() {
  static std::unordered_map<const OpType*, Changes> t;
  return t;
}

void set_changes(const OpType& type, Changes changes) { table()[&type] = changes; }

std::vector<int> changed_inputs(const OpType& type, const void* op, Inputs in) {
  auto it = table().find(&type);
  return it == table().end() ? std::vector<int>() : it->second(op, in);
}

}  // namespace weir
