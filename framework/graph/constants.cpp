#include "framework/graph/passes.h"
#include "framework/op/carried.h"

namespace weir::graph {

// Constants live as long as the plan, so only small ones are worth their memory unless a program asks for more.
constexpr size_t kMostBytes = 64 << 10;

Graph with_constants_folded(const Graph& g, bool large) {
  Graph r = g;
  std::vector<int> count = versions(g);
  std::vector<char> keep(g.nodes.size(), true), shown = shown_buffers(g);
  for (size_t i = 0; i < r.nodes.size(); i++) {
    const Node& n = r.nodes[i];
    bool known = !is_random(*n.type);
    size_t most = kMostBytes, read = 0, made = 0;
    for (const Use& u : n.in) {
      if (u.value < 0) continue;
      known = known && is_constant(r, u);
      read += r.buffers[r.buffer_of(u)].bytes;
    }
    for (const Use& u : n.out) made += r.buffers[r.buffer_of(u)].bytes;
    if (large && made <= read) most = made;
    for (const Use& u : n.out) {
      const Buffer& b = r.buffers[r.buffer_of(u)];
      known = known && b.kind == Kind::temporary && b.bytes <= most && count[r.buffer_of(u)] == 1 && !shown[r.buffer_of(u)] &&
              r.values[u.value].old < 0;
    }
    if (!known) continue;
    Tensors in, out;
    for (const Use& u : n.out) out.push_back(tensor_over(new_storage(r.buffers[r.buffer_of(u)].bytes), u));
    for (const Use& u : n.in) {
      if (u.value >= 0) in.push_back(constant_of(r, u));
      else in.push_back(u.blank ? tensor_over(out[0]->storage, u) : Tensor());
    }
    run_cpu_kernel(*n.type, n.op.data(), in, out);
    for (size_t k = 0; k < n.out.size(); k++) {
      Buffer& b = r.buffers[r.buffer_of(n.out[k])];
      b.kind = Kind::constant;
      b.storage = out[k]->storage;
      r.values[n.out[k].value].node = -1;
    }
    keep[i] = false;
  }
  return rebuilt(r, keep);
}

}  // namespace weir::graph
