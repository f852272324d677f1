#include <numeric>

#include "framework/graph/passes.h"

namespace weir::graph {
namespace {

class BatchNorms {
 public:
  explicit BatchNorms(const Graph& g) : g_(g), readers_(readers_of(g)), count_(versions(g)) {}

  Graph run() {
    Graph r = g_;
    std::vector<char> keep(g_.nodes.size(), true);
    for (size_t i = 0; i < g_.nodes.size(); i++)
      if (is(g_.nodes[i], "relu")) take(int(i), r, keep);
    std::vector<int> same(g_.values.size());
    std::iota(same.begin(), same.end(), 0);
    return rebuilt(r, keep, same);
  }

 private:
  // The node that makes what `u` shows, if nobody else reads it and nothing changes it.
  int only_for(const Use& u, const Use& like) const {
    int v = u.value, maker = v < 0 ? -1 : g_.values[v].node;
    if (maker < 0 || readers_[v].size() != 1 || count_[g_.buffer_of(u)] != 1 || g_.nodes[maker].out[0].value != v) return -1;
    return same_place(u, like) && same_place(g_.nodes[maker].out[0], like) ? maker : -1;
  }

  void take(int relu, Graph& r, std::vector<char>& keep) const {
    const Use& out = g_.nodes[relu].out[0];
    if (!makes_temporary(g_, out, count_)) return;
    int norm = only_for(g_.nodes[relu].in[0], out), add = -1;
    Use other;
    if (norm >= 0 && is_plain_sum(g_.nodes[norm])) {
      add = norm;
      norm = addend(add, out, &other);
    }
    if (norm < 0 || !is(g_.nodes[norm], "batch_norm_forward") || !keep[norm]) return;
    const Node& n = g_.nodes[norm];
    static const OpType* fused = find_op("batch_norm_relu");
    Node f = n;
    f.type = fused;
    f.op = fused->defaults;
    for (int i = 0; i < fused->signature->n; i++) {
      std::string_view name = fused->signature->params[i].name;
      if (is_input(fused->signature->params[i].ty)) continue;
      if (name == "training") *reinterpret_cast<bool*>(f.op.data() + fused->fields[i].offset) = attribute<bool>(n, name);
      else *reinterpret_cast<double*>(f.op.data() + fused->fields[i].offset) = attribute<double>(n, name);
    }
    f.in.push_back(other);
    f.out[0] = out;
    r.nodes[norm] = std::move(f);
    keep[relu] = false;
    if (add >= 0) keep[add] = false;
  }

  // Of a plain sum of two tensors, the batch norm that comes last, and what it is added to.
  int addend(int add, const Use& like, Use* other) const {
    const Node& n = g_.nodes[add];
    int best = -1;
    for (int k : {0, 1}) {
      int maker = only_for(n.in[k], like);
      const Use& rest = n.in[1 - k];
      if (maker < 0 || !is(g_.nodes[maker], "batch_norm_forward") || rest.value < 0 || !same_place(rest, like) || g_.values[rest.value].node >= maker || maker < best) continue;
      best = maker;
      *other = rest;
    }
    return best;
  }

  const Graph& g_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> count_;
};

}  // namespace

Graph with_batch_norm_relu(const Graph& g) { return BatchNorms(g).run(); }

}  // namespace weir::graph
