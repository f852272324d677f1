// Dropout of whole channels, and dropout for self-normalising networks. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct DropoutOp : Op {
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Save saves{.inputs = 0b1};  // in place, its parts read input for their gradients
  double p;
  bool train;
  static constexpr Fields fields{&DropoutOp::p, &DropoutOp::train};
};

struct FeatureDropout : DropoutOp {
  static constexpr Signature signature = "feature_dropout(input: Tensor, p: float, train: bool) -> Tensor";
  static constexpr auto doc = "Channels of (N, C, *) zeroed with probability p, the others scaled by 1 / (1 - p). Source: Tompson et al. 2015.";
  Tensor compose(Inputs in) const;
};

struct AlphaDropout : DropoutOp {
  static constexpr Signature signature = "alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor";
  static constexpr auto doc = "Dropout that keeps mean and variance of a self-normalising network. Source: Klambauer et al. 2017.";
  Tensor compose(Inputs in) const;
};

struct FeatureAlphaDropout : DropoutOp {
  static constexpr Signature signature = "feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor";
  static constexpr auto doc = "alpha_dropout of whole channels of (N, C, *).";
  Tensor compose(Inputs in) const;
};

using FeatureDropoutOps = OpList<FeatureDropout, AlphaDropout, FeatureAlphaDropout>;

}  // namespace weir
