#include "framework/graph/cuda_source.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "framework/graph/members.h"
#include "framework/graph/text_attributes.h"
#include "framework/op/fused.h"

namespace weir::graph {
namespace {

const char* type_of(DType t) {
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
    default: throw NotImplemented(str("a fused group of ", name_of(t), " has no CUDA form"));
  }
}

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

std::string spelled_number(const Scalar& x) {
  check<NotImplemented>(!x.is_complex(), "a complex number has no CUDA form");
  return x.is_real() ? spelled(x.d) : spelled(x.i);
}

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

// Where the number of an input lies that belongs to element `i` of the results, counted as they lie in memory: without holes.
std::string index_of(const Meta& x, const Meta& result) {
  struct Axis { int64_t size, inner, step; };  // `inner`: results from one of its places to the next
  if (numel_of(x.sizes) == 1) return "0";
  std::vector<Axis> axes;
  const int ahead = result.sizes.n - x.sizes.n;
  for (int d = 0; d < result.sizes.n; d++)
    if (result.sizes[d] != 1) axes.push_back({result.sizes[d], result.strides[d], d < ahead || x.sizes[d - ahead] == 1 ? 0 : x.strides[d - ahead]});
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.inner < b.inner; });
  std::vector<Axis> merged;  // neighbours that one step passes through
  for (const Axis& a : axes) {
    if (!merged.empty() && merged.back().step * merged.back().size == a.step) merged.back().size *= a.size;
    else merged.push_back(a);
  }
  const int64_t n = numel_of(result.sizes);
  if (merged.size() == 1 && merged[0].step == 1) return "i";
  std::string r;
  for (const Axis& a : merged) {
    if (a.step == 0) continue;
    // Quotients of 64 bits cost a GPU several times those of 32.
    r += str(r.empty() ? "" : " + ", n <= UINT32_MAX ? "unsigned(i)" : "i");
    if (a.inner != 1) r += str(" / ", a.inner);
    if (a.inner * a.size != n) r += str(" % ", a.size);
    if (a.step != 1) r += str(" * ", spelled(a.step));
  }
  return r;
}

std::string value_of(const FusedProgram& p, const FusedStep& s) {
  if (!s.loop) return str("v", s.in[0]);
  std::string r = str("formulas::formula(", struct_of(s));
  for (int o : s.in) {
    check<NotImplemented>(o >= 0, s.type->signature->name, ": has no CUDA form without an optional input");
    r += str(", ", type_of(s.tile), "(v", o, ")");
  }
  return r += ")";
}

// The first operand that is the same input: an op that takes it twice has it twice.
int first_of(const FusedProgram& p, const Node& node, const Use& use) {
  auto is_same = [&](const FusedOperand& x) {
    if (x.input < 0) return false;
    const Use& other = node.in[x.input];
    return other.value == use.value && other.meta.dtype == use.meta.dtype && other.meta.offset == use.meta.offset && other.meta.sizes == use.meta.sizes &&
           other.meta.strides == use.meta.strides;
  };
  return int(std::find_if(p.operands.begin(), p.operands.end(), is_same) - p.operands.begin());
}

}  // namespace

CudaKernel cuda_source(const Graph& g, size_t index, const std::string& name) {
  const Node& node = g.nodes[index];
  check<ValueError>(node.type == &op_type<Fused>(), "cuda_source: expected a fused node, got ", node.type->signature->name);
  const FusedProgram& p = *reinterpret_cast<const Fused*>(node.op.data())->program;
  int width = 0;  // of the widest dense operand, in bytes
  for (const FusedOperand& x : p.operands)
    if (x.output >= 0 || x.input >= 0) width = std::max(width, int(size_of(x.dtype)));
  const int items = 16 / width;  // what a thread reads at once, at most
  std::string arguments, loads, steps, stores, into;
  bool scattered = false;
  for (size_t o = 0; o < p.operands.size(); o++) {
    const FusedOperand& x = p.operands[o];
    if (x.input < 0) continue;
    const Use& use = node.in[x.input];
    const Buffer& buffer = g.buffers[g.buffer_of(use)];
    const char* type = type_of(x.dtype);
    into += str("    const ", type, " v", o, " = ");
    if (const int same = first_of(p, node, use); same < int(o)) {
      into += str("v", same, ";\n");
    } else if (buffer.kind == Kind::constant && numel_of(use.meta.sizes) == 1) {
      into += str(type, "(", spelled_number(item(tensor_over(buffer.storage, use))), ");\n");
    } else {
      arguments += str("const ", type, "* in", x.input, ", ");
      const std::string at = index_of(use.meta, node.out[0].meta);
      if (at == "i") {
        loads += str("  const auto p", o, " = load<", items, ">(in", x.input, ", first, n);\n");
        into += str("p", o, ".v[k];\n");
      } else {
        into += str("in", x.input, "[", at, "];\n");
        scattered |= at != "0";
      }
    }
  }
  for (const FusedStep& s : p.steps) {
    const char* type = type_of(p.operands[s.out].dtype);
    steps += str("    const ", type, " v", s.out, " = ", type, "(", value_of(p, s), ");\n");
  }
  for (size_t o = 0; o < p.operands.size(); o++) {
    const FusedOperand& x = p.operands[o];
    if (x.output < 0) continue;
    arguments += str(type_of(x.dtype), "* out", x.output, ", ");
    loads += str("  Pack<", type_of(x.dtype), ", ", items, "> r", o, ";\n");
    steps += str("    r", o, ".v[k] = v", o, ";\n");
    stores += str("  store(out", x.output, ", r", o, ", first, n);\n");
  }
  return {str("namespace weir {\nextern \"C\" __global__ void ", name, "(", arguments, "int64_t n) {\n",
              "  const int64_t first = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * ", items, ";\n  if (first >= n) return;\n", loads,
              "  for (int k = 0; k < ", items, "; k++) {\n", scattered ? "    const int64_t i = min(first + k, n - 1);\n" : "", into, steps, "  }\n",
              stores, "}\n}\n"), items};
}

}  // namespace weir::graph
