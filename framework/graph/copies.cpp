#include <numeric>

#include "framework/graph/passes.h"

namespace weir::graph {
namespace {

bool is_copy(const Node& n) {
  std::string_view name = n.type->signature->name;
  if (name == "clone" || name == "to_dtype") return n.in.size() == 1;
  return name == "copy";  // of its second input
}

bool same_geometry(const Use& a, const Use& b) {
  return a.meta.dtype == b.meta.dtype && a.meta.offset == b.meta.offset && a.meta.sizes == b.meta.sizes &&
         same_layout(a.meta.sizes, a.meta.strides, b.meta.strides);
}

}  // namespace

Graph without_copies(const Graph& g) {
  std::vector<char> keep(g.nodes.size(), true), shown = shown_buffers(g);
  std::vector<int> stands_for(g.values.size()), count = versions(g);
  std::iota(stands_for.begin(), stands_for.end(), 0);
  for (size_t i = 0; i < g.nodes.size(); i++) {
    const Node& n = g.nodes[i];
    if (!is_copy(n)) continue;
    const Use &from = n.in.back(), &to = n.out[0];
    int a = g.buffer_of(from), b = g.buffer_of(to);
    bool alone = count[a] == 1 && count[b] == 1 && g.buffers[b].kind == Kind::temporary && g.buffers[a].bytes == g.buffers[b].bytes &&
                 g.buffers[a].device == g.buffers[b].device;
    if (!alone || shown[b] || !same_geometry(from, to) || !covers(to, g.buffers[b].bytes)) continue;
    keep[i] = false;
    stands_for[to.value] = stands_for[from.value];
  }
  return rebuilt(g, keep, stands_for);
}

}  // namespace weir::graph
