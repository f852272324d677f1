// A fused group: several element-wise ops that run tile by tile, so that what they hand to each other stays in the first-level
// cache. Each step is the op's own contiguous loop, and rounds to the dtype that eager mode would have stored.
#pragma once
#include "framework/op/op.h"

namespace weir {

/// out[i] = f(in0[i], ...) for i < n, all of one dtype; `fixed` has a bit per input that is one number.
using FusedLoop = void (*)(const void* op, void* out, const void* const* in, uint32_t fixed, int64_t n);

struct FusedStep {
  FusedLoop loop = nullptr;  // null: only a conversion
  const void* stages = nullptr;  // of the kernel library's own: the same for numbers that stay in registers
  const OpType* type = nullptr;
  DType tile;                // what the loop computes in
  std::vector<std::byte> op;
  std::vector<int> in;       // operand numbers, -1 for one that is not given
  int out = 0;
};

struct FusedOperand {
  DType dtype;
  int input = -1, output = -1;  // of the node; neither: it lives in a tile
  int slot = -1;                // which tile; of elements of one size only, since steps may go block by block
};

/// What a tile holds of them: half types lie there as floats of their values, so that what is stored once is widened for nobody.
inline DType kept_in_tile(DType t) { return t == DType::bfloat16 || t == DType::float16 ? DType::float32 : t; }

struct FusedProgram {
  std::vector<FusedStep> steps;
  std::vector<FusedOperand> operands;
  int num_slots = 0;
};

/// The op whose kernel runs a program. Its outputs have one size and one dense layout; inputs are of it, broadcast to it, or numbers.
struct Fused : Op {
  static constexpr Signature signature = "fused(inputs: list[Tensor]) -> Tensor";
  static constexpr auto doc = "Several element-wise ops, tile by tile.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  const FusedProgram* program = nullptr;
  Meta infer(Inputs in) const;
};

/// Fills in loop and tile of a step that runs `op` on such inputs; false where it cannot be fused. Set by the kernel library.
extern bool (*fused_loop)(const OpType& type, const void* op, Inputs in, DType out, FusedStep* step);

}  // namespace weir
