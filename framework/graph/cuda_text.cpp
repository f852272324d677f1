#include "framework/graph/cuda_text.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "framework/graph/members.h"
#include "framework/graph/passes.h"
#include "framework/graph/text_attributes.h"

namespace weir::graph {
namespace {

std::string spelled(int64_t x) {
  return x == INT64_MIN ? "(-9223372036854775807LL - 1)" : str(x, "LL");  // the least one has no literal of its own
}
std::string spelled(double x) {
  char text[40];
  if (std::isfinite(x)) std::snprintf(text, sizeof text, "%a", x);
  else std::snprintf(text, sizeof text, "__longlong_as_double(0x%llxLL)", std::bit_cast<unsigned long long>(x));
  return text;
}
std::string spelled(bool x) { return x ? "true" : "false"; }
std::string spelled(const Str& x) { return "{" + quoted(std::string(x.view())) + "}"; }
std::string spelled(const Scalar& x) {
  check<NotImplemented>(!x.is_complex(), "a complex number has no CUDA form");
  return x.is_real() ? str("{Scalar::Kind::real, {.d = ", spelled(x.d), "}}")
                     : str("{Scalar::Kind::", x.kind == Scalar::Kind::boolean ? "boolean" : "integer", ", {.i = ", spelled(x.i), "}}");
}
template <class T> std::string spelled(const T&) { throw NotImplemented("an attribute of this type has no CUDA form"); }
template <class T> std::string spelled(const std::optional<T>& x) { return x ? str("{", spelled(*x), ", true}") : "{}"; }

// The op's struct, member by member.
std::string struct_of(const FusedStep& s) {
  const Signature& signature = *s.type->signature;
  std::string type = str("op_", signature.name, signature.overload.empty() ? "" : "_", signature.overload), members;
  for (int i = 0; i < signature.n; i++)
    if (!is_input(signature.params[i].ty))
      visit_member(s.type->fields[i].ty, s.op.data() + s.type->fields[i].offset, [&](const auto& member) {
        members += (members.empty() ? "" : ", ") + spelled(member);
      });
  return type + "{" + members + "}";
}

// A step's result, of the variables v0, v1, ... that hold the operands.
std::string value_of(const FusedProgram& p, const FusedStep& s) {
  if (!s.loop) return str("v", s.in[0]);
  std::string r = str("formulas::formula(", struct_of(s));
  for (int o : s.in) {
    check<NotImplemented>(o >= 0, s.type->signature->name, ": has no CUDA form without an optional input");
    r += str(", ", cuda_type(s.tile), "(v", o, ")");
  }
  return r += ")";
}

}  // namespace

const char* cuda_type(DType t) {
  switch (t) {
    case DType::boolean: return "bool";
    case DType::uint8: return "uint8_t";
    case DType::int8: return "signed char";
    case DType::int16: return "short";
    case DType::int32: return "int";
    case DType::int64: return "int64_t";
    case DType::float16: return "Half";
    case DType::bfloat16: return "BFloat16";
    case DType::float32: return "float";
    case DType::float64: return "double";
    default: throw NotImplemented(str("a group of ", name_of(t), " has no CUDA form"));
  }
}

std::string cuda_number(const Scalar& x) {
  check<NotImplemented>(!x.is_complex(), "a complex number has no CUDA form");
  return x.is_real() ? spelled(x.d) : spelled(x.i);
}

std::string cuda_place(std::vector<CudaAxis> axes, const std::string& at, int64_t count) {
  std::erase_if(axes, [](const CudaAxis& a) { return a.size == 1; });
  std::sort(axes.begin(), axes.end(), [](const CudaAxis& a, const CudaAxis& b) { return a.inner < b.inner; });
  std::vector<CudaAxis> merged;  // neighbours that one step passes through
  for (const CudaAxis& a : axes) {
    if (!merged.empty() && merged.back().step * merged.back().size == a.step) merged.back().size *= a.size;
    else merged.push_back(a);
  }
  if (merged.size() == 1 && merged[0].step == 1) return at;
  std::string r;
  for (const CudaAxis& a : merged) {
    if (a.step == 0) continue;
    // Quotients of 64 bits cost a GPU several times those of 32.
    r += str(r.empty() ? "" : " + ", count <= UINT32_MAX ? str("unsigned(", at, ")") : at);
    if (a.inner != 1) r += str(" / ", a.inner);
    if (a.inner * a.size != count) r += str(" % ", a.size);
    if (a.step != 1) r += str(" * ", spelled(a.step));
  }
  return r.empty() ? "0" : r;
}

std::string cuda_constant(const Graph& g, const Use& u) {
  if (g.buffers[g.buffer_of(u)].kind != Kind::constant) return "";
  Use one = u;  // its first element
  for (int d = 0; d < u.meta.sizes.n; d++) {
    if (u.meta.sizes[d] != 1 && u.meta.strides[d] != 0) return "";
    one.meta.sizes[d] = 1;
  }
  return cuda_number(item(constant_of(g, one)));
}

int first_input(const Node& node, int k) {
  return int(std::find_if(node.in.begin(), node.in.end(), [&](const Use& u) { return u.value == node.in[k].value && same_place(u, node.in[k]); }) - node.in.begin());
}

int cuda_items(const FusedProgram& p, const std::vector<CudaOperand>& operands) {
  size_t width = 1;  // of the widest operand that is moved at once
  for (size_t o = 0; o < p.operands.size(); o++)
    if (p.operands[o].output >= 0 || operands[o].place == "i") width = std::max(width, size_of(p.operands[o].dtype));
  return int(16 / width);  // a thread's widest load
}

std::string cuda_elements(const FusedProgram& p, const std::vector<CudaOperand>& operands, const std::string& count, const std::string& indent) {
  const int items = cuda_items(p, operands);
  std::string loads, values, stores;
  bool scattered = false;
  for (size_t o = 0; o < p.operands.size(); o++) {
    const FusedOperand& x = p.operands[o];
    const CudaOperand& from = operands[o];
    const char* type = cuda_type(x.dtype);
    if (x.output >= 0) {
      loads += str("  Pack<", type, ", ", items, "> r", o, ";\n");
      stores += str("  store(", from.base, ", r", o, ", first, ", count, ");\n");
    }
    if (x.input < 0) continue;
    values += str("    const ", type, " v", o, " = ");
    if (from.same >= 0) {
      values += str("v", from.same, ";\n");
    } else if (!from.literal.empty()) {
      values += str(type, "(", from.literal, ");\n");
    } else if (from.place == "i") {
      loads += str("  const auto p", o, " = load<", items, ">(", from.base, ", first, ", count, ");\n");
      values += str("p", o, ".v[k];\n");
    } else {
      values += str(from.base, "[", from.place, "];\n");
      scattered |= from.place != "0";
    }
  }
  for (const FusedStep& s : p.steps) {
    const char* type = cuda_type(p.operands[s.out].dtype);
    values += str("    const ", type, " v", s.out, " = ", type, "(", value_of(p, s), ");\n");
    if (p.operands[s.out].output >= 0) values += str("    r", s.out, ".v[k] = v", s.out, ";\n");
  }
  const std::string text = loads + str("  for (int k = 0; k < ", items, "; k++) {\n") +
                           (scattered ? str("    const int64_t i = lesser(first + k, ", count, " - 1);\n") : "") + values + "  }\n" + stores;
  std::string r;
  for (size_t from = 0, end; from < text.size(); from = end) {
    end = text.find('\n', from) + 1;
    r += indent + text.substr(from, end - from);
  }
  return r;
}

}  // namespace weir::graph
