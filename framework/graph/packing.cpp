#include "framework/graph/passes.h"
#include "framework/op/packing.h"

namespace weir::graph {

Graph with_weights_frozen(const Graph& g) {
  Graph r = g;
  std::vector<char> stays = shown_buffers(g);  // a caller is given the memory itself
  for (int b : g.written()) stays[b] = true;
  for (size_t b = 0; b < g.buffers.size(); b++) {
    Buffer& buffer = r.buffers[b];
    if (buffer.kind != Kind::external || stays[b]) continue;
    buffer.kind = Kind::constant;
    r.frozen.push_back({buffer.storage, buffer.storage->version});
  }
  return r;
}

namespace {

class Packing {
 public:
  Packing(const Graph& g, bool tails) : g_(g), r_(g), tails_(tails), keep_(g.nodes.size(), true) {
    if (tails) readers_ = readers_of(g), count_ = versions(g);
  }

  Graph run() {
    for (size_t i = 0; i < g_.nodes.size(); i++)
      if (auto found = packers().find(g_.nodes[i].type); found != packers().end()) take(int(i), found->second);
    return rebuilt(r_, keep_);
  }

 private:
  // What a node's own pass can take along: nodes behind it, of which each is all that becomes of the one before.
  struct Behind {
    Tail tail;
    Use other;
    Use out;  // of the last of them
    std::vector<int> nodes;
  };

  void take(int i, const Packer& packer) {
    const Node& n = g_.nodes[i];
    if (!is_constant(g_, n.in[packer.input])) return;
    Tensors in = symbolic_inputs(n);
    in[packer.input] = constant_of(g_, n.in[packer.input]);
    const Tensor out = symbolic(n.out[0].meta);
    Behind behind = tails_ ? behind_of(i) : nothing_behind(i);
    Packed packed = packer.pack(n.op.data(), in, out, behind.tail);
    if (!packed.type && behind.tail) {
      behind = nothing_behind(i);
      packed = packer.pack(n.op.data(), in, out, behind.tail);
    }
    if (!packed.type) return;
    Node& to = r_.nodes[i];
    to.type = packed.type, to.op = packed.op, to.out[0] = behind.out;
    to.in.resize(packed.made.size());
    if (behind.tail.other) to.in[packed.other] = behind.other;
    for (size_t k = 0; k < packed.made.size(); k++)
      if (packed.made[k]) to.in[k] = made(packed.made[k]);
    for (int gone : behind.nodes) keep_[gone] = false;
  }

  Use made(const Tensor& t) {
    r_.buffers.push_back({Kind::constant, t->storage->bytes, t.device(), t->storage, -1});
    r_.values.push_back({int(r_.buffers.size()) - 1, -1, -1});
    return use_of(int(r_.values.size()) - 1, t);
  }

  Behind nothing_behind(int i) const { return {{}, {}, g_.nodes[i].out[0], {}}; }
  Behind behind_of(int i) const {
    Behind b = nothing_behind(i);
    int next = only_reader(b.out);
    auto step = [&](int node) {
      b.nodes.push_back(node);
      b.out = g_.nodes[node].out[0];
      next = only_reader(b.out);
    };
    if (next >= 0 && is_norm_of(next, b.out)) {
      const Node& norm = g_.nodes[next];
      for (int k = 1; k <= 4; k++) b.tail.norm.push_back(norm.in[k].value < 0 ? Tensor() : constant_of(g_, norm.in[k]));
      b.tail.eps = attribute<double>(norm, "eps");
      step(next);
    }
    if (next >= 0 && is_plain_sum(g_.nodes[next])) {
      const Node& sum = g_.nodes[next];
      const Use& other = sum.in[sum.in[0].value == b.out.value];
      const bool before = other.value >= 0 && other.value != b.out.value && g_.values[other.value].node < i;
      if (before && other.meta.sizes == b.out.meta.sizes && other.meta.dtype == b.out.meta.dtype) {
        b.tail.other = symbolic(other.meta), b.other = other;
        step(next);
      } else return b;
    }
    if (next >= 0 && is(g_.nodes[next], "relu")) {
      b.tail.relu = true;
      step(next);
    }
    return b;
  }

  // The node that alone reads `u`, as it was made, and makes another temporary like it.
  int only_reader(const Use& u) const {
    const std::vector<int>& readers = readers_[u.value];
    if (readers.size() != 1 || readers[0] < 0 || count_[g_.buffer_of(u)] != 1) return -1;
    const Node& n = g_.nodes[readers[0]];
    if (!same_place(n.out[0], u) || !makes_temporary(g_, n.out[0], count_)) return -1;
    for (const Use& in : n.in)
      if (in.value == u.value && !same_place(in, u)) return -1;
    return readers[0];
  }

  bool is_norm_of(int node, const Use& u) const {
    const Node& n = g_.nodes[node];
    if (!is(n, "batch_norm_forward") || attribute<bool>(n, "training") || n.in[0].value != u.value || !is_constant(g_, n.in[3]) || !is_constant(g_, n.in[4])) return false;
    for (int k : {1, 2})
      if (n.in[k].value >= 0 && !is_constant(g_, n.in[k])) return false;
    for (size_t k = 1; k < n.out.size(); k++)
      if (!readers_[n.out[k].value].empty()) return false;
    return true;
  }

  const Graph& g_;
  Graph r_;
  const bool tails_;
  std::vector<char> keep_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> count_;
};

}  // namespace

Graph with_weights_packed(const Graph& g, bool tails) { return Packing(g, tails).run(); }

}  // namespace weir::graph
