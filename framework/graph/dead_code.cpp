#include <algorithm>
#include <array>

#include "framework/graph/passes.h"

namespace weir::graph {

// Ops that raise for some values: the program raised there, whether it used the result or not.
static bool is_check(const OpType& type) {
  static const std::array checks{find_op("check_not_negative"), find_op("check_range"), find_op("check_nonzero"), find_op("check_number")};
  return std::find(checks.begin(), checks.end(), &type) != checks.end();
}

Graph without_dead_code(const Graph& g) {
  std::vector<char> keep(g.nodes.size());
  std::vector<int> todo;
  auto need = [&](int v) {
    if (v < 0 || g.values[v].node < 0) return;
    char& kept = keep[g.values[v].node];
    if (!kept) todo.push_back(g.values[v].node);
    kept = true;
  };
  for (const Use& u : g.results) need(u.value);
  std::vector<int> last = g.last_values();
  for (int b : g.written()) need(last[b]);
  for (size_t i = 0; i < g.nodes.size(); i++)
    if (is_random(*g.nodes[i].type) || is_check(*g.nodes[i].type)) need(g.nodes[i].out[0].value);
  while (!todo.empty()) {
    const Node& n = g.nodes[todo.back()];
    todo.pop_back();
    for (const Use& u : n.in) need(u.value);
    for (const Use& u : n.out) need(g.values[u.value].old);
  }
  return rebuilt(g, keep);
}

}  // namespace weir::graph
