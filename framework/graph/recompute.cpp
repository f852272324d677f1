// Computes again, behind the peak of memory, what was kept over it.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "framework/graph/batch_norm.h"
#include "framework/graph/grouping.h"
#include "framework/graph/passes.h"
#include "framework/op/fused.h"
#include "framework/op/out.h"

namespace weir::graph {
namespace {

constexpr size_t kWorthwhile = 64 << 10;  // bytes

// Bytes that a node reads and writes.
double moved_by(const Node& n) {
  double r = 0;
  for (const auto* uses : {&n.in, &n.out})
    for (const Use& u : *uses)
      if (u.value >= 0) r += double(u.meta.sizes.product()) * double(size_of(u.meta.dtype));
  return r;
}

// A pass over memory or little more, and the same bits each time.
bool is_cheap(const Node& n) {
  return n.type == &op_type<Fused>() || elementwise(*n.type) || is(n, "layer_norm_forward") || is(n, "group_norm_forward") || is(n, "batch_norm_forward") ||
         is(n, "batch_norm_relu") || is(n, "batch_norm_apply") || is(n, "clone") || is(n, "to_dtype");
}

struct Life {
  int first = -1, last = -1;
};
// From where to where each temporary buffer holds something: results to the end.
std::vector<Life> lives(const Graph& g) {
  std::vector<Life> r(g.buffers.size());
  auto seen = [&](const Use& u, int i) {
    if (u.value < 0 || g.buffers[g.buffer_of(u)].kind != Kind::temporary) return;
    Life& life = r[g.buffer_of(u)];
    if (life.first < 0) life.first = i;
    life.last = i;
  };
  for (size_t i = 0; i < g.nodes.size(); i++)
    for (const auto* uses : {&g.nodes[i].in, &g.nodes[i].out})
      for (const Use& u : *uses) seen(u, int(i));
  for (const Use& u : g.results) seen(u, int(g.nodes.size()));
  return r;
}

class Recomputation {
 public:
  explicit Recomputation(Graph g) : g_(std::move(g)) {}

  /// Takes the one kept value whose recomputation frees most at the peak out of it, in bytes for each that is read and written for it. False where there
  /// is none, or the budget holds, or `allowed` bytes, of which it takes its own, do not suffice.
  bool improve(size_t budget, double& allowed) {
    int peak = 0;
    if (most_live(g_, &peak) <= budget) return false;
    study();
    int best = -1, where = 0;
    double most = 0;
    for (size_t v = 0; v < g_.values.size(); v++) {
      int next = next_reader(int(v), peak);
      if (next < 0 || !may_move(int(v), next)) continue;
      const double moved = moved_by(g_.nodes[g_.values[v].node]), freed = double(bytes_of(int(v))) / moved;
      if (moved > allowed) continue;
      const auto rank = std::tuple(freed, bytes_of(int(v)), next);
      if (best < 0 || rank > std::tuple(most, bytes_of(best), where)) best = int(v), most = freed, where = next;
    }
    if (best < 0) return false;
    allowed -= moved_by(g_.nodes[g_.values[best].node]);
    move(best, where);
    return true;
  }
  Graph result() { return std::move(g_); }

 private:
  size_t bytes_of(int v) const { return g_.buffers[g_.values[v].buffer].bytes; }

  void study() {
    lives_ = lives(g_), count_ = versions(g_), shown_ = shown_buffers(g_);
    order_.emplace(g_);
  }

  // The first reader behind the peak of a value that only lies there over it; -1 for others.
  int next_reader(int v, int peak) const {
    int b = g_.values[v].buffer, maker = g_.values[v].node;
    if (maker < 0 || maker >= peak || g_.buffers[b].kind != Kind::temporary || bytes_of(v) < kWorthwhile || count_[b] != 1 || shown_[b]) return -1;
    int next = -1;
    for (int r : order_->readers(v)) {
      if (r == peak) return -1;
      if (r > peak && next < 0) next = r;
    }
    return next;
  }

  // Can the maker of `v` run again before node `at`, from what is there then?
  bool may_move(int v, int at) const {
    const Node& n = g_.nodes[g_.values[v].node];
    if (!is_cheap(n)) return false;
    if (n.hidden && !again(n, nullptr)) return false;
    bool norm = is(n, "batch_norm_forward") || is(n, "batch_norm_relu");
    if (norm && g_.buffer_of(n.out[0]) != g_.values[v].buffer) return false;
    for (size_t k = 0; k < n.in.size(); k++) {
      if (norm && n.hidden && (k == 3 || k == 4)) continue;  // running statistics, for which the saved ones stand
      if (!is_there(n.in[k], at)) return false;
    }
    return !norm || !n.hidden || (is_there(n.out[1], at) && is_there(n.out[2], at));
  }
  bool is_there(const Use& u, int at) const {
    if (u.value < 0) return !u.blank;
    if (order_->replaced_at(u.value) <= at) return false;
    return g_.buffers[g_.buffer_of(u)].kind != Kind::temporary || lives_[g_.buffer_of(u)].last >= at;
  }

  // The node that makes the same result without changing anything else: batch norm from its saved statistics. False where there is none.
  bool again(const Node& n, Node* to) const {
    if (!is(n, "batch_norm_relu") && !is(n, "batch_norm_forward")) return false;
    if (!rounds_alike_again(n) || n.out[1].meta.sizes.product() == 0) return false;
    if (to) *to = applied_again(n);
    return true;
  }

  void move(int v, int at) {
    const Node& maker = g_.nodes[g_.values[v].node];
    Node copy = maker;
    if (maker.hidden) again(maker, &copy);
    int fresh = -1;
    for (Use& u : copy.out) {
      int value = int(g_.values.size());
      if (u.value == v) fresh = value;
      g_.values.push_back({int(g_.buffers.size()), at, -1});
      Buffer own = g_.buffers[g_.buffer_of(u)];
      g_.buffers.push_back(own);
      u.value = value;
    }
    for (size_t i = size_t(at); i < g_.nodes.size(); i++)
      for (Use& u : g_.nodes[i].in)
        if (u.value == v) u.value = fresh;
    g_.nodes.insert(g_.nodes.begin() + at, std::move(copy));
    for (size_t i = 0; i < g_.nodes.size(); i++)
      for (const Use& u : g_.nodes[i].out) g_.values[u.value].node = int(i);
  }

  Graph g_;
  std::vector<Life> lives_;
  std::vector<int> count_;   // by buffer
  std::vector<char> shown_;  // by buffer
  std::optional<Grouping> order_;
};

}  // namespace

size_t most_live(const Graph& g, int* node) {
  std::vector<Life> life = lives(g);
  std::vector<int64_t> change(g.nodes.size() + 2);
  for (size_t b = 0; b < life.size(); b++) {
    if (life[b].first < 0) continue;
    change[life[b].first] += int64_t(g.buffers[b].bytes);
    change[life[b].last + 1] -= int64_t(g.buffers[b].bytes);
  }
  int64_t live = 0, most = 0;
  for (size_t i = 0; i < change.size(); i++) {
    live += change[i];
    if (live > most) most = live, node ? void(*node = int(i)) : void();
  }
  return size_t(most);
}

Graph with_recomputation(const Graph& g, size_t budget, double share) {
  double allowed = std::numeric_limits<double>::max();
  if (share < allowed) allowed = share * std::accumulate(g.nodes.begin(), g.nodes.end(), 0.0, [](double sum, const Node& n) { return sum + moved_by(n); });
  Recomputation r(g);
  while (r.improve(budget, allowed)) {}
  Graph made = r.result();
  return rebuilt(made, std::vector<char>(made.nodes.size(), true));
}

}  // namespace weir::graph
