"""Attention."""

import math

import weir
from weir._ops import op

from .activation import softmax
from .dropout import dropout
from .linear import linear

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

#: softmax(q k^T * scale + mask) v, one op of the core.
scaled_dot_product_attention = op("nn.functional", "scaled_dot_product_attention")


def _project(query, key, value, weights, biases):
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _split_heads(x, heads):
    """(L, N, E) -> (N, heads, L, E / heads)."""
    length, batch, width = x.shape
    return x.reshape(length, batch, heads, width // heads).permute(1, 2, 0, 3)


def _float_mask(mask, dtype):
    if mask is None or mask.dtype != weir.bool:
        return mask
    return weir.zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)


def _merge_masks(attn_mask, padding, batch, heads, dtype):
    """One additive mask, broadcastable to (N, heads, L, S), or None."""
    attn_mask, padding = _float_mask(attn_mask, dtype), _float_mask(padding, dtype)
    if attn_mask is not None and attn_mask.dim() == 3:
        attn_mask = attn_mask.reshape(batch, heads, *attn_mask.shape[1:])
    if padding is None:
        return attn_mask
    padding = padding.reshape(batch, 1, 1, -1)
    return padding if attn_mask is None else attn_mask + padding


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
        attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
        static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    """Multi-head attention of query (L, N, E) over key and value (S, N, E), or without N.

    Returns (output, weights); weights are None unless `need_weights`. A True in a boolean mask hides a position.
    Source: Vaswani et al. 2017.
    """
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
    if query.shape[-1] != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    batched = query.dim() == 3
    if not batched:
        shape = (num_heads, len(query), len(key))
        if attn_mask is not None and attn_mask.dim() == 3 and tuple(attn_mask.shape) != shape:
            raise AssertionError(f"Expected `attn_mask` shape to be {shape} but got {tuple(attn_mask.shape)}")
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    _check_sources(query, key, value, num_heads, attn_mask, key_padding_mask, together=not use_separate_proj_weight)
    batch = query.shape[1]
    if use_separate_proj_weight:
        weights = q_proj_weight, k_proj_weight, v_proj_weight
    else:
        weights = in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = _project(query, key, value, weights, biases)
    extra = 0
    if bias_k is not None:
        k, v, extra = weir.cat([k, bias_k.repeat(1, batch, 1)]), weir.cat([v, bias_v.repeat(1, batch, 1)]), 1
    q, k, v = (_split_heads(x, num_heads) for x in (q, k, v))
    k = k if static_k is None else static_k.reshape(batch, num_heads, *static_k.shape[1:])
    v = v if static_v is None else static_v.reshape(batch, num_heads, *static_v.shape[1:])
    if add_zero_attn:
        zeros = weir.zeros(batch, num_heads, 1, k.shape[-1], dtype=k.dtype)
        k, v, extra = weir.cat([k, zeros], 2), weir.cat([v, zeros.to(v.dtype)], 2), extra + 1
    mask = _merge_masks(_widen(attn_mask, extra), _widen(key_padding_mask, extra), batch, num_heads, q.dtype)
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = (q * (1.0 / math.sqrt(q.shape[-1]))) @ k.transpose(-2, -1)
        attention = dropout(softmax(scores if mask is None else scores + mask, -1), dropout_p)
        heads_out = attention @ v
    else:
        attention = None
        heads_out = scaled_dot_product_attention(q, k, v, mask, dropout_p)
    merged = heads_out.permute(2, 0, 1, 3).flatten(2)
    output = linear(merged, out_proj_weight, out_proj_bias)
    if attention is not None and average_attn_weights:
        attention = attention.mean(1)
    if batched:
        return output, attention
    return output.squeeze(1), None if attention is None else attention.squeeze(0)


def _check_sources(query, key, value, heads, mask, padding, together):
    """Raises AssertionError unless key (S, N, ...) and value belong together, with them a padding mask (N, S), and a
    mask has two or three axes; RuntimeError unless these are (L, S) or (N heads, L, S)."""
    if key.shape != value.shape if together else key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(f"expected attn_mask to be None, 2-D or 3-D but found {mask.dim()}-D tensor instead")
    pairs = (len(query), len(key))
    shape = pairs if mask is None or mask.dim() == 2 else (query.shape[1] * heads, *pairs)
    if mask is not None and tuple(mask.shape) != shape:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {shape}.")
    if padding is not None and list(padding.shape) != [key.shape[1], key.shape[0]]:
        raise AssertionError(f"Expected key_padding_mask of shape ({key.shape[1]}, {key.shape[0]}), but got "
                             f"{padding.shape}")


def _widen(mask, columns):
    """A mask with `columns` more visible positions at its end."""
    if mask is None or not columns:
        return mask
    return weir.cat([mask, weir.zeros(*mask.shape[:-1], columns, dtype=mask.dtype)], -1)
