// Splits the update of a whole group of parameters where that frees memory.
#include <algorithm>
#include <set>

#include "framework/graph/passes.h"
#include "framework/op/changes.h"

namespace weir::graph {
namespace {

constexpr int64_t kLarge = 64 << 10;  // elements; a call of its own costs smaller parameters more than their gradient's memory is worth

class Updates {
 public:
  explicit Updates(const Graph& g) : g_(g), touched_(g.buffers.size(), -1) {}

  Graph run() {
    for (int i = 0; i < int(g_.nodes.size()); i++) {
      const Node& n = g_.nodes[i];
      int width = run_width(*n.type, n.op.data());
      if (!width || !split(n, width, i)) nodes_.push_back({i, n});
      for (const auto* uses : {&n.in, &n.out})
        for (const Use& u : *uses)
          if (u.value >= 0) touched_[g_.buffer_of(u)] = i;
    }
    std::stable_sort(nodes_.begin(), nodes_.end(), [](const Placed& a, const Placed& b) { return a.at < b.at; });
    Graph r = g_;
    r.nodes.clear();
    for (Placed& p : nodes_) r.nodes.push_back(std::move(p.node));
    return rebuilt(r, std::vector<char>(r.nodes.size(), true));
  }

 private:
  struct Placed { int at; Node node; };  // behind the node that stood at `at`

  // Puts large runs where they may stand first, and what is left at `i`.
  bool split(const Node& n, int width, int i) {
    std::vector<std::vector<Use>> outs(n.in.size());  // by input: what becomes of it
    if (!by_input(n, &outs)) return false;
    Node rest = part_of(n);
    for (size_t k = 0; k + 1 < n.in.size(); k += size_t(width)) {
      bool large = n.in[k].meta.sizes.product() >= kLarge;
      Node own = part_of(n);
      for (size_t j = k; j < k + size_t(width); j++) add(large ? own : rest, n.in[j], outs[j]);
      if (large) place(own, n.in.back(), earliest(own, n.in.back()));
    }
    if (!rest.in.empty()) place(rest, n.in.back(), i);
    return true;
  }

  static Node part_of(const Node& n) {
    Node r = n;
    r.in.clear(), r.out.clear();
    return r;
  }
  static void add(Node& n, const Use& in, const std::vector<Use>& out) {
    n.in.push_back(in);
    n.out.insert(n.out.end(), out.begin(), out.end());
  }
  void place(Node n, const Use& last, int at) {
    n.in.push_back(last);
    n.hidden = int(n.out.size()) - 1;
    nodes_.push_back({at, std::move(n)});
  }

  // The result of each input: of the first the output, of others the hidden ones. False where runs share memory.
  bool by_input(const Node& n, std::vector<std::vector<Use>>* outs) const {
    Tensors in;
    for (const Use& u : n.in) in.push_back(u.value < 0 ? Tensor() : symbolic(Meta(u.meta.sizes, u.meta.dtype, u.meta.device)));
    std::vector<int> changed = changed_inputs(*n.type, n.op.data(), in);
    changed.insert(changed.begin(), 0);
    if (changed.size() != n.out.size()) return false;
    std::set<int> buffers;
    for (size_t k = 0; k < changed.size(); k++) {
      const Use& to = n.out[k];
      bool in_place = n.in[size_t(changed[k])].value >= 0 && g_.buffer_of(n.in[size_t(changed[k])]) == g_.buffer_of(to);
      if (!in_place || !buffers.insert(g_.buffer_of(to)).second) return false;
      (*outs)[size_t(changed[k])].push_back(to);
    }
    return true;
  }

  // The node behind which everything that it reads is made, and nobody needs what it replaces.
  int earliest(const Node& n, const Use& last) const {
    int at = last.value < 0 ? -1 : g_.values[last.value].node;
    for (const Use& u : n.in) at = std::max(at, u.value < 0 ? -1 : g_.values[u.value].node);
    for (const Use& u : n.out) at = std::max(at, touched_[g_.buffer_of(u)]);
    return at;
  }

  const Graph& g_;
  std::vector<int> touched_;  // by buffer: the last node so far that reads or writes it
  std::vector<Placed> nodes_;
};

}  // namespace

Graph with_updates_early(const Graph& g) { return Updates(g).run(); }

}  // namespace weir::graph
