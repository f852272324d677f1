"""Covariance, histograms and counts."""

import weir
from weir._C import Tensor

from ._check import check_floating, inexact
from ._register import composite


@composite
def cov(input: Tensor, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of the rows, which are variables, over the columns, which are observations."""
    if input.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} "
                           "dimensions")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    rows = rows if inexact(rows) else rows.to(weir.get_default_dtype())
    _check_weights(rows, fweights, aweights)
    weights = fweights
    if aweights is not None:
        weights = aweights if fweights is None else fweights * aweights
    # In PyTorch's order of operations: where gradients cancel, another order leaves other remainders.
    if weights is None:
        total = rows.shape[1]
        centred = rows - (rows.sum(1) / total).unsqueeze(1)
        scaled = centred
        divisor = max(total - correction, 0)
    else:
        total = weights.sum()
        centred = rows - ((rows * weights).sum(1) / total).unsqueeze(1)
        scaled = centred * weights
        bias = correction if aweights is None or not correction else correction * (weights * aweights).sum() / total
        divisor = total - bias
        divisor = divisor if bool(divisor > 0) else weir.zeros_like(divisor)
    result = centred @ scaled.t().conj() / divisor
    return result if input.dim() == 2 and input.shape[0] > 1 else result.squeeze()


def _check_weights(rows, fweights, aweights):
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is None:
            continue
        if w.dim() > 1:
            raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.dim()} "
                               "dimensions")
        if w.is_floating_point() != (name == "aweights"):
            raise RuntimeError(f"cov(): expected {name} to have "
                               f"{'floating point' if name == 'aweights' else 'integral'} dtype but got {name} with "
                               f"{w.dtype} dtype")
        if w.numel() != rows.shape[1]:
            raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but "
                               f"got {w.numel()} != {rows.shape[1]}")
        if bool((w < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")


@composite
def corrcoef(input: Tensor):
    """The correlation matrix of the rows, in [-1, 1]."""
    if input.dim() > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.dim()} "
                           "dimensions")
    c = cov(input)
    if c.dim() == 0:
        return c / c
    deviation = c.diagonal().sqrt()
    c = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    return weir.complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1)) if c.is_complex() else c.clamp(-1, 1)


@composite
def histc(input: Tensor, bins=100, min=0, max=0):
    """How many elements fall into each of `bins` equal bins from min to max (input's range when both are equal)."""
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    check_floating("histc", input)
    low, high = float(min), float(max)
    values = input.reshape(-1).detach()
    if low == high and values.numel():
        low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise RuntimeError(f"range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError("max must be larger than min")
    inside = values[(values >= low) & (values <= high)].double()
    index = ((inside - low) * (bins / (high - low))).floor().to(weir.int64).clamp(max=bins - 1)
    return weir.zeros(bins, dtype=input.dtype).index_add(0, index, weir.ones(index.shape, dtype=input.dtype))
