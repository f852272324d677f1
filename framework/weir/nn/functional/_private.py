"""Steps of attention and norms under the private names that PyTorch gives them: libraries with attention of their own call them."""
import warnings

import weir
from weir import Tensor
from weir.nn import _reduction as _Reduction  # noqa: F401

from .attention import _check_axes
from .linear import linear
from .norm import _verify_batch_size, _verify_spatial_size  # noqa: F401


def _none_or_dtype(input):
    """The dtype of a tensor; None of None. RuntimeError of anything else."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers that are added to scores: of truths minus infinity of `target_type` where they hold.

    AssertionError of whole numbers; a warning where `other_type`, the dtype of the mask `other_name`, is another.
    """
    if mask is None:
        return None
    if mask.dtype != weir.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type not in (None, mask.dtype):
        warnings.warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.", stacklevel=2)
    return mask if mask.is_floating_point() else weir.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether query (L, N, E), or (L, E), is batched. AssertionError unless the others have axes that go with it."""
    _check_axes(query, key, value, num_heads, attn_mask, key_padding_mask)
    return query.dim() == 3


def _check_key_padding_mask(key_padding_mask, src_len, bsz):
    """AssertionError unless the mask is of shape (bsz, src_len)."""
    for axis, expected in enumerate((bsz, src_len)):
        if key_padding_mask.shape[axis] != expected:
            raise AssertionError(f"Expected key_padded_mask.shape[{axis}] to be {expected}, but got {key_padding_mask.shape[axis]}")


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """q (..., Eq), k (..., Ek) and v (..., Ev) through linear maps to Eq features. AssertionError of other shapes."""
    features = q.size(-1)
    for what, x, w in (("query", q, w_q), ("key", k, w_k), ("value", v, w_v)):
        if w.shape != (features, x.size(-1)):
            raise AssertionError(f"expecting {what} weights shape of {(features, x.size(-1))}, but got {w.shape}")
    for what, b in (("query", b_q), ("key", b_k), ("value", b_v)):
        if b is not None and b.shape != (features,):
            raise AssertionError(f"expecting {what} bias shape of {(features,)}, but got {b.shape}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q, k, v, w, b=None):
    """q, k and v (..., E) through the three parts of w (3 E, E) and b (3 E): what is one tensor goes through one product."""
    if k is not v:
        return tuple(linear(x, wx, bx) for x, wx, bx in zip((q, k, v), w.chunk(3), (None,) * 3 if b is None else b.chunk(3)))
    if q is k:
        return _parts(linear(q, w, b), 3)
    (w_q, w_kv), (b_q, b_kv) = ((None, None) if t is None else t.tensor_split([q.size(-1)]) for t in (w, b))
    return linear(q, w_q, b_q), *_parts(linear(k, w_kv, b_kv), 2)


def _parts(x, n):
    """(..., n E) as n dense tensors (..., E) in one memory."""
    return tuple(x.unflatten(-1, (n, x.size(-1) // n)).movedim(-2, 0).contiguous())
