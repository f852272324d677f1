// Writing at indices, and reading and adding at indices that may lie outside where a mask does not hold. None leaves
// an axis whole, as in PyTorch below its Python functions (torch.ops.aten), which refuse it.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct IndexPut : Op {
  static constexpr Signature signature =
      "index_put(input: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor";
  static constexpr auto doc = "A copy of input with values written, or added, at input[indices].";
  static constexpr OutRule out{Out::none};
  bool accumulate;
  static constexpr Fields fields{&IndexPut::accumulate};
  Tensor compose(Inputs in) const;
};

struct IndexPutInto : Op {
  static constexpr Signature signature =
      "index_put_(input: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor";
  static constexpr auto doc = "values written, or added, at input[indices], in place: what is not indexed is not touched.";
  static constexpr OutRule out{Out::none};
  bool accumulate;
  static constexpr Fields fields{&IndexPutInto::accumulate};
  Tensor compose(Inputs in) const;
};

struct MaskedIndex : Op {
  static constexpr Signature signature = "_unsafe_masked_index(input: Tensor, mask: Tensor, indices: list[Tensor | None], fill: Number) -> Tensor";
  static constexpr auto doc = "input[indices] where mask holds, fill elsewhere; positions there may lie outside of input.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Scalar fill;
  static constexpr Fields fields{&MaskedIndex::fill};
  Tensor compose(Inputs in) const;
};

struct MaskedIndexAdd : Op {
  static constexpr Signature signature =
      "_unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: list[Tensor | None], values: Tensor) -> Tensor";
  static constexpr auto doc = "A copy of input with values added at input[indices] where mask holds; positions elsewhere may lie outside of input.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

/// Says of memory whose elements repeat that it should not be written by indices.
void warn_of_repeats(const Tensor& written);

using IndexPutOps = OpList<IndexPut, IndexPutInto, MaskedIndex, MaskedIndexAdd>;

}  // namespace weir
