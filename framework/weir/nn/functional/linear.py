"""Linear maps and table look-ups."""

import math

import weir
from weir._ops import op

from ._check import check_tensor

__all__ = ["bilinear", "embedding", "embedding_bag", "linear", "one_hot"]

linear = op("nn.functional", "linear")
_embedding = op("torch", "embedding")


def bilinear(input1, input2, weight, bias=None):
    """x1^T W_k x2 + b_k for each output k. Shapes: (*, I), (*, J), (K, I, J), (K) -> (*, K)."""
    for name, value in (("input1", input1), ("input2", input2), ("weight", weight)):
        check_tensor("bilinear", value, name)
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: got {input1.shape} and {input2.shape}")
    outputs, rows, columns = weight.shape
    for name, tensor, size in (("input1", input1, rows), ("input2", input2, columns)):
        if tensor.shape[-1] != size:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {tensor.shape[-1]} but "
                               f"expected {size}")
    batch = math.prod(input1.shape[:-1])
    left = input1.reshape(batch, rows) @ weight.permute(1, 0, 2).reshape(rows, outputs * columns)
    right = input2.reshape(batch, 1, columns)
    result = (left.reshape(batch, outputs, columns) * right).sum(-1)
    result = result if bias is None else result + bias
    return result.reshape(*input1.shape[:-1], outputs)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight` (num, dim) at the integers `input`. Shape: input's + (dim,).

    Rows looked up are first scaled, in place, to a norm of at most `max_norm`. `padding_idx` gets no gradient.
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        count = weight.size(0)
        if not -count <= padding_idx < count:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= count
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renormalise(weight, indices, max_norm, norm_type):
    with weir.no_grad():
        rows = weir.unique(indices)
        values = weight[rows]
        norms = values.norm(norm_type, 1, True)
        weight[rows] = weir.where(norms > max_norm, values * (max_norm / (norms + 1e-7)), values)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sum, mean or max of embedding rows per bag. A 2-d input is one bag a row; a 1-d one is cut at `offsets`."""
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
    bags, count, input = _bags(input, offsets, include_last_offset)
    per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    table = _ScaledByFrequency.apply(weight, input) if scale_grad_by_freq else weight
    rows = embedding(input, table, padding_idx, max_norm, norm_type, sparse=sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if padding_idx is not None:
        keep = (input != padding_idx % weight.size(0)).nonzero().squeeze(1)
        rows, bags = rows[keep], bags[keep]
    return _reduce_bags(rows, bags, count, mode)


class _ScaledByFrequency(weir.autograd.Function):
    """weight, whose gradient is divided by frequencies of the indices.

    Source: PyTorch's, which divides that of the u-th distinct index by the count of the u-th smallest index, repeats
    included, not by its own.
    """

    @staticmethod
    def forward(ctx, weight, indices):
        ctx.save_for_backward(indices)
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx, grad):
        indices, = ctx.saved_tensors
        rows, counts = weir.unique(indices, return_counts=True)
        smallest = counts.repeat_interleave(counts)[:rows.numel()]
        return grad.index_copy(0, rows, grad[rows] / smallest.unsqueeze(1)), None


def _bags(input, offsets, include_last_offset):
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                             f"length sequences. However, found offsets of type {type(offsets)}")
        count, length = input.shape
        return weir.arange(count).repeat_interleave(length), count, input.reshape(-1)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    starts = offsets.tolist() + ([] if include_last_offset else [input.numel()])
    lengths = [end - start for start, end in zip(starts, starts[1:])]
    bags = [bag for bag, length in enumerate(lengths) for _ in range(length)]
    return weir.tensor(bags, dtype=weir.int64), len(lengths), input


def _reduce_bags(rows, bags, count, mode):
    zeros = weir.zeros(count, rows.shape[1], dtype=rows.dtype)
    if mode == "max":
        picked = [rows[bags == bag] for bag in range(count)]
        return weir.stack([p.amax(0) if p.shape[0] else z for p, z in zip(picked, zeros)])
    total = zeros.index_add(0, bags, rows)
    if mode == "sum":
        return total
    sizes = weir.zeros(count, dtype=rows.dtype).index_add(0, bags, weir.ones(len(bags), dtype=rows.dtype))
    return total / sizes.clamp(min=1).unsqueeze(1)


def one_hot(tensor, num_classes=-1):
    """1 at each element's class, 0 elsewhere, int64. Shape: tensor's + (num_classes,)."""
    check_tensor("one_hot", tensor, "tensor")
    if tensor.dtype != weir.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return weir.zeros(*tensor.shape, num_classes, dtype=weir.int64)
    low, high = int(tensor.min()), int(tensor.max())
    if low < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = high + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif high >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return weir.zeros(*tensor.shape, num_classes, dtype=weir.int64).scatter_(-1, tensor.unsqueeze(-1), 1)
