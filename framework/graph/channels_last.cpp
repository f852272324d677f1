// Pictures between convolutions of constant weights lie channels last, as their kernels work, whatever the program's layout is.
#include <algorithm>

#include "framework/core/layout.h"
#include "framework/graph/passes.h"
#include "framework/op/out.h"
#include "framework/op/packing.h"

namespace weir::graph {
namespace {

class ChannelsLast {
 public:
  explicit ChannelsLast(const Graph& g) : g_(g), r_(g), count_(versions(g)), moved_(g.values.size()), back_(g.values.size(), -1) {
    r_.nodes.clear();
    look_ahead();
  }

  Graph run() {
    for (const Node& n : g_.nodes) {
      Node now = n;
      if (!starts(n, &now) && !follows(n, &now)) stays(&now);
      r_.nodes.push_back(std::move(now));
    }
    for (Use& u : r_.results) u = as_it_was(u);
    return rebuilt(r_, std::vector<char>(r_.nodes.size(), true));
  }

 private:
  bool has_moved(const Use& u) const { return u.value >= 0 && u.value < int(moved_.size()) && moved_[u.value].n > 0; }
  // How the program's node made a value.
  const Use& made(int value) const {
    const std::vector<Use>& out = g_.nodes[g_.values[value].node].out;
    return *std::find_if(out.begin(), out.end(), [&](const Use& u) { return u.value == value; });
  }
  // Shows `u` all of its value, in the layout that the program gave it?
  bool is_whole(const Use& u) const { return same_place(u, made(u.value)); }
  Use as_it_is(Use u) const {
    if (has_moved(u)) u.meta.strides = moved_[u.value];
    return u;
  }
  // The same numbers in the program's layout, from a copy where they lie in another.
  Use as_it_was(Use u) {
    if (!has_moved(u)) return u;
    if (back_[u.value] < 0) back_[u.value] = copy(as_it_is(made(u.value)), made(u.value).meta);
    u.value = back_[u.value];
    return u;
  }

  // A copy of `from` that looks like `to`; its value.
  int copy(const Use& from, const Meta& to) {
    static const OpType* clone = find_op("clone");
    Buffer b;
    b.bytes = size_t(to.sizes.product()) * size_of(to.dtype), b.device = r_.buffers[r_.buffer_of(from)].device;
    r_.buffers.push_back(b);
    const int value = int(r_.values.size());
    r_.values.push_back({int(r_.buffers.size()) - 1, int(r_.nodes.size()), -1});
    Node n;
    n.type = clone, n.op = clone->defaults, n.in = {from};
    n.out = {Use{value, false, 0, to}};
    n.out[0].meta.offset = 0;
    r_.nodes.push_back(std::move(n));
    return value;
  }

  // A convolution of pictures whose kernel has layouts of its own.
  bool is_start(const Node& n) const {
    auto found = packers().find(n.type);
    if (found == packers().end() || !can_move(n) || (n.in[0].meta.sizes.n != 4 && n.in[0].meta.sizes.n != 5)) return false;
    return is_constant(g_, n.in[found->second.input]) && found->second.fits(n.op.data(), symbolic_inputs(n), symbolic(n.out[0].meta));
  }
  bool is_follower(const Node& n) const { return can_move(n) && (n.type->layouts != Layouts::row_major || elementwise(*n.type)); }

  // Which values another convolution takes, as they are or through what follows: for one convolution alone nothing would be gained.
  void look_ahead() {
    taken_.resize(g_.values.size()), start_.resize(g_.nodes.size());
    for (size_t i = g_.nodes.size(); i-- > 0;) {
      const Node& n = g_.nodes[i];
      start_[i] = is_start(n);
      const bool on = start_[i] || (is_follower(n) && taken_[n.out[0].value]);
      for (const Use& u : n.in)
        if (on && u.value >= 0) taken_[u.value] = true;
    }
  }

  bool starts(const Node& n, Node* now) {
    if (!start_[&n - g_.nodes.data()] || !(taken_[n.out[0].value] || has_moved(n.in[0]))) return false;
    Meta to = n.in[0].meta;
    to.strides = channels_last_strides(to.sizes);
    Tensors in = symbolic_inputs(n);
    in[0] = symbolic(to);
    if (!moves(n, in, now)) return false;
    for (size_t k = 1; k < n.in.size(); k++) now->in[k] = as_it_was(n.in[k]);
    if (has_moved(n.in[0]) && is_whole(n.in[0]) && same_layout(to.sizes, moved_[n.in[0].value], to.strides)) now->in[0] = as_it_is(n.in[0]);
    else if (now->in[0] = as_it_was(n.in[0]); !same_layout(to.sizes, n.in[0].meta.strides, to.strides)) {
      to.offset = 0;
      now->in[0] = Use{copy(now->in[0], to), false, 0, to};
    }
    return true;
  }

  // What reads a moved value whole goes on in the layout that its op gives the result.
  bool follows(const Node& n, Node* now) {
    if (!is_follower(n)) return false;
    Tensors in;
    bool any = false;
    for (size_t k = 0; k < n.in.size(); k++) {
      const Use& u = n.in[k];
      if (u.blank || (has_moved(u) && !is_whole(u))) return false;
      any = any || has_moved(u);
      now->in[k] = as_it_is(u);
      in.push_back(u.value < 0 ? Tensor() : symbolic(now->in[k].meta));
    }
    return any && moves(n, in, now);
  }

  // Gives the results of `now` the layout that the op gives them for such inputs.
  bool moves(const Node& n, Inputs in, Node* now) {
    std::vector<Meta> metas(n.out.size());
    n.type->infer(n.op.data(), in, metas.data());
    for (size_t k = 0; k < n.out.size(); k++)
      if (metas[k].sizes != n.out[k].meta.sizes || metas[k].dtype != n.out[k].meta.dtype) return false;
    for (size_t k = 0; k < n.out.size(); k++) {
      Use& u = now->out[k];
      const Dims& strides = metas[k].strides;  // none: row-major
      if (strides.n != u.meta.sizes.n ? is_row_major(u.meta.sizes, u.meta.strides) : same_layout(u.meta.sizes, u.meta.strides, strides)) continue;
      u.meta.strides = moved_[u.value] = strides.n == u.meta.sizes.n ? strides : contiguous_strides(u.meta.sizes);
    }
    return true;
  }

  // All results are the program's own, written whole and once, and the op looks at no memory but its inputs'.
  bool can_move(const Node& n) const {
    if (n.hidden || !n.type->infer || is_random(*n.type)) return false;  // numbers are drawn in the order of memory
    return std::all_of(n.out.begin(), n.out.end(), [&](const Use& u) { return makes_temporary(g_, u, count_); });
  }

  void stays(Node* n) {
    for (Use& u : n->in)
      if (!u.blank) u = as_it_was(u);
  }

  const Graph& g_;
  Graph r_;
  std::vector<int> count_;
  std::vector<char> taken_, start_;  // by value, by node
  std::vector<Dims> moved_;  // by value: the strides it has now, or none where they are the program's
  std::vector<int> back_;    // by value: its copy in the program's layout, or -1
};

}  // namespace

Graph with_channels_last(const Graph& g) { return ChannelsLast(g).run(); }

}  // namespace weir::graph
