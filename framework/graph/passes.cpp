// What passes share.
#include "framework/graph/passes.h"

#include <numeric>

#include "framework/graph/members.h"
#include "framework/graph/spec.h"

namespace weir::graph {

std::vector<int> versions(const Graph& g) {
  std::vector<int> n(g.buffers.size());
  for (const Value& v : g.values) n[v.buffer]++;
  return n;
}

std::vector<std::vector<int>> readers_of(const Graph& g) {
  std::vector<std::vector<int>> readers(g.values.size());
  auto read = [&](const Use& u, int by) {
    if (u.value >= 0) readers[u.value].push_back(by);
  };
  for (size_t i = 0; i < g.nodes.size(); i++)
    for (const Use& u : g.nodes[i].in) read(u, int(i));
  for (const Use& u : g.results) read(u, -1);
  return readers;
}

bool same_place(const Use& a, const Use& b) {
  return a.meta.dtype == b.meta.dtype && a.meta.offset == b.meta.offset && a.meta.sizes == b.meta.sizes && a.meta.strides == b.meta.strides;
}

bool makes_temporary(const Graph& g, const Use& result, const std::vector<int>& versions) {
  const int b = result.value < 0 ? -1 : g.buffer_of(result);
  return b >= 0 && g.buffers[b].kind == Kind::temporary && versions[b] == 1 && covers(result, g.buffers[b].bytes);
}

bool is_constant(const Graph& g, const Use& u) { return u.value >= 0 && g.buffers[g.buffer_of(u)].kind == Kind::constant; }

Tensor constant_of(const Graph& g, const Use& u) {
  const StorageRef& s = g.buffers[g.buffer_of(u)].storage;
  return tensor_over(borrow_storage(s->data, s->bytes, [](void*) {}, nullptr), u);
}

Tensors symbolic_inputs(const Node& n) {
  Tensors in;
  for (const Use& u : n.in) in.push_back(u.value < 0 ? Tensor() : symbolic(u.meta));
  return in;
}

bool is(const Node& n, std::string_view name) { return n.type->signature->name == name; }

void take_attributes(Node& to, const Node& from) {
  const Signature &mine = *to.type->signature, &other = *from.type->signature;
  for (int i = 0; i < mine.n; i++)
    for (int j = 0; j < other.n; j++) {
      const Ty ty = mine.params[i].ty;
      if (mine.params[i].name != other.params[j].name || other.params[j].ty != ty) continue;
      visit_member(ty, from.op.data() + from.type->fields[j].offset, [&](const auto& value) {
        std::memcpy(to.op.data() + to.type->fields[i].offset, static_cast<const void*>(&value), sizeof value);
      });
    }
}
Node as_op(std::string_view name, const Node& n) {
  Node r = n;
  r.type = find_op(name), r.op = r.type->defaults;
  take_attributes(r, n);
  return r;
}

bool is_plain_sum(const Node& n) {
  if (!is(n, "add") || n.in.size() != 2) return false;
  const Scalar alpha = attribute<Scalar>(n, "alpha");
  return !alpha.is_complex() && alpha.to_double() == 1;
}

std::vector<char> shown_buffers(const Graph& g) {
  std::vector<char> shown(g.buffers.size());
  for (const Use& u : g.results)
    if (u.value >= 0) shown[g.buffer_of(u)] = true;
  return shown;
}

Graph rebuilt(const Graph& g, const std::vector<char>& keep, const std::vector<int>& stands_for) {
  Graph r;
  r.arguments = g.arguments;
  r.given = g.given;
  r.frozen = g.frozen;
  std::vector<int> buffers(g.buffers.size(), -1), values(g.values.size(), -1);
  auto buffer = [&](int b) {
    if (buffers[b] < 0) buffers[b] = int(r.buffers.size()), r.buffers.push_back(g.buffers[b]);
    return buffers[b];
  };
  auto initial = [&](int v) {
    values[v] = int(r.values.size());
    r.values.push_back({buffer(g.values[v].buffer), -1, -1});
  };
  auto read = [&](Use& u) {
    if (u.value < 0) return;
    int v = stands_for[u.value];
    if (values[v] < 0) initial(v);
    u.value = values[v];
  };
  std::vector<int> first(g.buffers.size(), -1);
  for (size_t v = 0; v < g.values.size(); v++) {
    if (g.values[v].node >= 0) continue;
    first[g.values[v].buffer] = int(v);
    if (g.buffers[g.values[v].buffer].kind == Kind::argument) initial(int(v));
  }
  for (size_t i = 0; i < g.nodes.size(); i++) {
    if (!keep[i]) continue;
    Node n = g.nodes[i];
    for (Use& u : n.in) read(u);
    for (Use& u : n.out) {
      const Value& v = g.values[u.value];
      int old = v.old;
      if (old >= 0 && values[old] < 0) initial(old);
      if (old < 0 && first[v.buffer] >= 0 && values[first[v.buffer]] < 0) initial(first[v.buffer]);
      values[u.value] = int(r.values.size());
      r.values.push_back({buffer(v.buffer), int(r.nodes.size()), old < 0 ? -1 : values[old]});
      u.value = values[u.value];
    }
    r.nodes.push_back(std::move(n));
  }
  for (Use u : g.results) {
    read(u);
    r.results.push_back(u);
  }
  return r;
}

Graph rebuilt(const Graph& g, const std::vector<char>& keep) {
  std::vector<int> same(g.values.size());
  std::iota(same.begin(), same.end(), 0);
  return rebuilt(g, keep, same);
}

Graph optimized(const Graph& g, const Options& options) {
  Graph r = g;
  auto apply = [&](auto&& pass) {
    r = pass(r);
    check_if_asked(r);
  };
  if (options.freeze_weights) apply(with_weights_frozen);
  for (auto pass : {with_buffers_apart, without_dead_code}) apply(pass);
  apply([&](const Graph& h) { return with_constants_folded(h, options.freeze_weights); });
  if (options.freeze_weights) apply(with_channels_last);
  for (auto pass : {without_repetition, without_copies, without_dead_code}) apply(pass);
  if (options.freeze_weights) apply([&](const Graph& h) { return with_weights_packed(h, options.add_to_output); });
  apply(with_layouts_agreed);
  if (options.add_to_output) apply(with_batch_norm_relu), apply(with_batch_norm_relu_backward), apply(with_batch_norm_pool);
  if (options.add_to_output) apply(with_gradients_summed);
  apply(with_gradients_together);
  if (options.add_to_output) apply(with_gradients_between);
  if (options.cast_scale) apply(with_pointwise_fused);
  if (options.cast_scale) apply(with_narrow_gradients);
  apply(with_updates_early);
  constexpr size_t kLittleMemory = 256 << 20;
  constexpr double kLittleTime = 0.036;  // of passes over memory: products, and convolutions, take their time besides
  if (options.memory_budget < std::numeric_limits<size_t>::max()) apply([&](const Graph& h) { return with_recomputation(h, options.memory_budget); });
  else if (options.saves_memory) apply([&](const Graph& h) { return with_recomputation(h, kLittleMemory, kLittleTime); });
  if (options.add_to_output)  // which leaves no batch norm to compute again from its statistics
    apply(with_convolutions_summed), apply(with_normalisation_convolved), apply(with_relu_bits);
  if (options.cast_scale) apply([&](const Graph& h) { return with_row_blocks(h, options.row_blocks); });
  return r;
}

}  // namespace weir::graph
