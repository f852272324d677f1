"""Masks of causal attention that are known by name, so that the kernel need not read them. Source: torch.nn.attention.bias."""
import enum
import warnings

import weir
from weir import Tensor
from weir.overrides import admit, ask_for_rules

__all__ = ["causal_upper_left", "causal_lower_right", "CausalVariant", "CausalBias"]


class CausalVariant(enum.IntEnum):
    """Which corner of the mask its diagonal starts in: (0, 0), or the one that lets the last query see every key."""

    UPPER_LEFT, LOWER_RIGHT = 1, 2


def _mask(variant, seq_len_q, seq_len_kv, device=None):
    return weir.ones(seq_len_q, seq_len_kv, dtype=weir.bool, device=device).tril(seq_len_kv - seq_len_q if variant == CausalVariant.LOWER_RIGHT else 0)


class CausalBias(Tensor):
    """The mask of `seq_len_q` queries by `seq_len_kv` keys, for `attn_mask` of scaled_dot_product_attention."""

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        # The mask itself, for functions that were taken from their module before any asked for rules.
        return _mask(variant, seq_len_q, seq_len_kv).as_subclass(cls)

    def __init__(self, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        super().__init__()
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            warnings.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=2)

    def _materialize(self, device=None):
        """The mask as a tensor of bool."""
        return _mask(self.variant, self.seq_len_q, self.seq_len_kv, device)

    @staticmethod
    def _dispatch(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        """Attention under the mask; the corner of the upper left, or a square, is the kernel's own."""
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        causal = attn_mask.variant == CausalVariant.UPPER_LEFT or attn_mask.seq_len_q == attn_mask.seq_len_kv
        return weir.nn.functional.scaled_dot_product_attention(
            query, key, value, None if causal else attn_mask._materialize(query.device), dropout_p, causal, scale=scale, enable_gqa=enable_gqa)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is weir.nn.functional.scaled_dot_product_attention:
            return cls._dispatch(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    def __repr__(self):
        return repr(self._materialize())


admit(CausalBias)
ask_for_rules()


def _of(variant, size):
    if len(size) != 2:
        raise AssertionError(f"causal_{variant.name.lower()} only supports 2D tensors")
    return CausalBias(variant, *size)


def causal_upper_left(*size):
    """Query i sees keys 0 to i: a CausalBias of two sizes."""
    return _of(CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size):
    """The last query sees every key, each before it one less: a CausalBias of two sizes."""
    return _of(CausalVariant.LOWER_RIGHT, size)
