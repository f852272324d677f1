"""Linear maps and table look-ups."""

import enum
import warnings

import weir
from weir._absent import absent
from weir._ops import op


__all__ = ["ScalingType", "SwizzleType", "bilinear", "embedding", "embedding_bag", "grouped_mm", "linear", "one_hot", "scaled_grouped_mm", "scaled_mm"]

linear, bilinear = op("nn.functional", "linear"), op("torch", "bilinear")
one_hot, grouped_mm = op("nn.functional", "one_hot"), op("nn.functional", "grouped_mm")
_embedding, _bag, _renorm = op("torch", "embedding"), op("torch", "embedding_bag"), op("hidden", "embedding_renorm_")


class ScalingType(enum.Enum):
    """What shares a scale in a matrix of small floats."""

    TensorWise, RowWise, BlockWise1x16, BlockWise1x32, BlockWise1x128, BlockWise128x128 = range(6)


class SwizzleType(enum.Enum):
    """In which order scales lie."""

    NO_SWIZZLE, SWIZZLE_32_4_4 = range(2)


scaled_mm, scaled_grouped_mm = (absent(f"nn.functional.{name}", "weir multiplies no matrices of small floats") for name in ("scaled_mm", "scaled_grouped_mm"))


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight` (num, dim) at the integers `input`. Shape: input's + (dim,).

    Rows looked up are first scaled, in place, to a norm of at most `max_norm`. `padding_idx` gets no gradient.
    """
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx != 0:  # which PyTorch lets pass for no rows, too
        count = weight.size(0)
        if not -count <= padding_idx < count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= count
    if max_norm is not None:
        with weir.no_grad():
            _renorm(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and weir.is_grad_enabled():
        from weir.sparse._gradients import embedding as sparse_embedding
        return sparse_embedding(weight, input, padding_idx, scale_grad_by_freq)
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sum, mean or max of embedding rows per bag. A 2-d input is one bag a row; a 1-d one is cut at `offsets`."""
    if weight.dtype == weir.int64 and input.is_floating_point():  # as the two were called once
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, "
                      "and should now be `embedding_bag(input, weight, ...)`.", stacklevel=2)
        weight, input = input, weight
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                                  f"supported for mode='sum' (got mode='{mode}').")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError("embedding_bag: If per_sample_weights is not None, then it must have the same shape as the "
                         f"input ({list(input.shape)})")
    include_last_offset = include_last_offset and input.dim() == 1  # the rows of a matrix are all bags
    input, offsets = _bags(input, offsets)
    if max_norm is not None:
        with weir.no_grad():
            _renorm(weight, input, max_norm, norm_type)
    weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if sparse and weight.requires_grad and weir.is_grad_enabled():
        from weir.sparse._gradients import embedding_bag as sparse_bag
        return sparse_bag(weight, input, offsets, scale_grad_by_freq, int(mode == "mean"), weights, include_last_offset, padding_idx)
    return _bag(weight, input, offsets, scale_grad_by_freq, ("sum", "mean", "max").index(mode), sparse, weights, include_last_offset,
                padding_idx)[0]


def _bags(input, offsets):
    """(indices, where each bag begins)."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                             f"length sequences. However, found offsets of type {type(offsets)}")
        return input.reshape(-1), weir.arange(0, input.numel(), input.shape[1], dtype=input.dtype)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets
