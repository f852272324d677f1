// Distances between vectors. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct CdistForward : Op {
  static constexpr Signature signature = "cdist_forward(x1: Tensor, x2: Tensor, p: float, by_product: bool = True) -> Tensor";
  static constexpr auto doc = "p-norm distances between the rows of two batches of matrices. Shapes: (B, P, M), (B, R, M) -> (B, P, R). "
                              "Whether the gradient of many Euclidean ones may be a product, with fewer digits for rows that are nearly the same.";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "bpm, brm -> bpr";
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b1};
  double p;
  bool by_product;
  static constexpr Fields fields{&CdistForward::p, &CdistForward::by_product};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct CdistBackward : Op {
  static constexpr Signature signature = "cdist_backward(grad_output: Tensor, x1: Tensor, x2: Tensor, distance: Tensor, p: float, by_product: bool = True) -> Tensor";
  static constexpr auto doc = "Gradient of cdist_forward's x1. It has none of its own, as PyTorch's. Shape: as x1.";
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "bpr, bpm, brm, bpr -> bpm";
  double p;
  bool by_product;
  static constexpr Fields fields{&CdistBackward::p, &CdistBackward::by_product};
  Meta infer(Inputs in) const;
};

struct Cdist : Op {
  static constexpr Signature signature = "cdist(x1: Tensor, x2: Tensor, p: float = 2.0, by_product: bool = True) -> Tensor";
  static constexpr auto doc = "p-norm distances between the rows of two batches. Shapes: (*, P, M), (*, R, M) -> (*, P, R).";
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::hidden;
  static constexpr Autocast autocast = Autocast::float32;
  double p;
  bool by_product;
  static constexpr Fields fields{&Cdist::p, &Cdist::by_product};
  Tensor compose(Inputs in) const;
};

struct PdistForward : Op {
  static constexpr Signature signature = "pdist_forward(input: Tensor, p: float) -> Tensor";
  static constexpr auto doc = "p-norm distances between all pairs of rows i < j of (N, M). Shape: (N (N - 1) / 2).";
  static constexpr Notation notation = "nm -> p | pm";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  double p;
  static constexpr Fields fields{&PdistForward::p};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct PdistBackward : Op {
  static constexpr Signature signature = "pdist_backward(grad_output: Tensor, input: Tensor, distance: Tensor, p: float) -> Tensor";
  static constexpr auto doc = "Gradient of pdist_forward's input. It has none of its own, as PyTorch's.";
  static constexpr Notation notation = "p, nm, p -> nm | pm";
  static constexpr Module module = Module::hidden;
  double p;
  static constexpr Fields fields{&PdistBackward::p};
  Meta infer(Inputs in) const;
};

struct Pdist : Op {
  static constexpr Signature signature = "pdist(input: Tensor, p: float = 2.0) -> Tensor";
  static constexpr auto doc = "p-norm distances between all pairs of rows i < j of (N, M). Shape: (N (N - 1) / 2).";
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  double p;
  static constexpr Fields fields{&Pdist::p};
  Tensor compose(Inputs in) const;
};

using DistanceOps = OpList<CdistForward, CdistBackward, Cdist, PdistForward, PdistBackward, Pdist>;

namespace fn {
inline constexpr Fn<CdistForward> cdist_forward;
inline constexpr Fn<CdistBackward> cdist_backward;
inline constexpr Fn<Cdist> cdist;
inline constexpr Fn<PdistForward> pdist_forward;
inline constexpr Fn<PdistBackward> pdist_backward;
inline constexpr Fn<Pdist> pdist;
}  // namespace fn

}  // namespace weir
