// Between a convolution of single places and batch norm's sums over what it makes nothing needs to go through memory.
#include "framework/graph/batch_norm.h"
#include "framework/graph/grouping.h"
#include "framework/graph/passes.h"
#include "framework/op/joining.h"

namespace weir::graph {
namespace {

class Convolutions {
 public:
  explicit Convolutions(const Graph& g) : g_(g), order_(g), count_(versions(g)), made_(g), keep_(g.nodes.size(), true) {}

  Graph forward() {
    for (size_t i = 0; i < g_.nodes.size(); i++) take_statistics(int(i));
    return rebuilt(made_, keep_);
  }
  Graph backward() {
    for (size_t i = 0; i < g_.nodes.size(); i++) take_gradient(int(i));
    return rebuilt(made_, keep_);
  }
  Graph forward_ahead() {
    for (size_t i = 0; i < g_.nodes.size(); i++) take_normalisation(int(i));
    return rebuilt(made_, keep_);
  }
  Graph bits() {
    for (size_t i = 0; i < g_.nodes.size(); i++) take_bits(int(i));
    put_in();
    return rebuilt(made_, keep_);
  }
  Graph between() {
    for (size_t i = 0; i < g_.nodes.size(); i++) take_gradients(int(i));
    return rebuilt(made_, keep_);
  }

 private:
  // Of one stride and group, by a kernel of single places, without bias; -1 if what makes `u` is none, or no longer one, or somebody changes it.
  int convolution(const Use& u, std::string_view name) const {
    const int conv = u.value < 0 ? -1 : g_.values[u.value].node;
    if (conv < 0 || !keep_[conv] || !is(made_.nodes[conv], name)) return -1;
    const Node& n = g_.nodes[conv];
    const Dims& w = n.in[1].meta.sizes;
    bool fits = same_place(n.out[0], u) && makes_temporary(g_, u, count_) && n.in[2].value < 0 && attribute<int64_t>(n, "groups") == 1;
    for (int i = 2; fits && i < w.n; i++) fits = w[i] == 1 && attribute<Dims>(n, "stride")[i - 2] == 1 && attribute<Dims>(n, "padding")[i - 2] == 0;
    return fits ? conv : -1;
  }
  static bool gains(const Node& n) {
    const auto found = joined_ops().find(n.type);
    return found != joined_ops().end() && found->second(n.op.data(), symbolic_inputs(n));
  }

  // In training batch norm's statistics are summed while the convolution makes what they are of.
  void take_statistics(int norm) {
    const Node& n = g_.nodes[norm];
    const bool alone = is(n, "batch_norm_statistics");
    if (!alone && !sums_itself(n)) return;
    const int conv = convolution(n.in[0], "convolution");
    if (conv < 0) return;
    const size_t running = alone ? 1 : 3, saved = alone ? 0 : 1;  // places of the first of two inputs, or outputs
    for (size_t k = running; k < running + 2; k++) {
      const int value = n.in[k].value;
      if (value < 0) continue;
      const std::vector<int>& seen = order_.readers(value);  // they are moved where the convolution stands
      if (g_.values[value].node >= conv || std::any_of(seen.begin(), seen.end(), [&](int i) { return i != norm; })) return;
    }
    Node f = as_op("convolution_batch_norm_statistics", n);
    f.in = {g_.nodes[conv].in[0], g_.nodes[conv].in[1], n.in[running], n.in[running + 1]};
    f.out.assign(n.out.begin() + saved, n.out.end());
    f.out.insert(f.out.begin(), g_.nodes[conv].out[0]);
    if (!gains(f)) return;
    if (alone) keep_[norm] = false;
    else made_.nodes[norm] = applied_again(n);
    made_.nodes[conv] = std::move(f);
  }

  // What is normalised is convolved by the node that alone, or first, reads it.
  void take_normalisation(int conv) {
    const Node& n = g_.nodes[conv];
    if (!is(n, "convolution_batch_norm_statistics")) return;
    const int value = n.in[0].value, norm = value < 0 ? -1 : g_.values[value].node;
    if (norm < 0 || !keep_[norm] || !makes_temporary(g_, n.in[0], count_)) return;
    const Node& m = g_.nodes[norm];
    const bool whole = sums_itself(m);
    if ((!whole && !is_relu(m)) || !same_place(m.out[0], n.in[0])) return;
    const std::vector<int>& readers = order_.readers(value);
    if (std::any_of(readers.begin(), readers.end(), [&](int i) { return i < conv; })) return;
    Node f = as_op("batch_norm_convolution_statistics", n);
    f.in = whole ? applied_again(m).in : m.in;
    for (const Use& u : f.in)
      if (u.value >= 0 && order_.replaced_at(u.value) <= conv) return;
    f.in.insert(f.in.end(), n.in.begin() + 1, n.in.end());
    f.out.insert(f.out.begin(), {n.in[0], bits_of(n.in[0].meta, conv)});
    if (!gains(f)) return;
    if (whole) made_.nodes[norm] = statistics_alone(m);
    else keep_[norm] = false;
    made_.nodes[conv] = std::move(f);
  }
  // Is it a batch norm of training, whose normalisation gives the same bits from the statistics that it saves?
  static bool sums_itself(const Node& n) {
    return is(n, "batch_norm_relu") && attribute<bool>(n, "training") && rounds_alike_again(n);
  }
  static bool is_relu(const Node& n) { return is(n, "batch_norm_apply") && attribute<bool>(n, "relu"); }
  // A new value for the bits of what looks so, of which `node` is the maker.
  Use bits_of(const Meta& meta, int node) {
    Use u;
    u.meta = Meta(Dims{(meta.sizes.product() + 7) / 8}, Dims{1}, DType::uint8, meta.device);
    u.value = int(made_.values.size());
    made_.values.push_back({int(made_.buffers.size()), node, -1});
    made_.buffers.push_back({Kind::temporary, size_t(u.meta.sizes[0]), meta.device, {}, -1});
    return u;
  }

  // The gradient reads bits in the place of what came out of ReLU, where that is more than a cache holds.
  void take_bits(int sums) {
    constexpr int64_t kMuch = 1 << 20;  // numbers
    const Node& n = g_.nodes[sums];
    const bool convolves = is(n, "convolution_sum_relu_batch_norm_sums") || is(n, "convolution_sum_relu_batch_norm_backward");
    if (!convolves && !is(n, "batch_norm_sum_relu_backward")) return;
    const size_t k = convolves ? 3 : 2;
    const Use& y = n.in[k];
    const int maker = y.value < 0 || y.meta.dtype == DType::uint8 ? -1 : g_.values[y.value].node;
    if (maker < 0 || !same_place(y, g_.nodes[maker].out[0]) || !makes_temporary(g_, y, count_)) return;
    Node& m = made_.nodes[maker];
    if (sums_itself(m) && y.meta.sizes.product() >= kMuch) {
      before_.push_back({maker, statistics_alone(m)});
      m = applied_again(m);
    }
    if (is_relu(m)) {
      m = as_op("batch_norm_apply_positive", m);
      m.out.push_back(bits_of(y.meta, maker));
    }
    if (is(m, "batch_norm_apply_positive") || is(m, "batch_norm_convolution_statistics")) made_.nodes[sums].in[k] = m.out[1];
  }
  // Puts the nodes of before_ where they belong.
  void put_in() {
    std::sort(before_.begin(), before_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [at, node] : before_) {
      made_.nodes.insert(made_.nodes.begin() + at, std::move(node));
      keep_.insert(keep_.begin() + at, true);
    }
    for (size_t i = 0; i < made_.nodes.size(); i++)
      for (const Use& u : made_.nodes[i].out) made_.values[u.value].node = int(i);
  }

  // A gradient that goes into a sum, of which a batch norm's is taken, is made where that sums it.
  void take_gradient(int norm) {
    const Node& n = g_.nodes[norm];
    if (!is(n, "batch_norm_sum_relu_backward")) return;
    const bool stepped = attribute<Dims>(n, "step").product() > 1;
    for (size_t k : {0, 1}) {
      const int conv = stepped && k == 1 ? -1 : convolution(n.in[k], "convolution_input");
      if (conv < 0 || order_.readers(n.in[k].value).size() != 1 || !order_.may_run_at({conv, norm}, norm)) continue;
      Node f = as_op("convolution_sum_relu_batch_norm_backward", n);
      f.in = {g_.nodes[conv].in[0], g_.nodes[conv].in[1], n.in[1 - k]};
      f.in.insert(f.in.end(), n.in.begin() + 2, n.in.end());
      if (!gains(f)) continue;
      made_.nodes[norm] = std::move(f);
      keep_[conv] = false;
      return;
    }
  }

  // The gradient of batch norm's input is made where both gradients of the convolution in front of it read it.
  void take_gradients(int both) {
    const Node& n = g_.nodes[both];
    if (!is(n, "convolution_gradients") || n.in[1].value < 0) return;
    const int value = n.in[1].value, norm = g_.values[value].node;
    if (norm < 0 || !is(g_.nodes[norm], "convolution_sum_relu_batch_norm_backward") || !attribute<bool>(g_.nodes[norm], "training")) return;
    const Node& m = g_.nodes[norm];
    const Use &sum = m.out[0], &dx = m.out[1], &x = m.in[4];
    if (dx.value != value || !same_place(dx, n.in[1]) || !makes_temporary(g_, dx, count_) || order_.readers(value) != std::vector<int>{both}) return;
    if (order_.replaced_at(sum.value) <= both || order_.replaced_at(x.value) <= both) return;
    Use coefficients = dx;
    coefficients.meta = Meta(Dims{3, dx.meta.sizes[1]}, Dims{dx.meta.sizes[1], 1}, DType::float64, dx.meta.device);
    Node sums = as_op("convolution_sum_relu_batch_norm_sums", m), f = as_op("batch_norm_convolution_gradients", n);
    f.in = {n.in[0], sum, x, coefficients, n.in[2]};
    sums.out[1] = coefficients;
    if (!gains(f)) return;
    made_.buffers[g_.buffer_of(dx)].bytes = size_t(coefficients.meta.sizes.product()) * sizeof(double);
    made_.nodes[norm] = std::move(sums), made_.nodes[both] = std::move(f);
  }

  const Graph& g_;
  const Grouping order_;
  std::vector<int> count_;
  Graph made_;
  std::vector<std::pair<int, Node>> before_;  // new nodes, and in front of which ones
  std::vector<char> keep_;
};

}  // namespace

Graph with_convolutions_summed(const Graph& g) { return Convolutions(g).forward(); }
Graph with_normalisation_convolved(const Graph& g) { return Convolutions(g).forward_ahead(); }
Graph with_relu_bits(const Graph& g) { return Convolutions(g).bits(); }
Graph with_gradients_summed(const Graph& g) { return Convolutions(g).backward(); }
Graph with_gradients_between(const Graph& g) { return Convolutions(g).between(); }

}  // namespace weir::graph
