// Products of vectors and of several matrices. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/ops/linalg.h"

namespace weir {

struct Cross : Op {
  static constexpr Signature signature = "linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor";
  static constexpr auto doc = "The cross product along an axis of size 3. Its derivatives are cross products too, and so cancel where PyTorch's do.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::linalg;
  static constexpr NewShape new_shape = NewShape::as_made;
  static constexpr OutRule out{Out::exact};
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  int64_t dim;
  static constexpr Fields fields{&Cross::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Vecdot : Op {
  static constexpr Signature signature = "linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor";
  static constexpr auto doc = "Sums of conj(x) * y along dim.";
  static constexpr Module module = Module::linalg;
  static constexpr NewShape new_shape = NewShape::as_made;
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::same};
  int64_t dim;
  static constexpr Fields fields{&Vecdot::dim};
  Tensor compose(Inputs in) const;
};

struct MultiDot : Op {
  static constexpr Signature signature = "linalg_multi_dot(tensors: list[Tensor]) -> Tensor";
  static constexpr auto doc = "The product of several matrices in the cheapest order; the outer ones may be vectors.";
  static constexpr Module module = Module::linalg;
  static constexpr NewShape new_shape = NewShape::as_made;
  static constexpr OutRule out{Out::exact};
  Tensor compose(Inputs in) const;
};

struct ChainMatmul : Op {
  static constexpr Signature signature = "chain_matmul(*matrices: Tensor) -> Tensor";
  static constexpr auto doc = "The product of several matrices in the cheapest order. Deprecated in favour of linalg.multi_dot.";
  static constexpr Module module = Module::function;
  Tensor compose(Inputs in) const;
};

using LinalgProductOps = OpList<Cross, Vecdot, MultiDot, ChainMatmul>;

namespace fn {
inline constexpr Fn<Cross> cross;
}  // namespace fn

}  // namespace weir
