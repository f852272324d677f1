"""The loss over label sequences."""

import weir
from weir._composites._register import autocast_as
from weir._ops import op

from ._check import check_tensor

__all__ = ["ctc_loss"]

_ctc = op("hidden", "ctc_loss_forward")


def _lengths(name, lengths):
    if isinstance(lengths, weir.Tensor):
        if lengths.is_floating_point() or lengths.is_complex():
            raise RuntimeError(f"ctc_loss: {name} must be integral, got {lengths.dtype}")
        lengths = lengths.to(weir.int64)
        return lengths.reshape(1) if lengths.dim() == 0 else lengths
    return weir.tensor(list(lengths), dtype=weir.int64)


@autocast_as("float32")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of all alignments of each target to the input. Source: Graves et al. 2006.

    Shapes: log_probs (T, N, C) or (T, C); targets (N, S) or joined (sum of target_lengths); lengths (N) or (). 'mean' divides by the
    target lengths first. Losses of inputs shorter than their targets are infinite, or 0 with zero_infinity. The gradient is the one
    with respect to log_softmax's input, as PyTorch's.
    """
    check_tensor("ctc_loss", log_probs, "log_probs")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if targets.dtype not in (weir.int64, weir.int32, weir.uint8):
        raise RuntimeError(f"ctc_loss: targets must be integral, got {targets.dtype}")
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.dim() == 1 else targets
    input_lengths, target_lengths = _lengths("input_lengths", input_lengths), _lengths("target_lengths", target_lengths)
    loss = _ctc(log_probs, targets.to(weir.int64), input_lengths, target_lengths, blank, zero_infinity)[0]
    if reduction == "mean":
        return (loss / target_lengths.clamp_min(1).to(loss.dtype)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if batched else loss.squeeze(0)
