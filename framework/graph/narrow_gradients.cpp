// Updates read gradients of half types as they are, where a widened copy would be made for them alone: it is six bytes of traffic for each number.

#include "framework/graph/passes.h"
#include "framework/op/changes.h"

namespace weir::graph {

Graph with_narrow_gradients(const Graph& g) {
  Graph r = g;
  std::vector<char> keep(g.nodes.size(), true);
  const std::vector<std::vector<int>> readers = readers_of(g);
  const std::vector<int> count = versions(g);
  for (Node& n : r.nodes) {
    const int width = run_width(*n.type, n.op.data());
    for (size_t k = 1; width && k + 1 < n.in.size(); k += size_t(width)) {
      Use& gradient = n.in[k];
      const int maker = gradient.value < 0 ? -1 : g.values[gradient.value].node;
      if (maker < 0 || !is(g.nodes[maker], "to_dtype") || g.nodes[maker].in.size() != 1 || readers[gradient.value].size() != 1) continue;
      const Use &wide = g.nodes[maker].out[0], &narrow = g.nodes[maker].in[0];
      if (!same_place(gradient, wide) || !makes_temporary(g, wide, count) || narrow.value < 0 || count[g.buffer_of(narrow)] != 1) continue;
      if (!is_reduced(narrow.meta.dtype) || wide.meta.dtype != DType::float32 || narrow.meta.strides != wide.meta.strides) continue;
      gradient = narrow;
      keep[maker] = false;
    }
  }
  return rebuilt(r, keep);
}

}  // namespace weir::graph
