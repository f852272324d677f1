// Multi-head attention as one op. Source: Vaswani et al. 2017, and torch.nn.functional.multi_head_attention_forward.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct MultiHeadAttention : Op {
  static constexpr Signature signature =
      "multi_head_attention(query: Tensor, key: Tensor, value: Tensor, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, q_proj_weight: Tensor | None, k_proj_weight: Tensor | None, v_proj_weight: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, out_proj_weight: Tensor, out_proj_bias: Tensor | None, key_padding_mask: Tensor | None, attn_mask: Tensor | None, static_k: Tensor | None, static_v: Tensor | None, num_heads: int, add_zero_attn: bool, dropout_p: float, weights: str) -> list[Tensor]";
  static constexpr auto doc =
      "Attention of query (L, N, E) over key and value (S, N, E), or without N. Returns the output, and the weights of each head for weights='heads' or "
      "their mean for 'mean'; none for 'none'. A True in a boolean mask hides a position.";
  static constexpr Module module = Module::hidden;
  int64_t num_heads;
  bool add_zero_attn;
  double dropout_p;
  Str weights;
  static constexpr Fields fields{&MultiHeadAttention::num_heads, &MultiHeadAttention::add_zero_attn, &MultiHeadAttention::dropout_p,
                                     &MultiHeadAttention::weights};
  Tensors compose(Inputs in) const;
};

using MultiHeadOps = OpList<MultiHeadAttention>;

}  // namespace weir
