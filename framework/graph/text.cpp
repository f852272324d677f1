#include "framework/graph/text.h"

#include "framework/graph/text_attributes.h"
#include "framework/op/fused.h"
#include "framework/op/row_blocks.h"

namespace weir::graph {
namespace {

std::string numbers(const Dims& d) {
  std::string r = "[";
  for (int i = 0; i < d.n; i++) r += (i ? ", " : "") + std::to_string(d[i]);
  return r + "]";
}
std::string geometry(const Meta& m, uint32_t flags) {
  return str("[", quoted(std::string(name_of(m.dtype))), ", ", numbers(m.sizes), ", ", numbers(m.strides), ", ", m.offset, ", ", flags, "]");
}
std::string geometries(const std::vector<Use>& uses) {
  std::string r = "[";
  for (size_t i = 0; i < uses.size(); i++) {
    const Use& u = uses[i];
    r += (i ? ", " : "") + (u.value < 0 && !u.blank ? "[]" : geometry(u.meta, u.flags | (u.blank ? kBlank : 0)));
  }
  return r + "]";
}

class Writer {
 public:
  explicit Writer(const Graph& g) : g_(g), values_(g.values.size(), -1), buffers_(numbers_in_text(g)) {
    int n = 0;
    for (size_t v = 0; v < g.values.size(); v++)
      if (g.values[v].node < 0) values_[v] = n++;
    for (const Node& node : g.nodes)
      for (const Use& u : node.out) values_[u.value] = n++;
  }

  std::string run() {
    out_ = "\"builtin.module\"() ({\n  \"weir.graph\"() ({\n";
    for (size_t v = 0; v < g_.values.size(); v++)
      if (g_.values[v].node < 0) memory(int(v));
    for (const Node& n : g_.nodes) node(n);
    std::vector<int> operands;
    for (const Use& u : g_.results)
      if (u.value >= 0) operands.push_back(u.value);
    line({}, "return", operands, "reads = " + geometries(g_.results), {});
    std::string arguments, given;
    for (const Argument& a : g_.arguments)
      arguments += str(arguments.empty() ? "" : ", ", "[", a.first, ", ", a.base, ", ", a.lead, ", ", a.bytes, "]");
    for (const Meta& m : g_.given) given += (given.empty() ? "" : ", ") + geometry(m, 0);
    return out_ + "  }) {arguments = [" + arguments + "], given = [" + given + "]} : () -> ()\n}) {weir.format = " + std::to_string(kFormat) +
           " : i64} : () -> ()\n";
  }

 private:
  void memory(int v) {
    int b = g_.values[v].buffer;
    const Buffer& buffer = g_.buffers[b];
    std::string attributes = str("buffer = ", buffers_[b], ", kind = \"", kKinds[int(buffer.kind)], "\", ");
    attributes += buffer.kind == Kind::argument ? str("argument = ", buffer.argument) : "name = " + quoted(name_in_text(buffers_[b]));
    line({v}, "memory", {}, attributes, {});
  }

  void node(const Node& n) {
    check(n.type != &op_type<Fused>() && n.type != &op_type<RowBlocks>(), "a graph with fused nodes has no text: write it as it was traced");
    std::vector<int> results, operands;
    std::string buffers, over;
    for (const Use& u : n.in)
      if (u.value >= 0) operands.push_back(u.value);
    for (const Use& u : n.out) {
      results.push_back(u.value);
      const Value& v = g_.values[u.value];
      if (v.old >= 0) operands.push_back(v.old);
      buffers += str(buffers.empty() ? "" : ", ", buffers_[v.buffer]);
      over += str(over.empty() ? "" : ", ", v.old >= 0 ? "true" : "false");
    }
    std::string name(n.type->signature->name);
    if (!n.type->signature->overload.empty()) name += "." + std::string(n.type->signature->overload);
    line(results, name, operands, "attributes = {" + written_attributes(*n.type, n.op.data()) + "}, buffers = [" + buffers + "], over = [" + over +
         "], reads = " + geometries(n.in) + ", writes = " + geometries(n.out), n.place);
  }

  std::string type(int v) const { return str("tensor<", g_.buffers[g_.values[v].buffer].bytes, "xi8>"); }

  void line(const std::vector<int>& results, const std::string& name, const std::vector<int>& operands, const std::string& attributes, const Place& place) {
    auto list = [&](const std::vector<int>& values, auto&& text) {
      std::string r;
      for (int v : values) r += (r.empty() ? "" : ", ") + text(v);
      return r;
    };
    auto number = [&](int v) { return "%" + std::to_string(values_[v]); };
    auto type_of = [&](int v) { return type(v); };
    out_ += "    " + list(results, number) + (results.empty() ? "" : " = ") + "\"weir." + name + "\"(" + list(operands, number) + ") {" + attributes +
            "} : (" + list(operands, type_of) + ") -> " + (results.size() == 1 ? type(results[0]) : "(" + list(results, type_of) + ")");
    if (place.file) out_ += " loc(" + quoted(*place.file) + ":" + std::to_string(place.line) + ":1)";
    out_ += "\n";
  }

  const Graph& g_;
  std::vector<int> values_, buffers_;  // their numbers in the text
  std::string out_;
};

}  // namespace

std::vector<int> numbers_in_text(const Graph& g) {
  std::vector<int> numbers(g.buffers.size(), -1);
  int n = 0;
  auto see = [&](int v) {
    int& number = numbers[g.values[v].buffer];
    if (number < 0) number = n++;
  };
  for (size_t v = 0; v < g.values.size(); v++)
    if (g.values[v].node < 0) see(int(v));
  for (const Node& node : g.nodes)
    for (const Use& u : node.out) see(u.value);
  return numbers;
}

std::string name_in_text(int number) { return "buffer." + std::to_string(number); }

std::string to_mlir(const Graph& g) { return Writer(g).run(); }

}  // namespace weir::graph
