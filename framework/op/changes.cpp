#include "framework/op/changes.h"

#include <unordered_map>

namespace weir {

template <class Fact> static std::unordered_map<const OpType*, Fact>& table() {
  static std::unordered_map<const OpType*, Fact> t;
  return t;
}
template <class Fact> static Fact known(const OpType& type) {
  auto it = table<Fact>().find(&type);
  return it == table<Fact>().end() ? nullptr : it->second;
}

void set_changes(const OpType& type, Changes changes) { table<Changes>()[&type] = changes; }

std::vector<int> changed_inputs(const OpType& type, const void* op, Inputs in) {
  Changes changes = known<Changes>(type);
  return changes ? changes(op, in) : std::vector<int>();
}

void set_run_width(const OpType& type, RunWidth width) { table<RunWidth>()[&type] = width; }

int run_width(const OpType& type, const void* op) {
  RunWidth width = known<RunWidth>(type);
  return width ? width(op) : 0;
}

}  // namespace weir
