#include "framework/graph/spec.h"

#include <cstdlib>

namespace weir::graph {
namespace {

class Checker {
 public:
  explicit Checker(const Graph& g) : g_(g), current_(g.buffers.size(), -1), made_(g.values.size(), false) {}

  void run() {
    start();
    for (size_t i = 0; i < g_.nodes.size(); i++) visit(int(i));
    for (size_t i = 0; i < g_.results.size(); i++) read(g_.results[i], str("result ", i));
    for (size_t v = 0; v < made_.size(); v++) check(made_[v], "illegal graph: nothing makes value ", v);
  }

 private:
  void start() {
    for (size_t v = 0; v < g_.values.size(); v++) {
      const Value& value = g_.values[v];
      check(value.buffer >= 0 && value.buffer < int(g_.buffers.size()), "illegal graph: value ", v, " has no buffer");
      if (value.node >= 0) continue;
      check(current_[value.buffer] < 0 && value.old < 0, "illegal graph: buffer ", value.buffer, " starts with two values");
      check(g_.buffers[value.buffer].kind != Kind::temporary, "illegal graph: temporary buffer ", value.buffer, " has a value before the start");
      current_[value.buffer] = int(v);
      made_[v] = true;
    }
    for (size_t b = 0; b < g_.buffers.size(); b++)
      check(g_.buffers[b].kind == Kind::temporary || current_[b] >= 0, "illegal graph: buffer ", b, " starts without a value");
  }

  void visit(int i) {
    const Node& n = g_.nodes[i];
    check(n.type, "illegal graph: node ", i, " has no op");
    std::string name = str("node ", i, " (", n.type->signature->name, ")");
    check(n.op.size() == n.type->size, "illegal graph: ", name, " has a struct of another size");
    check(!n.out.empty() && n.type->kernels[int(g_.buffers[g_.buffer_of(n.out[0])].device.type)], "illegal graph: ", name, " has no kernel");
    for (Use u : n.in) {
      check(!u.blank || u.value == -1, "illegal graph: ", name, " has a blank input with a value");
      if (u.blank) u.value = n.out[0].value, within(u, name);
      else if (u.value != -1) read(u, name);
    }
    for (const Use& u : n.out)
      if (u.value != -1) write(u, i, name);
  }

  void read(const Use& u, const std::string& name) {
    within(u, name);
    check(made_[u.value], "illegal graph: ", name, " reads value ", u.value, " before it is made");
    check(current_[g_.buffer_of(u)] == u.value, "illegal graph: ", name, " reads value ", u.value, ", which a later one has replaced");
  }

  void write(const Use& u, int node, const std::string& name) {
    within(u, name);
    const Value& v = g_.values[u.value];
    int& now = current_[v.buffer];
    check(v.node == node && !made_[u.value], "illegal graph: ", name, " makes value ", u.value, ", which is another's");
    check(g_.buffers[v.buffer].kind != Kind::constant, "illegal graph: ", name, " writes a constant");
    bool whole = covers(u, g_.buffers[v.buffer].bytes);
    check(v.old == now || (v.old < 0 && whole) , "illegal graph: ", name, " changes value ", v.old, ", but its buffer holds ", now);
    made_[u.value] = true;
    now = u.value;
  }

  void within(const Use& u, const std::string& name) {
    check(u.value >= 0 && u.value < int(g_.values.size()), "illegal graph: ", name, " names value ", u.value, ", which is none");
    const Meta& m = u.meta;
    if (m.sizes.product() == 0) return;
    Extent e = extent(m.sizes, m.strides);
    int64_t size = int64_t(size_of(m.dtype));
    check(m.offset + e.low >= 0 && (m.offset + e.high + 1) * size <= int64_t(g_.buffers[g_.buffer_of(u)].bytes), "illegal graph: ", name,
          " reaches beyond buffer ", g_.buffer_of(u), " of ", g_.buffers[g_.buffer_of(u)].bytes, " bytes with sizes ", m.sizes, ", strides ", m.strides);
  }

  const Graph& g_;
  std::vector<int> current_;
  std::vector<char> made_;
};

}  // namespace

void check_legal(const Graph& g) { Checker(g).run(); }

void check_if_asked(const Graph& g) {
  static const bool asked = [] {
    const char* v = std::getenv("WEIR_CHECK_GRAPH");
    return v && *v && std::string_view(v) != "0";
  }();
  if (asked) check_legal(g);
}

}  // namespace weir::graph
