#include <numeric>

#include "framework/graph/passes.h"

namespace weir::graph {

Graph with_buffers_apart(const Graph& g) {
  Graph r = g;
  // A buffer that is written whole several times is several; the last stays the one that results may show.
  std::vector<int> whole(g.buffers.size()), now(g.buffers.size());
  std::iota(now.begin(), now.end(), 0);
  auto starts = [&](const Use& u) { return g.values[u.value].old < 0 && g.buffers[g.values[u.value].buffer].kind == Kind::temporary; };
  for (const Node& n : g.nodes)
    for (const Use& u : n.out) whole[g.values[u.value].buffer] += starts(u);
  for (const Node& n : g.nodes)
    for (const Use& u : n.out) {
      int b = g.values[u.value].buffer;
      if (starts(u)) {
        bool last = --whole[b] == 0;
        now[b] = last ? b : int(r.buffers.size());
        if (!last) r.buffers.push_back(g.buffers[b]);
      }
      r.values[u.value].buffer = now[b];
    }
  return r;
}

}  // namespace weir::graph
