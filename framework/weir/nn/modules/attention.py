"""MultiheadAttention."""

import weir
import weir.nn.functional as F
from weir.nn import init
from weir.nn.functional.attention import check_mask_of_module
from weir.nn.parameter import Parameter

from .linear import Linear
from .module import Module

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear; the name is the one that PyTorch's repr shows."""


class MultiheadAttention(Module):
    """Attention with several heads. Shapes: query (L, N, E), key (S, N, kdim), value (S, N, vdim) -> (L, N, E).

    With `batch_first` N comes first; without N unbatched. Source: Vaswani et al. 2017.
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim if kdim is not None else embed_dim, vdim if vdim is not None else embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        options = {"device": device, "dtype": dtype}
        self._make_projections(options)
        self.register_parameter("in_proj_bias", Parameter(weir.empty(3 * embed_dim, **options)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        if add_bias_kv:
            self.bias_k = Parameter(weir.empty((1, 1, embed_dim), **options))
            self.bias_v = Parameter(weir.empty((1, 1, embed_dim), **options))
        else:
            self.bias_k = self.bias_v = None
        self._reset_parameters()

    def _make_projections(self, options):
        together, size = self._qkv_same_embed_dim, self.embed_dim
        parts = {"q_proj_weight": size, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if together:
            self.in_proj_weight = Parameter(weir.empty((3 * size, size), **options))
        for name, width in parts.items():
            self.register_parameter(name, None if together else Parameter(weir.empty((size, width), **options)))
        if not together:
            self.register_parameter("in_proj_weight", None)

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        """(output, weights); weights are (N, L, S), or (N, heads, L, S) when not averaged, or None."""
        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        for name, mask in (("key_padding_mask", key_padding_mask), ("attn_mask", attn_mask)):
            check_mask_of_module(name, mask, query.dtype)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal)
        return (output.transpose(0, 1) if swap else output), weights
