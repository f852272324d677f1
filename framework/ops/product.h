// Products of vectors, matrices and tensors beyond matmul. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Trace : Op {
  static constexpr Signature signature = "trace(input: Tensor) -> Tensor";
  static constexpr auto doc = "Sum of a matrix's diagonal.";
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::float32;
  Tensor compose(Inputs in) const;
};

struct Outer : Op {
  static constexpr Signature signature = "outer(input: Tensor, vec2: Tensor) -> Tensor";
  static constexpr auto doc = "input_i * vec2_j.";
  static constexpr Notation notation = "n, m -> nm";
  Tensor compose(Inputs in) const;
};

struct Dot : Op {
  static constexpr Signature signature = "dot(input: Tensor, tensor: Tensor) -> Tensor";
  static constexpr auto doc = "Sum of products of two vectors.";
  static constexpr Notation notation = "n, n ->";
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  static constexpr OutRule out{Out::exact};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Vdot : Op {
  static constexpr Signature signature = "vdot(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Sum of products of two vectors, the first conjugated.";
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::opaque;
  Tensor compose(Inputs in) const;
};

struct Mv : Op {
  static constexpr Signature signature = "mv(input: Tensor, vec: Tensor) -> Tensor";
  static constexpr auto doc = "Matrix times vector.";
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::opaque;
  Tensor compose(Inputs in) const;
};

struct Inner : Op {
  static constexpr Signature signature = "inner(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Sums of products over the last axes.";
  static constexpr OutRule out{Out::apart, OutHistory::kept};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct Addmv : Op {
  static constexpr Signature signature =
      "addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "beta input + alpha mat @ vec.";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::exact};
  Scalar beta, alpha;
  static constexpr Fields fields{&Addmv::beta, &Addmv::alpha};
  Tensor compose(Inputs in) const;
};

struct Addr : Op {
  static constexpr Signature signature =
      "addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "beta input + alpha outer(vec1, vec2). The factors of integers must be integers.";
  static constexpr InplaceRule inplace{.offered = true};
  Scalar beta, alpha;
  static constexpr Fields fields{&Addr::beta, &Addr::alpha};
  Tensor compose(Inputs in) const;
};

struct Addbmm : Op {
  static constexpr Signature signature =
      "addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "beta input + alpha times the sum over the batch of batch1 @ batch2.";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::exact};
  Scalar beta, alpha;
  static constexpr Fields fields{&Addbmm::beta, &Addbmm::alpha};
  Tensor compose(Inputs in) const;
};

struct Kron : Op {
  static constexpr Signature signature = "kron(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "The Kronecker product.";
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct TensordotAxes : Op {
  static constexpr Signature signature =
      "tensordot(input: Tensor, other: Tensor, dims_self: list[int], dims_other: list[int]) -> Tensor";
  static constexpr auto doc = "Sums of products over axes of input and as many of other, which the result leaves out.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::exact, OutHistory::kept};
  Dims dims_self, dims_other;
  static constexpr Fields fields{&TensordotAxes::dims_self, &TensordotAxes::dims_other};
  Tensor compose(Inputs in) const;
};

struct CrossOfThree : Op {
  static constexpr Signature signature = "cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor";
  static constexpr auto doc = "The cross product along an axis of size 3, the first one unless told.";
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::opaque;
  std::optional<int64_t> dim;
  static constexpr Fields fields{&CrossOfThree::dim};
  void take_out(Inputs in, const Tensor& out);
  Tensor compose(Inputs in) const;
};

struct LinalgVander : Op {
  static constexpr Signature signature = "linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor";
  static constexpr auto doc = "Powers 0 to N - 1 of each element along a new last axis. Shape: (*, n, N), N = n unless told, at least 2.";
  static constexpr Module module = Module::linalg;
  static constexpr NewShape new_shape = NewShape::as_made;
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::opaque;
  std::optional<int64_t> N;
  static constexpr Fields fields{&LinalgVander::N};
  Tensor compose(Inputs in) const;
};

struct Vander : Op {
  static constexpr Signature signature = "vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor";
  static constexpr auto doc = "Powers of a vector's elements as rows, falling unless `increasing`. Shape: (n, N), N = n unless told.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::opaque;
  std::optional<int64_t> N;
  bool increasing;
  static constexpr Fields fields{&Vander::N, &Vander::increasing};
  Tensor compose(Inputs in) const;
};

using ProductOps = OpList<Trace, Outer, Dot, Vdot, Mv, Inner, Addmv, Addr, Addbmm, Kron, TensordotAxes, CrossOfThree, LinalgVander, Vander>;

namespace fn {
inline constexpr Fn<Trace> trace;
inline constexpr Fn<Outer> outer;
inline constexpr Fn<Dot> dot;
inline constexpr Fn<Vdot> vdot;
inline constexpr Fn<Mv> mv;
inline constexpr Fn<Inner> inner;
inline constexpr Fn<Addmv> addmv;
inline constexpr Fn<Addr> addr;
inline constexpr Fn<Addbmm> addbmm;
inline constexpr Fn<Kron> kron;
inline constexpr Fn<TensordotAxes> tensordot;
inline constexpr Fn<LinalgVander> linalg_vander;
inline constexpr Fn<Vander> vander;
}  // namespace fn

}  // namespace weir
