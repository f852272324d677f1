// Products of groups of rows, columns or factors with matrices of their own, as mixtures of experts need them.
// Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html
#pragma once
#include "framework/op/call.h"

namespace weir {

struct GroupedMm : Op {
  static constexpr Signature signature =
      "grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc =
      "Products group by group. offs (int32, one number per group) holds the ends of the groups in the axis that a 2-D operand shares out. "
      "Shapes: (m, k), (g, k, n) -> (m, n) by rows; (g, m, k), (k, n) -> (m, n) by columns; (m, k), (k, n) -> (g, m, n) by factors; (g, m, k), (g, k, n) -> (g, m, n) without offs. "
      "float32, bfloat16 and float16.";
  static constexpr Module module = Module::functional;
  std::optional<DType> out_dtype;
  static constexpr Fields fields{&GroupedMm::out_dtype};
  Tensor compose(Inputs in) const;
};

struct GroupedProduct : Op {
  static constexpr Signature signature = "grouped_product(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None) -> Tensor";
  static constexpr auto doc = "grouped_mm of operands that lie anyhow. Rows and columns of no group are zeros.";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b111};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using GroupedProductOps = OpList<GroupedMm, GroupedProduct>;

namespace fn {
inline constexpr Fn<GroupedProduct> grouped_product;
}  // namespace fn

}  // namespace weir
