// Groups element-wise nodes of one shape into fused nodes.
#include <algorithm>
#include <map>

#include "framework/graph/grouping.h"
#include "framework/graph/passes.h"
#include "framework/op/fused.h"

namespace weir::graph {

namespace {

constexpr size_t kMostSteps = 24, kMostInputs = 16;

bool same_layout_as(const Use& a, const Use& b) {
  return a.meta.sizes == b.meta.sizes && same_layout(a.meta.sizes, a.meta.strides, b.meta.strides) && a.meta.offset == b.meta.offset;
}

bool broadcasts(const Dims& from, const Dims& to) {
  if (from.n > to.n) return false;
  for (int i = 1; i <= from.n; i++)
    if (from[from.n - i] != to[to.n - i] && from[from.n - i] != 1) return false;
  return true;
}

// Is the node a copy or a cast, of its last input?
bool converts(const Node& n) {
  std::string_view name = n.type->signature->name;
  return name == "clone" || name == "to_dtype" || (name == "copy" && n.in.size() == 2);
}

}  // namespace

size_t first_read(const Node& n) { return converts(n) ? n.in.size() - 1 : 0; }

bool find_step(const Node& n, FusedStep* step) {
  step->op = n.op, step->type = n.type, step->tile = n.out[0].meta.dtype;
  if (converts(n)) return true;
  Tensors in;
  for (const Use& u : n.in) {
    Tensor t;
    if (u.value >= 0) {
      t = symbolic(Meta(u.meta.sizes, u.meta.dtype, u.meta.device));
      t->flags |= u.flags;
    }
    in.push_back(t);
  }
  return fused_loop && fused_loop(*n.type, n.op.data(), in, n.out[0].meta.dtype, step);
}

namespace {

class Fusion {
 public:
  explicit Fusion(const Graph& g) : g_(g), grouping_(g), group_(g.nodes.size(), -1), steps_(g.nodes.size()) {
    const std::vector<int> count = versions(g);
    for (size_t i = 0; i < g.nodes.size(); i++) fits_.push_back(fits(g.nodes[i], count, &steps_[i]));
  }

  Graph run() {
    for (size_t i = 0; i < g_.nodes.size(); i++)
      if (fits_[i]) place(int(i));
    return with_groups(g_, groups_, [&](const std::vector<int>& members) { return fused(members); });
  }

 private:
  bool fits(const Node& n, const std::vector<int>& count, FusedStep* step) const {
    if (n.out.size() != 1 || is_stored(n.out[0]) || std::any_of(n.in.begin(), n.in.end(), is_stored)) return false;
    const Use& out = n.out[0];
    int b = g_.buffer_of(out);
    const Dims& sizes = out.meta.sizes;
    if (g_.buffers[b].kind != Kind::temporary || count[b] != 1 || !covers(out, g_.buffers[b].bytes) || sizes.product() < 2) return false;
    if (converts(n) ? !same_sizes(n.in.back(), sizes) || is_complex(n.in.back().meta.dtype) || is_complex(out.meta.dtype)
                    : std::any_of(n.in.begin(), n.in.end(), [&](const Use& u) { return u.value >= 0 && !broadcasts(u.meta.sizes, sizes); }))
      return false;
    return find_step(n, step);
  }
  static bool is_stored(const Use& u) { return is_storage_only(u.meta.dtype); }
  static bool same_sizes(const Use& u, const Dims& sizes) { return u.value >= 0 && u.meta.sizes == sizes; }

  // Puts the node into the groups that make its inputs, all as one, or into one of its own.
  void place(int i) {
    std::vector<int> members = {i};
    for (const Use& u : g_.nodes[i].in) {
      int maker = u.value < 0 ? -1 : g_.values[u.value].node;
      if (maker < 0 || group_[maker] < 0 || is_among(members, maker)) continue;
      std::vector<int> tried = members;
      tried.insert(tried.end(), groups_[group_[maker]].begin(), groups_[group_[maker]].end());
      if (may_be_one(tried, i)) members = tried;
    }
    for (int m : members)
      if (group_[m] >= 0) groups_[group_[m]].clear();
    for (int m : members) group_[m] = int(groups_.size());
    groups_.push_back(members);
  }

  bool may_be_one(const std::vector<int>& members, int last) const {
    if (members.size() > kMostSteps) return false;
    const Use& shape = g_.nodes[last].out[0];
    for (int m : members) {
      if (!same_layout_as(g_.nodes[m].out[0], shape)) return false;
      for (const Use& u : g_.nodes[m].in) {
        const int maker = u.value < 0 ? -1 : g_.values[u.value].node;
        if (maker < 0 || !is_among(members, maker)) continue;
        if (!same_layout_as(u, g_.nodes[maker].out[0]) || u.meta.dtype != g_.nodes[maker].out[0].meta.dtype) return false;
      }
    }
    return grouping_.may_run_at(members, last) && grouping_.inputs(members).size() <= kMostInputs;
  }

  Node fused(const std::vector<int>& members) const {
    auto program = std::make_shared<FusedProgram>();
    Node node = node_running<Fused>(program, g_.nodes[members.back()].place);
    std::vector<std::pair<int, int>> made;  // values and their operands
    auto operand_of = [&](const Use& u) {
      for (auto [value, operand] : made)
        if (value == u.value) return operand;
      program->operands.push_back({u.meta.dtype, int(node.in.size()), -1, -1});
      node.in.push_back(u);
      return int(program->operands.size()) - 1;
    };
    for (size_t k = 0; k < members.size(); k++) {
      const Node& n = g_.nodes[members[k]];
      FusedStep step = steps_[members[k]];
      for (size_t i = first_read(n); i < n.in.size(); i++) step.in.push_back(n.in[i].value < 0 ? -1 : operand_of(n.in[i]));
      const Use& out = n.out[0];
      const bool outside = grouping_.is_seen_outside(out.value, members);
      step.out = int(program->operands.size());
      program->operands.push_back({out.meta.dtype, -1, outside ? int(node.out.size()) : -1, -1});
      if (outside) node.out.push_back(out);
      made.push_back({out.value, step.out});
      program->steps.push_back(std::move(step));
    }
    assign_slots(*program);
    return node;
  }

  // Tiles are given out from first write to last read. A loop may write over what it reads last; a conversion may not.
  static void assign_slots(FusedProgram& p) {
    std::vector<int> last(p.operands.size(), -1);
    for (size_t k = 0; k < p.steps.size(); k++)
      for (int o : p.steps[k].in)
        if (o >= 0) last[o] = int(k);
    std::map<size_t, std::vector<int>> free;  // by size of their elements
    auto tiles_for = [&](const FusedOperand& x) -> std::vector<int>& { return free[size_of(kept_in_tile(x.dtype))]; };
    auto release = [&](int k) {
      for (size_t o = 0; o < p.operands.size(); o++)
        if (last[o] == k && p.operands[o].slot >= 0) tiles_for(p.operands[o]).push_back(p.operands[o].slot), last[o] = -2;
    };
    for (size_t k = 0; k < p.steps.size(); k++) {
      if (p.steps[k].loop) release(int(k));
      FusedOperand& out = p.operands[p.steps[k].out];
      if (out.output < 0) {
        std::vector<int>& tiles = tiles_for(out);
        if (tiles.empty()) tiles.push_back(p.num_slots++);
        out.slot = tiles.back();
        tiles.pop_back();
      }
      release(int(k));
    }
  }

  const Graph& g_;
  const Grouping grouping_;
  std::vector<int> group_;  // by node
  std::vector<FusedStep> steps_;
  std::vector<char> fits_;
  std::vector<std::vector<int>> groups_;
};

}  // namespace

Graph with_pointwise_fused(const Graph& g) { return Fusion(g).run(); }

}  // namespace weir::graph
