// Tensors that get another size in place, over memory that grows where it must.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// The memory format that the strides of `t` suggest.
MemoryFormat suggested_format(const Tensor& t);
/// Do the elements of `t` lie dense in the format?
bool is_dense_in(const Tensor& t, MemoryFormat format);

/// `t` gets `sizes` and, where told, strides or those of a memory format; as it is where it has the sizes and neither is told. New elements are undefined.
void resize_to(const Tensor& t, const Dims& sizes, std::optional<Dims> strides, std::optional<MemoryFormat> format);

struct ResizeAs : Op {
  static constexpr Signature signature = "resize_as_(input: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Resized in place to the_template's shape; new elements are undefined.";
  static constexpr OutRule out{Out::none};
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&ResizeAs::memory_format};
  Tensor compose(Inputs in) const;
};

using ResizeOps = OpList<ResizeAs>;

}  // namespace weir
