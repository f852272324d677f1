"""Attention."""

import warnings

import weir
from weir._ops import op

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

#: softmax(q k^T * scale + mask) v, one op of the core.
scaled_dot_product_attention = op("nn.functional", "scaled_dot_product_attention")
_multi_head_attention = op("hidden", "multi_head_attention")


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
        attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
        static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    """Multi-head attention of query (L, N, E) over key and value (S, N, E), or without N.

    Returns (output, weights); weights are None unless `need_weights`. A True in a boolean mask hides a position.
    Source: Vaswani et al. 2017.
    """
    _check_axes(query, key, value, num_heads, attn_mask, key_padding_mask)
    check_mask("key_padding_mask", key_padding_mask, query.dtype)
    if key_padding_mask is not None and attn_mask is not None and key_padding_mask.dtype != attn_mask.dtype:
        warnings.warn("Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.", stacklevel=2)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    check_mask("attn_mask", attn_mask, query.dtype)
    if query.shape[-1] != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}")
    if embed_dim_to_check // num_heads * num_heads != embed_dim_to_check:
        raise AssertionError(f"embed_dim {embed_dim_to_check} not divisible by num_heads {num_heads}")
    _check_sources(query, key, value, num_heads, attn_mask, key_padding_mask, query.dim() == 3, together=not use_separate_proj_weight)
    if is_causal and key_padding_mask is None and not need_weights:  # the hint stands for the mask, as in PyTorch
        added = (bias_k is not None) + bool(add_zero_attn)
        attn_mask = weir.ones(len(query), len(key) + added, dtype=weir.bool, device=query.device).triu(1)
    separate = dict(q_proj_weight=q_proj_weight, k_proj_weight=k_proj_weight, v_proj_weight=v_proj_weight)
    for name, weight in (separate if use_separate_proj_weight else dict(in_proj_weight=in_proj_weight)).items():
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is {use_separate_proj_weight} but {name} is None")
    _check_given(static_k, "static_k", query, num_heads, bias_k is not None)
    _check_given(static_v, "static_v", query, num_heads, bias_v is not None)
    weights = "none" if not need_weights else "mean" if average_attn_weights else "heads"
    projections = (None, *separate.values()) if use_separate_proj_weight else (in_proj_weight, None, None, None)
    result = _multi_head_attention(query, key, value, projections[0], in_proj_bias, *projections[1:], bias_k, bias_v, out_proj_weight, out_proj_bias,
                                   key_padding_mask, attn_mask, static_k, static_v, num_heads, bool(add_zero_attn), dropout_p if training else 0.0, weights)
    return result if need_weights else (result[0], None)


def _check_given(heads, name, query, num_heads, biased):
    """Raises AssertionError unless keys or values that are given by heads are (N num_heads, S, E / num_heads), and have no bias to come."""
    if heads is None:
        return
    if biased:
        raise AssertionError(f"a bias cannot be added to {name}")
    batch = query.shape[1] if query.dim() == 3 else 1
    for axis, expected in ((0, batch * num_heads), (2, query.shape[-1] // num_heads)):
        if heads.shape[axis] != expected:
            raise AssertionError(f"expecting {name}.size({axis}) of {expected}, but got {heads.shape[axis]}")


def check_mask(name, mask, dtype):
    """Raises AssertionError of what is no mask, RuntimeError where `dtype` cannot hold minus infinity, for which a True stands."""
    if mask is None or mask.is_floating_point():
        return
    if mask.dtype != weir.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if not (dtype.is_floating_point or dtype.is_complex or dtype == weir.bool):
        raise RuntimeError(f"{name} hides by minus infinity, which {dtype} cannot hold")


def check_mask_of_module(name, mask, dtype):
    """As check_mask, of what a module hands on: it takes truths to numbers of `dtype` first, and complex ones are no mask."""
    check_mask(name, mask, dtype)
    if mask is not None and mask.dtype == weir.bool and dtype.is_complex:
        raise AssertionError(f"only bool and floating types of {name} are supported")


def _check_axes(query, key, value, heads, mask, padding):
    """Raises AssertionError unless all have the axes that query (L, N, E), or (L, E), asks for."""
    axes = query.dim()
    if axes not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {axes}-D query tensor")
    if key.dim() != axes or value.dim() != axes:
        raise AssertionError(f"For a {axes}-D query, expected key and value to be {axes}-D but found {key.dim()}-D and {value.dim()}-D tensors")
    if padding is not None and padding.dim() != axes - 1:
        raise AssertionError(f"For a {axes}-D query, expected key_padding_mask to be None or {axes - 1}-D but found {padding.dim()}-D tensor instead")
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(f"expected attn_mask to be None, 2-D or 3-D but found {mask.dim()}-D tensor instead")
    shape = (heads, len(query), len(key))
    if axes == 2 and mask is not None and mask.dim() == 3 and tuple(mask.shape) != shape:
        raise AssertionError(f"Expected `attn_mask` shape to be {shape} but got {tuple(mask.shape)}")


def _check_sources(query, key, value, heads, mask, padding, batched, together):
    """Raises AssertionError unless key (S, N, ...), or without N, and value belong together, with them a padding mask (N, S); RuntimeError
    unless the axes of a mask are (L, S) or (N heads, L, S), and N is query's."""
    batch, padded = (query.shape[1], [key.shape[1], key.shape[0]]) if batched else (1, [key.shape[0]])
    if key.shape != value.shape if together else key.shape[:1 + batched] != value.shape[:1 + batched]:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    pairs = (len(query), len(key))
    shape = pairs if mask is None or mask.dim() == 2 else (batch * heads, *pairs)
    if mask is not None and tuple(mask.shape) != shape:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {shape}.")
    if batched and key.shape[1] != batch and len(key) * key.shape[2]:
        raise RuntimeError(f"expected key and value of {batch} examples, as query has, got {key.shape[1]}")
    if padding is not None and list(padding.shape) != padded:
        raise AssertionError(f"Expected key_padding_mask of shape {padded}, but got {padding.shape}")

