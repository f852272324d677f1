#include "framework/graph/split.h"

#include <algorithm>

#include "framework/graph/spec.h"

namespace weir::graph {
namespace {

// One half, filled node by node; what it meets for the first time it takes over from the whole.
class Half {
 public:
  explicit Half(const Graph& whole) : whole_(whole), buffers_(whole.buffers.size(), -1), values_(whole.values.size(), -1) {}

  void add(const Node& n) {
    Node copy = n;
    for (Use& u : copy.in) take(u);
    for (Use& u : copy.out) make(u);
    g.nodes.push_back(std::move(copy));
  }
  void result(Use u) {
    take(u);
    g.results.push_back(u);
  }
  int buffer(int b) {
    if (buffers_[b] < 0) {
      buffers_[b] = int(g.buffers.size());
      g.buffers.push_back(whole_.buffers[b]);
    }
    return buffers_[b];
  }
  bool has(int b) const { return buffers_[b] >= 0; }

  Graph g;

 private:
  // A value made earlier; one that is not of this half was there before it starts.
  void take(Use& u) {
    if (u.value < 0) return;
    int& v = values_[u.value];
    if (v < 0) {
      v = int(g.values.size());
      g.values.push_back({buffer(whole_.values[u.value].buffer), -1, -1});
    }
    u.value = v;
  }
  void make(Use& u) {
    const Value& old = whole_.values[u.value];
    int before = -1;
    if (old.old >= 0) {
      Use earlier;
      earlier.value = old.old;
      take(earlier);
      before = earlier.value;
    } else if (whole_.buffers[old.buffer].kind != Kind::temporary && !has(old.buffer)) {
      g.values.push_back({buffer(old.buffer), -1, -1});  // an external that is written whole, before anybody reads it
    }
    int b = buffer(old.buffer);
    values_[u.value] = int(g.values.size());
    g.values.push_back({b, int(g.nodes.size()), before});
    u.value = values_[u.value];
  }

  const Graph& whole_;
  std::vector<int> buffers_, values_;
};

// Arguments that a half does not touch are left out; the others keep the positions they have.
void renumber_arguments(Graph& g, const std::vector<Argument>& of) {
  g.arguments.clear();
  for (Buffer& b : g.buffers)
    if (b.kind == Kind::argument) {
      g.arguments.push_back(of[b.argument]);
      b.argument = int(g.arguments.size()) - 1;
    }
}

}  // namespace

Halves split(const Graph& g, int at, int num_results, int num_arguments) {
  Halves h;
  Half forward(g), backward(g);
  for (int i = 0; i < at; i++) forward.add(g.nodes[i]);
  for (int i = 0; i < num_results; i++) forward.result(g.results[i]);
  for (size_t i = at; i < g.nodes.size(); i++) backward.add(g.nodes[i]);
  for (size_t i = num_results; i < g.results.size(); i++) backward.result(g.results[i]);

  std::vector<int> now(g.buffers.size(), -1);  // the value of each buffer between the halves
  for (size_t v = 0; v < g.values.size(); v++)
    if (g.values[v].node < at && (now[g.values[v].buffer] < 0 || g.values[v].node > g.values[now[g.values[v].buffer]].node)) now[g.values[v].buffer] = int(v);

  std::vector<Argument> arguments = g.arguments;
  std::vector<int> late;
  for (size_t b = 0; b < g.buffers.size(); b++) {
    if (!backward.has(int(b))) continue;
    const Buffer& buffer = g.buffers[b];
    Buffer& there = backward.g.buffers[backward.buffer(int(b))];
    if (buffer.kind == Kind::external) h.externals.push_back(buffer.storage);
    else if (buffer.kind == Kind::argument && arguments[buffer.argument].first < num_arguments) h.arguments.push_back(arguments[buffer.argument].first);
    else if (buffer.kind == Kind::argument) late.push_back(buffer.argument);
    else if (buffer.kind == Kind::temporary && now[b] >= 0) {
      Use bytes;
      bytes.value = now[b];
      bytes.meta = Meta(Dims{int64_t(buffer.bytes)}, Dims{1}, DType::uint8, buffer.device);
      forward.result(bytes);
      there.kind = Kind::argument;
      there.argument = int(arguments.size());
      arguments.push_back({num_arguments + h.num_saved++, 0, 0, buffer.bytes});
    }
  }
  for (int a : late) arguments[a].first += h.num_saved;
  forward.g.given = g.given;
  renumber_arguments(forward.g, arguments);
  renumber_arguments(backward.g, arguments);
  h.forward = std::move(forward.g);
  h.backward = std::move(backward.g);
  check(h.backward.written().empty(), "the backward pass writes into memory of the forward pass");
  check_if_asked(h.forward);
  check_if_asked(h.backward);
  return h;
}

}  // namespace weir::graph
