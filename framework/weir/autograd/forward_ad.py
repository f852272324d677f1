"""Dual numbers: a tensor with a tangent, which ops carry along. Source: torch.autograd.forward_ad's documentation.

weir has no forward mode: a dual is a node of the graph, and the tangent of a result is the derivative of its backward pass with
respect to what is fed in (Townsend 2017, "A new trick for calculating Jacobian vector products"). It holds for every op whose
gradient is differentiable, and costs two backward passes where it is asked for.
"""
from collections import namedtuple

import weir

_levels: list = []  # of each level in force: [(dual, tangent)]

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
UnpackedDualTensor.__doc__ = "What unpack_dual answers: the tensor without its tangent, and the tangent, or None."


def enter_dual_level():
    """Begins a level and answers its number. RuntimeError inside another: there is one at a time, as in PyTorch."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return len(_levels) - 1


def exit_dual_level(*, level=None):
    """Ends the level; its duals are plain tensors from then on. RuntimeError where none is in force."""
    if not _levels or level not in (None, len(_levels) - 1):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _levels.pop()


class dual_level:
    """A level for the time of a `with`."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exc):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """tensor with a tangent of its shape and dtype. RuntimeError outside a level, TypeError for whole numbers.

    NotImplementedError where gradients are off, since the tangent travels by the graph.
    """
    if not _levels:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for what, t in (("tensor", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"Expected tangent to have the same shape as primal, got {tuple(tangent.shape)} and {tuple(tensor.shape)}")
    if not weir.is_grad_enabled():
        raise NotImplementedError("make_dual: weir carries tangents by the graph of gradients, which is off here")
    dual = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _levels[-1].append((dual, tangent))
    return dual


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a tensor in the level in force; the tangent is None where no dual went into it."""
    duals = _levels[-1] if _levels else []
    for dual, tangent in duals:
        if dual is tensor:
            return UnpackedDualTensor(tensor.detach(), tangent)
    if not duals or not tensor.requires_grad:
        return UnpackedDualTensor(tensor.detach() if duals else tensor, None)
    with weir.enable_grad():
        cotangent = weir.zeros_like(tensor).requires_grad_()
        inputs = [dual for dual, _ in duals]
        grads = weir.autograd.grad(tensor, inputs, cotangent, retain_graph=True, create_graph=True, allow_unused=True)
        used = [(g, t.detach()) for g, (_, t) in zip(grads, duals) if g is not None]
        if not used:
            return UnpackedDualTensor(tensor.detach(), None)
        live = [(g, t) for g, t in used if g.requires_grad]
        if not live:  # the gradient does not depend on what is fed in: it is zero
            return UnpackedDualTensor(tensor.detach(), weir.zeros_like(tensor).detach())
        (tangent,) = weir.autograd.grad([g for g, _ in live], cotangent, [t for _, t in live], retain_graph=True, allow_unused=True)
    return UnpackedDualTensor(tensor.detach(), weir.zeros_like(tensor).detach() if tangent is None else tangent)
