// Draws from distributions given by tensors. The same seed gives PyTorch's numbers.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// The least positive number of a dtype that has all its digits; of bfloat16 float32's, which is its own.
constexpr double least_normal(DType t) { return t == DType::float64 ? 0x1p-1022 : t == DType::float16 ? 0x1p-14 : 0x1p-126; }

struct Poisson : Op {
  static constexpr Signature signature = "poisson(input: Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Counts of Poisson distributions of the rates in input. Shape: input's. RuntimeError for a negative rate.";
  static constexpr Module module = Module::function;
  static constexpr Notation notation = "elements";
  static constexpr OutRule out{Out::none};
  Generator* generator;
  static constexpr Fields fields{&Poisson::generator};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Binomial : Op {
  static constexpr Signature signature = "binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Counts of successes in `count` draws of probability `prob`, both broadcast. It has no derivative.";
  static constexpr Notation notation = "elements";
  static constexpr OutRule out{Out::none};
  Generator* generator;
  static constexpr Fields fields{&Binomial::generator};
  Meta infer(Inputs in) const;
};

struct StandardGamma : Op {
  static constexpr Signature signature = "_standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Draws of gamma distributions of rate 1 and of the concentrations in input, which they move with. Source: Marsaglia and Tsang 2000.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Generator* generator;
  static constexpr Fields fields{&StandardGamma::generator};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MovingShares : Op {
  static constexpr Signature signature = "moving_shares(input: Tensor, shares: Tensor) -> Tensor";
  static constexpr auto doc = "The shares, drawn with the concentrations in input, whose gradients they pass on.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  static constexpr Save saves{.inputs = 0b11};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SampleDirichlet : Op {
  static constexpr Signature signature = "_sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Shares along the last axis that sum to 1, of the concentrations in input. Shape: input's.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Generator* generator;
  static constexpr Fields fields{&SampleDirichlet::generator};
  Tensor compose(Inputs in) const;
};

struct MultinomialDraws : Op {
  static constexpr Signature signature = "multinomial_draws(input: Tensor, num_samples: int, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Indices drawn with replacement with the probabilities of each row, by its running sum. Shape: (rows, num_samples), int64.";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  int64_t num_samples;
  Generator* generator;
  static constexpr Fields fields{&MultinomialDraws::num_samples, &MultinomialDraws::generator};
  Meta infer(Inputs in) const;
};

struct Multinomial : Op {
  static constexpr Signature signature =
      "multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc =
      "Indices drawn with the probabilities of each row, which need not sum to 1. Shape: (num_samples,) or (rows, num_samples). RuntimeError for "
      "probabilities below 0, infinite, or all 0.";
  static constexpr OutRule out{Out::exact};
  int64_t num_samples;
  bool replacement;
  Generator* generator;
  static constexpr Fields fields{&Multinomial::num_samples, &Multinomial::replacement, &Multinomial::generator};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

using SamplerOps = OpList<Poisson, Binomial, StandardGamma, MovingShares, SampleDirichlet, MultinomialDraws, Multinomial>;

namespace fn {
inline constexpr Fn<Poisson> poisson;
inline constexpr Fn<Binomial> binomial;
inline constexpr Fn<StandardGamma> standard_gamma;
inline constexpr Fn<MovingShares> moving_shares;
inline constexpr Fn<MultinomialDraws> multinomial_draws;
}  // namespace fn

}  // namespace weir
