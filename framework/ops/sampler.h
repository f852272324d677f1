// Counts drawn from distributions given by tensors. The numbers are not PyTorch's, whose algorithms are its own.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Poisson : Op {
  static constexpr Signature signature = "poisson(input: Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Counts of Poisson distributions of the rates in input. Shape: input's. RuntimeError for a negative rate.";
  static constexpr Out out = Out::none;
  Generator* generator;
  static constexpr std::tuple fields{&Poisson::generator};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Binomial : Op {
  static constexpr Signature signature = "binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Counts of successes in `count` draws of probability `prob`, both broadcast. It has no derivative.";
  static constexpr Out out = Out::none;
  Generator* generator;
  static constexpr std::tuple fields{&Binomial::generator};
  Meta infer(Inputs in) const;
};

using SamplerOps = OpList<Poisson, Binomial>;

namespace fn {
inline constexpr Fn<Poisson> poisson;
inline constexpr Fn<Binomial> binomial;
}  // namespace fn

}  // namespace weir
