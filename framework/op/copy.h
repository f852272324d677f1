// Copy between tensors of one shape family: the op every layer needs, so it lives beside the door.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Copy : Op {
  static constexpr Signature signature =
      "copy(input: Tensor, other: Tensor | Number, non_blocking: bool = False) -> Tensor";
  static constexpr auto doc =
      "other broadcast to input's shape and cast to its dtype. `copy_` writes it into input. Source: PyTorch.";
  static constexpr Module module = Module::method;
  static constexpr InplaceRule inplace{.offered = true, .into_integers = false, .copies = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "move";
  bool non_blocking;
  static constexpr Fields fields{&Copy::non_blocking};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

/// Writes `src`, broadcast and cast, into `self`. Recorded by autograd like any in-place op.
void copy_into(const Tensor& self, const Tensor& src);
/// Changes the shape in place, growing the storage when needed; the content is kept, new elements are undefined.
void resize(const Tensor& self, const Dims& sizes);
/// Raises unless `from` broadcasts to `to`.
void check_expandable(const char* op, const Dims& from, const Dims& to);

namespace fn {
inline constexpr Fn<Copy> copy;
}  // namespace fn

}  // namespace weir
