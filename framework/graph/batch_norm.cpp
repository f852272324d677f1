#include "framework/graph/batch_norm.h"

#include <algorithm>

#include "framework/graph/grouping.h"
#include "framework/graph/passes.h"

namespace weir::graph {
namespace {

class BatchNorms {
 public:
  explicit BatchNorms(const Graph& g) : g_(g), order_(g), readers_(readers_of(g)), count_(versions(g)) {}

  Graph forward() {
    return each("relu", [&](int relu, Graph& r, std::vector<char>& keep) { take(relu, r, keep); });
  }
  Graph backward() {
    return each("batch_norm_backward", [&](int norm, Graph& r, std::vector<char>& keep) {
      if (!take_relu_backward(norm, r, keep)) take_sum(norm, r, keep);
    });
  }
  Graph pool() {
    return each("batch_norm_relu", [&](int norm, Graph& r, std::vector<char>& keep) { take_pool(norm, r, keep); });
  }

 private:
  template <class F> Graph each(std::string_view name, F&& f) const {
    Graph r = g_;
    std::vector<char> keep(g_.nodes.size(), true);
    for (size_t i = 0; i < g_.nodes.size(); i++)
      if (is(g_.nodes[i], name)) f(int(i), r, keep);
    return rebuilt(r, keep);
  }

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
    Node f = as_op("batch_norm_relu", n);
    if (int second = add < 0 ? -1 : only_for(other, out); second >= 0 && may_join(second, norm) && keep[second]) {
      const Node& m = g_.nodes[second];
      f.in.insert(f.in.end(), {m.in[0], m.out[1], m.out[2], m.in[1], m.in[2]});
      r.nodes[second] = statistics_alone(m);
    } else {
      f.in.insert(f.in.end(), {other, Use(), Use(), Use(), Use()});
    }
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

  // Can `norm` normalise what `second` would, a batch norm of training, and to the same bits? Where its running statistics have gaps it rounds otherwise.
  bool may_join(int second, int norm) const {
    const Node& m = g_.nodes[second];
    if (!is(m, "batch_norm_forward") || !attribute<bool>(m, "training") || !makes_temporary(g_, m.out[0], count_) || !same_look(m.in[0], m.out[0])) return false;
    for (size_t k = 0; k < 5; k++) {
      if (m.in[k].value < 0) continue;
      if (k > 0 && !(m.in[k].meta.strides == Dims{1})) return false;
      if (k < 3 && order_.replaced_at(m.in[k].value) <= norm) return false;
    }
    return true;
  }

  // The gradient of ReLU joins that of the batch norm in front of it, whose result is computed again to see where it is positive.
  bool take_relu_backward(int norm, Graph& r, std::vector<char>& keep) const {
    const Node& n = g_.nodes[norm];
    const int relu = attribute<bool>(n, "training") ? only_for(n.in[0], n.in[0]) : -1;
    if (relu < 0 || !is(g_.nodes[relu], "relu_backward")) return false;
    const Use &dy = g_.nodes[relu].in[0], &y = g_.nodes[relu].in[1];
    const int made = y.value < 0 ? -1 : g_.values[y.value].node;
    if (dy.value < 0 || !same_look(dy, n.in[0]) || made < 0 || !is_of(n, g_.nodes[made], y)) return false;
    const Use& bias = g_.nodes[made].in[2];
    if (!order_.may_run_at({relu, norm}, norm) || (bias.value >= 0 && order_.replaced_at(bias.value) <= norm)) return false;
    Node f = as_op("batch_norm_relu_backward", n);
    f.in = {dy, n.in[1], n.in[2], n.in[3], n.in[4], bias};
    r.nodes[norm] = std::move(f);
    keep[relu] = false;
    return true;
  }

  // A sum of gradients that comes through ReLU is made by the first batch norm whose gradient reads it.
  void take_sum(int norm, Graph& r, std::vector<char>& keep) const {
    const Node& n = g_.nodes[norm];
    const Use& d = n.in[0];
    const int relu = d.value < 0 ? -1 : g_.values[d.value].node;
    if (relu < 0 || !keep[relu] || !is(g_.nodes[relu], "relu_backward") || !makes_temporary(g_, g_.nodes[relu].out[0], count_)) return;
    const int add = only_for(g_.nodes[relu].in[0], d);
    if (add < 0 || !is_plain_sum(g_.nodes[add]) || !order_.may_run_at({add, relu, norm}, norm)) return;
    std::vector<Use> read = {g_.nodes[add].in[0], g_.nodes[add].in[1], g_.nodes[relu].in[1], n.in[1]};
    for (const Use& u : read)
      if (u.value < 0 || !same_look(u, n.out[0])) return;
    if (!same_place(g_.nodes[relu].out[0], d) || !same_look(d, n.out[0])) return;
    Node f = as_op("batch_norm_sum_relu_backward", n);
    if (int k = strided_one(read); k >= 0) {
      std::swap(read[k], read[1]);
      set_attribute(f, "step", without_gaps(read[1], r));
    }
    f.in = read;
    f.in.insert(f.in.end(), {n.in[2], n.in[3], n.in[4]});
    f.out.insert(f.out.begin(), g_.nodes[relu].out[0]);
    r.nodes[norm] = std::move(f);
    keep[relu] = keep[add] = false;
  }

  // The only node that reads `u`, at its place; -1 where there is none such or something changes it.
  int only_reader(const Use& u, std::string_view name, size_t input) const {
    const std::vector<int>& by = readers_[u.value];
    if (by.size() != 1 || by[0] < 0 || !makes_temporary(g_, u, count_)) return -1;
    const Node& n = g_.nodes[by[0]];
    return is(n, name) && n.in[input].value == u.value && same_place(n.in[input], u) ? by[0] : -1;
  }

  // Which of two gradients is that of a convolution by single places with strides, and read here alone, in channels-last memory: -1 for none.
  int strided_one(const std::vector<Use>& sum) const {
    for (int k : {0, 1}) {
      const int conv = only_for(sum[k], sum[k]);
      if (conv < 0 || !is(g_.nodes[conv], "convolution_input") || !makes_temporary(g_, g_.nodes[conv].out[0], count_)) continue;
      const Node& n = g_.nodes[conv];
      const Dims stride = attribute<Dims>(n, "stride"), &w = n.in[1].meta.sizes, &places = n.in[0].meta.sizes, &sizes = sum[k].meta.sizes;
      bool fits = w.n == 4 && n.in[2].value < 0 && stride.product() > 1 && attribute<Dims>(n, "padding") == Dims(2, 0) && is_channels_last(sizes, sum[k].meta.strides);
      for (int i = 0; fits && i < 2; i++) fits = w[i + 2] == 1 && places[i + 2] == (sizes[i + 2] - 1) / stride[i] + 1;
      if (fits) return k;
    }
    return -1;
  }
  // Makes of such a gradient, all of whose other places are 0, the places that the convolution saw. Gives how far they lie apart.
  Dims without_gaps(Use& u, Graph& r) const {
    Node& conv = r.nodes[g_.values[u.value].node];
    const Dims step = attribute<Dims>(conv, "stride");
    for (int i = 0; i < 2; i++) u.meta.sizes[i + 2] = conv.in[0].meta.sizes[i + 2];
    u.meta.strides = channels_last_strides(u.meta.sizes);
    r.buffers[g_.buffer_of(u)].bytes = size_t(u.meta.sizes.product()) * size_of(u.meta.dtype);
    conv.out[0] = u;
    set_attribute(conv, "stride", Dims(2, 1)), set_attribute(conv, "input_size", u.meta.sizes);
    return step;
  }

  // What the ops of batch norm, ReLU and max pool take: see batch_norm_pool.h.
  static bool pools(const Node& pool) {
    const Meta& x = pool.in[0].meta;
    const Dims kernel = attribute<Dims>(pool, "kernel_size");
    return x.sizes.n == 4 && x.sizes[1] >= 16 && (x.dtype == DType::float32 || is_reduced(x.dtype)) && kernel.product() <= 255 &&
           attribute<Dims>(pool, "dilation") == Dims(2, 1) && !attribute<bool>(pool, "ceil_mode");
  }
  // A max pool that alone reads what ReLU gave joins them, its gradient theirs, and what stood where in its windows takes a byte a number. For pictures that
  // lie channels last.
  void take_pool(int norm, Graph& r, std::vector<char>& keep) const {
    const Node& n = g_.nodes[norm];
    if (!attribute<bool>(n, "training") || n.in[5].value >= 0) return;
    const int pool = only_reader(n.out[0], "max_pool_nd", 0);
    if (pool < 0 || !makes_temporary(g_, g_.nodes[pool].out[0], count_)) return;
    const Node& m = g_.nodes[pool];
    const Use &pooled = m.out[0], &indices = m.out[1];
    const int back = only_reader(indices, "max_pool_backward", 1);
    if (back < 0) return;
    const int grad = only_reader(g_.nodes[back].out[0], "batch_norm_relu_backward", 0);
    if (grad < 0 || !is_of(g_.nodes[grad], n) || !order_.may_run_at({back, grad}, grad)) return;
    if (!pools(m)) return;
    const Use& dy = g_.nodes[back].in[0];
    for (const Use* u : {&n.in[0], &n.out[0], &pooled, &indices, &dy, &g_.nodes[grad].out[0]})
      if (u->value < 0 || !(u->meta.strides == channels_last_strides(u->meta.sizes))) return;
    if (dy.meta.dtype != pooled.meta.dtype || g_.nodes[grad].in[0].meta.dtype != pooled.meta.dtype) return;

    Use places = indices;
    places.meta.dtype = DType::uint8;
    r.buffers[g_.buffer_of(indices)].bytes = size_t(places.meta.sizes.product());
    Node f = as_op("batch_norm_relu_max_pool", n), b = as_op("batch_norm_relu_max_pool_backward", g_.nodes[grad]);
    take_attributes(f, m), take_attributes(b, m);
    f.in.resize(5);
    f.out[0] = pooled, f.out.insert(f.out.begin() + 1, places);
    b.in[0] = dy, b.in.insert(b.in.begin() + 1, places);
    r.nodes[norm] = std::move(f), r.nodes[grad] = std::move(b);
    keep[pool] = keep[back] = false;
  }

  // Does a batch norm that ends in ReLU make `y`, nothing added, and is `backward` its gradient? From its saved statistics it computes the same
  // bits again, unless others that it read have gaps: then it rounds otherwise.
  static bool is_of(const Node& backward, const Node& norm, const Use& y) {
    if (!is(norm, "batch_norm_relu") || !attribute<bool>(norm, "training") || norm.in[5].value >= 0) return false;
    if (!rounds_alike_again(norm)) return false;
    return same(y, norm.out[0]) && is_of(backward, norm);
  }
  static bool is_of(const Node& backward, const Node& norm) {
    return same(backward.in[1], norm.in[0]) && same(backward.in[2], norm.out[1]) && same(backward.in[3], norm.out[2]) &&
           same(backward.in[4], norm.in[1]);
  }
  static bool same(const Use& a, const Use& b) { return a.value == b.value && (a.value < 0 || same_place(a, b)); }
  static bool same_look(const Use& a, const Use& b) { return a.meta.dtype == b.meta.dtype && a.meta.sizes == b.meta.sizes && a.meta.strides == b.meta.strides; }

  const Graph& g_;
  const Grouping order_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> count_;
};

}  // namespace

bool rounds_alike_again(const Node& norm) {
  return std::all_of(norm.in.begin() + 3, norm.in.begin() + 5, [](const Use& u) { return u.value < 0 || u.meta.strides == Dims{1}; });
}
Node statistics_alone(const Node& norm) {
  Node n = as_op("batch_norm_statistics", norm);
  n.in = {norm.in[0], norm.in[3], norm.in[4]};
  n.out.erase(n.out.begin());
  return n;
}
Node applied_again(const Node& norm) {
  constexpr size_t kInputs = 10;  // with what is added, which batch_norm_forward has not
  Node n = as_op("batch_norm_apply", norm);
  n.in = {norm.in[0], norm.in[1], norm.in[2], norm.out[1], norm.out[2]};
  n.in.insert(n.in.end(), norm.in.begin() + 5, norm.in.end());
  n.in.resize(kInputs);
  n.out = {norm.out[0]}, n.hidden = 0;
  set_attribute(n, "relu", is(norm, "batch_norm_relu"));
  return n;
}

Graph with_batch_norm_relu(const Graph& g) { return BatchNorms(g).forward(); }
Graph with_batch_norm_relu_backward(const Graph& g) { return BatchNorms(g).backward(); }
Graph with_batch_norm_pool(const Graph& g) { return BatchNorms(g).pool(); }

}  // namespace weir::graph
