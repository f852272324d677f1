// Norms of vectors. Source: PyTorch's linalg.vector_norm.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct PowerNorm : Op {
  static constexpr Signature signature = "power_norm(input: Tensor, p: float, dim: list[int], keepdim: bool) -> Tensor";
  static constexpr auto doc = "(sum |x|^p)^(1/p) over dim of real numbers, how many are not zero for p = 0; its gradient where there is none is 0.";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "reduce dim";
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  double p;
  Dims dim;
  bool keepdim;
  static constexpr Fields fields{&PowerNorm::p, &PowerNorm::dim, &PowerNorm::keepdim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct VectorNorm : Op {
  static constexpr Signature signature =
      "vector_norm(x: Tensor, ord: Number = 2, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "(sum |x|^ord)^(1/ord) over dim, all axes for None or none; inf, -inf and 0 as in NumPy.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::same};
  Scalar ord;
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&VectorNorm::ord, &VectorNorm::dim, &VectorNorm::keepdim, &VectorNorm::dtype};
  Tensor compose(Inputs in) const;
};

struct PowerSum : Op {
  static constexpr Signature signature =
      "linalg__powsum(input: Tensor, ord: Number = 2, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "sum |x|^ord over dim, all axes for None or none. No gradient, as in PyTorch.";
  static constexpr Module module = Module::linalg;
  static constexpr OutRule out{Out::none};
  Scalar ord;
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&PowerSum::ord, &PowerSum::dim, &PowerSum::keepdim, &PowerSum::dtype};
  Tensor compose(Inputs in) const;
};

struct PairwiseDistance : Op {
  static constexpr Signature signature =
      "pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "p-norm of x1 - x2 + eps along the last axis. Shape: without it.";
  static constexpr OutRule out{Out::none};
  double p, eps;
  bool keepdim;
  static constexpr Fields fields{&PairwiseDistance::p, &PairwiseDistance::eps, &PairwiseDistance::keepdim};
  Tensor compose(Inputs in) const;
};

struct CosineSimilarity : Op {
  static constexpr Signature signature = "cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor";
  static constexpr auto doc = "x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim, broadcast. Shape: without dim.";
  static constexpr OutRule out{Out::none};
  int64_t dim;
  double eps;
  static constexpr Fields fields{&CosineSimilarity::dim, &CosineSimilarity::eps};
  Tensor compose(Inputs in) const;
};

/// `x` in the `dtype` that a norm is to have. RuntimeError where that has no fractions or holds less than x.
Tensor widened_for_norm(const char* op, const Tensor& x, DType dtype);

using VectorNormOps = OpList<PowerNorm, VectorNorm, PowerSum, PairwiseDistance, CosineSimilarity>;

namespace fn {
inline constexpr Fn<PowerNorm> power_norm;
inline constexpr Fn<VectorNorm> vector_norm;
inline constexpr Fn<PairwiseDistance> pairwise_distance;
inline constexpr Fn<CosineSimilarity> cosine_similarity;
}  // namespace fn

}  // namespace weir
