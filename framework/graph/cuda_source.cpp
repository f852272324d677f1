#include "framework/graph/cuda_source.h"

#include <algorithm>

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

// The op's struct, byte by byte: the prelude's types have the host's layout.
std::string struct_of(const FusedStep& s) {
  std::string bytes;
  for (size_t i = 0; i < s.type->size; i++) bytes += str(i ? ", " : "", int(s.op[i]));
  std::string type = str("op_", s.type->signature->name);
  std::replace(type.begin(), type.end(), '.', '_');
  return str("from_bytes<", type, ", ", s.type->size, ">({", bytes, "})");
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

}  // namespace

std::string cuda_source(const Node& node, const std::string& name) {
  check<ValueError>(node.type == &op_type<Fused>(), "cuda_source: expected a fused node, got ", node.type->signature->name);
  const FusedProgram& p = *reinterpret_cast<const Fused*>(node.op.data())->program;
  std::string arguments, loads, steps, stores;
  for (size_t o = 0; o < p.operands.size(); o++) {
    const FusedOperand& x = p.operands[o];
    if (x.input < 0) continue;
    arguments += str("const ", type_of(x.dtype), "* in", x.input, ", int64_t step", x.input, ", ");
    loads += str("  const ", type_of(x.dtype), " v", o, " = in", x.input, "[i * step", x.input, "];\n");
  }
  for (const FusedStep& s : p.steps) {
    const char* type = type_of(p.operands[s.out].dtype);
    steps += str("  const ", type, " v", s.out, " = ", type, "(", value_of(p, s), ");\n");
  }
  for (size_t o = 0; o < p.operands.size(); o++) {
    const FusedOperand& x = p.operands[o];
    if (x.output < 0) continue;
    arguments += str(type_of(x.dtype), "* out", x.output, ", ");
    stores += str("  out", x.output, "[i] = v", o, ";\n");
  }
  return str("namespace weir {\nextern \"C\" __global__ void ", name, "(", arguments, "int64_t n) {\n",
             "  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n", loads, steps, stores, "}\n}\n");
}

}  // namespace weir::graph
