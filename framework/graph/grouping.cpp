#include "framework/graph/grouping.h"

#include <climits>

#include "framework/graph/passes.h"

namespace weir::graph {

Grouping::Grouping(const Graph& g) : g_(g), replaced_(g.values.size(), INT_MAX), readers_(g.values.size()), shown_(g.values.size()) {
  std::vector<int> now(g.buffers.size(), -1);
  for (size_t v = 0; v < g.values.size(); v++)
    if (g.values[v].node < 0) now[g.values[v].buffer] = int(v);
  for (size_t i = 0; i < g.nodes.size(); i++) {
    for (const Use& u : g.nodes[i].in)
      if (u.value >= 0) readers_[u.value].push_back(int(i));
    for (const Use& u : g.nodes[i].out) {
      int& held = now[g.buffer_of(u)];
      if (held >= 0) replaced_[held] = int(i);
      held = u.value;
      if (g.values[u.value].old >= 0) readers_[g.values[u.value].old].push_back(int(i));
    }
  }
  for (const Use& u : g.results)
    if (u.value >= 0) shown_[u.value] = true;
}

bool Grouping::may_run_at(const std::vector<int>& members, int last) const {
  for (int m : members)
    for (const Use& u : g_.nodes[m].out)
      for (int r : readers_[u.value])
        if (r <= last && !is_among(members, r)) return false;
  const std::vector<int> read = inputs(members);
  return std::all_of(read.begin(), read.end(), [&](int v) { return replaced_[v] > last; });
}

bool Grouping::is_seen_outside(int value, const std::vector<int>& members) const {
  return shown_[value] || std::any_of(readers_[value].begin(), readers_[value].end(), [&](int r) { return !is_among(members, r); });
}

std::vector<int> Grouping::inputs(const std::vector<int>& members) const {
  std::vector<int> r;
  for (int m : members)
    for (const Use& u : g_.nodes[m].in)
      if (u.value >= 0 && !is_among(members, g_.values[u.value].node)) r.push_back(u.value);
  std::sort(r.begin(), r.end());
  r.erase(std::unique(r.begin(), r.end()), r.end());
  return r;
}

Graph with_groups(const Graph& g, std::vector<std::vector<int>> groups, const std::function<Node(const std::vector<int>& members)>& made) {
  Graph r = g;
  std::vector<char> keep(g.nodes.size(), true);
  for (std::vector<int>& members : groups) {
    if (members.size() < 2) continue;
    std::sort(members.begin(), members.end());
    for (int m : members) keep[m] = m == members.back();
    r.nodes[members.back()] = made(members);
  }
  return rebuilt(r, keep);
}

}  // namespace weir::graph
