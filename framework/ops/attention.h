// Scaled dot product attention without its scores: blocks of keys pass by each block of queries. Source: Dao et al. 2022.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct FlashAttention : Op {
  static constexpr Signature signature =
      "flash_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float) -> (output: Tensor, logsumexp: Tensor)";
  static constexpr auto doc =
      "softmax(query @ key.T * scale + mask) @ value, and the logarithm of what each row was divided by. A row that sees nothing is zero. Shapes: "
      "(N, H, L, E), (N, K, S, E), (N, K, S, V) -> (N, H, L, V), (N, H, L); H is a multiple of K. The mask is float32 and broadcasts to (N, H, L, S).";
  static constexpr Notation notation = "bhqe, bgke, bgkv, -> bhqv, bhq | bhqke + bhqkv";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::apart;
  static constexpr GradientRule gradient{.outputs = 0b1};
  static constexpr Save saves{.inputs = 0b1111, .outputs = 0b11};
  bool is_causal;
  double scale;
  static constexpr Fields fields{&FlashAttention::is_causal, &FlashAttention::scale};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct FlashAttentionBackward : Op {
  static constexpr Signature signature =
      "flash_attention_backward(grad_output: Tensor, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, output: Tensor, logsumexp: Tensor, is_causal: bool, scale: float) -> (grad_query: Tensor, grad_key: Tensor, grad_value: Tensor)";
  static constexpr auto doc = "Gradients of flash_attention. Their own are taken of attention in parts.";
  static constexpr Notation notation = "bhqv, bhqe, bgke, bgkv, , bhqv, bhq -> bhqe, bgke, bgkv | bhqke + bhqkv + bhqkv + bhqke + bhqke";
  static constexpr Module module = Module::hidden;
  bool is_causal;
  double scale;
  static constexpr Fields fields{&FlashAttentionBackward::is_causal, &FlashAttentionBackward::scale};
  std::array<Meta, 3> infer(Inputs in) const;
};

using AttentionOps = OpList<FlashAttention, FlashAttentionBackward>;

namespace fn {
inline constexpr Fn<FlashAttention> flash_attention;
inline constexpr Fn<FlashAttentionBackward> flash_attention_backward;
}  // namespace fn

}  // namespace weir
