// Activations as formulas over other ops. Source of each: the PyTorch page of its name under torch.nn.functional.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Glu : Op {
  static constexpr Signature signature = "glu(input: Tensor, dim: int = -1) -> Tensor";
  static constexpr auto doc = "a * sigmoid(b) of the two halves of input along dim. RuntimeError where its size is odd. Source: Dauphin et al. 2016.";
  static constexpr CallRule calling{.numpy_names = false};
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::functional;
  int64_t dim;
  static constexpr Fields fields{&Glu::dim};
  Tensor compose(Inputs in) const;
};

struct GluOf : Op {
  static constexpr Signature signature = "glu_of(input: Tensor, result: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "A copy of result, glu(input, dim).";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Save saves{.inputs = 0b1};
  int64_t dim;
  static constexpr Fields fields{&GluOf::dim};
  Meta infer(Inputs in) const { return {in[1].sizes(), in[1].strides(), in[1].dtype(), in[1].device()}; }
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GluBackward : Op {
  static constexpr Signature signature = "glu_backward(grad: Tensor, input: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "Gradient of glu, of both halves in one pass.";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  int64_t dim;
  static constexpr Fields fields{&GluBackward::dim};
  Meta infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }
};

struct Softsign : Op {
  static constexpr Signature signature = "softsign(input: Tensor) -> Tensor";
  static constexpr auto doc = "x / (1 + |x|).";
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct Tanhshrink : Op {
  static constexpr Signature signature = "tanhshrink(input: Tensor) -> Tensor";
  static constexpr auto doc = "x - tanh(x).";
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  Tensor compose(Inputs in) const;
};

struct GumbelSoftmax : Op {
  static constexpr Signature signature =
      "gumbel_softmax(logits: Tensor, tau: Tensor | Number = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor";
  static constexpr auto doc =
      "A sample of the Gumbel-softmax distribution; `hard` gives one-hot values with the soft gradient. `eps` changes nothing. Source: Jang et al. 2016.";
  static constexpr Module module = Module::functional;
  static constexpr CallRule calling{.numpy_names = false, .truthy = true};
  static constexpr OutRule out{Out::none};
  bool hard;
  double eps;
  int64_t dim;
  static constexpr Fields fields{&GumbelSoftmax::hard, &GumbelSoftmax::eps, &GumbelSoftmax::dim};
  Tensor compose(Inputs in) const;
};

struct Prelu : Op {
  static constexpr Signature signature = "prelu(input: Tensor, weight: Tensor) -> Tensor";
  static constexpr auto doc = "x above 0, weight * x below; weight has one element or one per channel (axis 1). Source: He et al. 2015.";
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::lower;
  Tensor compose(Inputs in) const;
};

struct RRelu : Op {
  static constexpr Signature signature =
      "rrelu(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc =
      "x above 0; below, x times a slope drawn from [lower, upper) in training and their mean otherwise. Row-major, as in PyTorch. Source: Xu et al. 2015.";
  static constexpr CallRule calling{.scalars = true};
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Save saves{.inputs = 0b1};  // in place, its parts read input for their gradients
  double lower, upper;
  bool training;
  Generator* generator;
  static constexpr Fields fields{&RRelu::lower, &RRelu::upper, &RRelu::training, &RRelu::generator};
  Tensor compose(Inputs in) const;
};

using GatingOps = OpList<Glu, GluOf, GluBackward, Softsign, Tanhshrink, GumbelSoftmax, Prelu, RRelu>;

namespace fn {
inline constexpr Fn<GluOf> glu_of;
inline constexpr Fn<GluBackward> glu_backward;
}  // namespace fn

}  // namespace weir
