// Who reads and who replaces a value; which nodes may run as one, at the place of the last of them; and the graph in which they do.
#pragma once
#include <algorithm>
#include <functional>

#include "framework/graph/graph.h"

namespace weir::graph {

class Grouping {
 public:
  explicit Grouping(const Graph& g);
  /// Nobody else up to `last` needs what the members make, or changes what they read.
  bool may_run_at(const std::vector<int>& members, int last) const;
  /// Is the value a result, or read by others?
  bool is_seen_outside(int value, const std::vector<int>& members) const;
  /// The values that members read and others make, each once.
  std::vector<int> inputs(const std::vector<int>& members) const;
  /// The nodes that read a value or change it.
  const std::vector<int>& readers(int value) const { return readers_[value]; }
  /// The node that makes the next value of its buffer; INT_MAX where none does.
  int replaced_at(int value) const { return replaced_[value]; }

 private:
  const Graph& g_;
  std::vector<int> replaced_;              // by value
  std::vector<std::vector<int>> readers_;  // by value
  std::vector<char> shown_;                // by value
};

inline bool is_among(const std::vector<int>& members, int node) { return std::find(members.begin(), members.end(), node) != members.end(); }

/// A node of op T that runs `program` and keeps it; its inputs and outputs are left to fill in.
template <class T, class Program> Node node_running(const std::shared_ptr<Program>& program, const Place& place) {
  T op;
  op.program = program.get();
  Node node;
  node.type = &op_type<T>();
  node.op.resize(sizeof op);
  new (node.op.data()) T(op);
  node.owner = program;
  node.place = place;
  return node;
}

/// The graph in which the node that `made` gives stands for the members of each group of two or more.
Graph with_groups(const Graph& g, std::vector<std::vector<int>> groups, const std::function<Node(const std::vector<int>& members)>& made);

}  // namespace weir::graph
