"""The loss over label sequences."""

import weir
from weir._ops import op

from ._check import check_tensor

__all__ = ["ctc_loss"]

_ctc = op("hidden", "ctc_loss_reduced")


def _lengths(lengths):
    return lengths if isinstance(lengths, weir.Tensor) else weir.tensor(list(lengths), dtype=weir.int64)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of all alignments of each target to the input. Source: Graves et al. 2006.

    Shapes: log_probs (T, N, C) or (T, C); targets (N, S) or joined (sum of target_lengths); lengths (N) or (). 'mean' divides by the
    target lengths first. Losses of inputs shorter than their targets are infinite, or 0 with zero_infinity. The gradient is the one
    with respect to log_softmax's input, as PyTorch's.
    """
    check_tensor("ctc_loss", log_probs, "log_probs")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _ctc(log_probs, targets, _lengths(input_lengths), _lengths(target_lengths), blank, ("none", "mean", "sum").index(reduction),
                zero_infinity)
