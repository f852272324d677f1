// Op attributes as text.
#include <cstring>

#include "framework/graph/graph.h"
#include "framework/graph/members.h"
#include "framework/op/fused.h"
#include "framework/op/row_blocks.h"

namespace weir::graph {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  std::string r(text);
  return r.find_first_of(".en") == r.npos ? r + ".0" : r;
}
std::string shown(int64_t x) { return std::to_string(x); }
std::string shown(double x) { return number(x); }
std::string shown(bool x) { return x ? "True" : "False"; }
std::string shown(const Scalar& s) {
  if (s.kind == Scalar::Kind::boolean) return shown(s.i != 0);
  if (s.kind == Scalar::Kind::integer) return shown(s.i);
  if (s.is_real()) return shown(s.d);
  return str("complex(", number(s.to_complex().real()), ", ", number(s.to_complex().imag()), ")");
}
std::string shown(const Dims& d) {
  std::string r = "[";
  for (int i = 0; i < d.n; i++) r += (i ? ", " : "") + std::to_string(d[i]);
  return r + "]";
}
std::string shown(const Floats& f) {
  std::string r = "[";
  for (int i = 0; i < f.n; i++) r += (i ? ", " : "") + number(f[i]);
  return r + "]";
}
std::string shown(const Str& s) { return "'" + std::string(s.view()) + "'"; }
std::string shown(DType t) { return std::string(name_of(t)); }
std::string shown(const Device& d) { return std::string(name_of(d.type)); }
std::string shown(MemoryFormat f) {
  constexpr const char* names[] = {"contiguous", "preserve", "channels_last", "channels_last_3d"};
  return names[int(f)];
}
template <class T> std::string shown(const std::optional<T>& x) { return x ? shown(*x) : "None"; }

std::string type_text(const Meta& m) {
  std::string r(name_of(m.dtype));
  r += shown(m.sizes);
  Dims dense = contiguous_strides(m.sizes);
  if (!same_layout(m.sizes, m.strides, dense)) r += " strides " + shown(m.strides);
  if (m.offset) r += str(" offset ", m.offset);
  return r;
}

template <class Steps> std::string names_of(const Steps& steps) {
  std::string r;
  for (const auto& s : steps) {
    const std::string inner = attributes_of(*s.type, s.op.data());
    r += (r.empty() ? "" : ", ") + std::string(s.type->signature->name) + (inner.starts_with("ops=") ? inner.substr(4) : "");
  }
  return "ops=[" + r + "]";
}

}  // namespace

std::string attributes_of(const OpType& type, const void* op) {
  if (&type == &op_type<Fused>()) return names_of(static_cast<const Fused*>(op)->program->steps);
  if (&type == &op_type<RowBlocks>()) return names_of(static_cast<const RowBlocks*>(op)->program->steps);
  std::string r;
  const Signature& s = *type.signature;
  for (int i = 0; i < s.n; i++) {
    if (is_input(s.params[i].ty)) continue;
    visit_member(type.fields[i].ty, static_cast<const std::byte*>(op) + type.fields[i].offset, [&](const auto& member) {
      r += (r.empty() ? "" : ", ") + std::string(s.params[i].name) + "=" + shown(member);
    });
  }
  return r;
}

std::string to_string(const Graph& g) {
  std::string r;
  auto use = [&](const Use& u) { return u.value < 0 ? std::string("None") : str("%", u.value, ": ", type_text(u.meta)); };
  for (size_t b = 0; b < g.buffers.size(); b++) {
    constexpr const char* kinds[] = {"temporary", "argument", "external", "constant"};
    if (g.buffers[b].kind == Kind::temporary) continue;
    for (size_t v = 0; v < g.values.size(); v++)
      if (g.values[v].buffer == int(b) && g.values[v].node < 0) r += str("%", v, " = ", kinds[int(g.buffers[b].kind)], " of ", g.buffers[b].bytes, " bytes\n");
  }
  for (const Node& n : g.nodes) {
    for (size_t i = 0; i < n.out.size(); i++) {
      r += (i ? ", " : "") + use(n.out[i]);
      if (int old = g.values[n.out[i].value].old; old >= 0) r += str(" over %", old);
    }
    r += str(" = ", n.type->signature->name, "(");
    for (size_t i = 0; i < n.in.size(); i++) r += (i ? ", " : "") + use(n.in[i]);
    std::string attributes = attributes_of(*n.type, n.op.data());
    if (!attributes.empty()) r += "; " + attributes;
    r += ")";
    if (n.place.file) r += "  # " + to_string(n.place);
    r += "\n";
  }
  r += "return";
  for (const Use& u : g.results) r += " " + use(u);
  return r + "\n";
}

}  // namespace weir::graph
