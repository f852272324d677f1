// Softmax, its logarithm, and scaled dot product attention over it.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Softmax : Op {
  static constexpr Signature signature = "softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Exponentials along dim, scaled to sum to 1. Shape: as input. Source: PyTorch.";
  static constexpr OutRule out{Out::same, OutHistory::kept};
  static constexpr Notation notation = "along dim";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.outputs = 0b1};
  int64_t dim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Softmax::dim, &Softmax::dtype};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SafeSoftmax : Softmax {
  static constexpr Signature signature = "_safe_softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "softmax, zero where everything along dim is -infinity.";
  static constexpr OutRule out{Out::none};
  static constexpr Module module = Module::function;
};

struct SoftmaxBackward : Op {
  static constexpr Signature signature = "softmax_backward(grad_output: Tensor, output: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "y * (dy - sum(y * dy, dim)).";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  int64_t dim;
  static constexpr Fields fields{&SoftmaxBackward::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogSoftmax : Op {
  static constexpr Signature signature = "log_softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "log(softmax(input, dim)) without overflow. Shape: as input. Source: PyTorch.";
  static constexpr OutRule out{Out::same, OutHistory::kept};
  static constexpr Notation notation = "along dim";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.outputs = 0b1};
  int64_t dim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&LogSoftmax::dim, &LogSoftmax::dtype};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct LogSoftmaxBackward : Op {
  static constexpr Signature signature = "log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int) -> Tensor";
  static constexpr auto doc = "dy - exp(y) * sum(dy, dim).";
  static constexpr Notation notation = "along dim";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11};
  int64_t dim;
  static constexpr Fields fields{&LogSoftmaxBackward::dim};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ScaledDotProductAttention : Op {
  static constexpr Signature signature =
      "scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False) -> Tensor";
  static constexpr auto doc = "softmax(query @ key.T * scale + mask) @ value. Shapes: (*, L, E), (*, S, E), (*, S, V) -> (*, L, V).";
  static constexpr Module module = Module::functional;
  static constexpr Autocast autocast = Autocast::lower;
  double dropout_p;
  bool is_causal;
  std::optional<double> scale;
  bool enable_gqa;
  static constexpr Fields fields{&ScaledDotProductAttention::dropout_p, &ScaledDotProductAttention::is_causal,
                                     &ScaledDotProductAttention::scale, &ScaledDotProductAttention::enable_gqa};
  Tensor compose(Inputs in) const;
};

using SoftmaxOps = OpList<Softmax, SafeSoftmax, SoftmaxBackward, LogSoftmax, LogSoftmaxBackward, ScaledDotProductAttention>;

namespace fn {
inline constexpr Fn<Softmax> softmax;
inline constexpr Fn<SafeSoftmax> safe_softmax;
inline constexpr Fn<SoftmaxBackward> softmax_backward;
inline constexpr Fn<LogSoftmax> log_softmax;
inline constexpr Fn<LogSoftmaxBackward> log_softmax_backward;
inline constexpr Fn<ScaledDotProductAttention> scaled_dot_product_attention;
}  // namespace fn

}  // namespace weir
