"""Dual numbers: a tensor with a tangent, which ops carry along (`framework/autograd/forward.h`). Source: torch.autograd.forward_ad's documentation."""
from collections import namedtuple

from _weir import _ForwardLevel, _forward_enabled as _is_fwd_grad_enabled, _set_forward_enabled  # noqa: F401

_levels: list = []  # those in force

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
UnpackedDualTensor.__doc__ = "What unpack_dual answers: the tensor without its tangent, and the tangent, or None."


def enter_dual_level():
    """Begins a level and answers its number. RuntimeError inside another: there is one at a time, as in PyTorch."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append(_ForwardLevel())
    return len(_levels) - 1


def exit_dual_level(*, level=None):
    """Ends the level; its duals are plain tensors from then on. RuntimeError where none is in force."""
    if not _levels or level not in (None, len(_levels) - 1):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _levels.pop().end()


class dual_level:
    """A level for the time of a `with`."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exc):
        exit_dual_level()


class _set_fwd_grad_enabled:
    """Whether ops push tangents on, for the time of a `with`."""

    def __init__(self, mode):
        self._before = _is_fwd_grad_enabled()
        _set_forward_enabled(mode)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _set_forward_enabled(self._before)


def make_dual(tensor, tangent, *, level=None):
    """A view of tensor with a tangent of its shape, cast to its dtype.

    RuntimeError outside a level, where tensor has a tangent already, and for another shape; ValueError for whole numbers.
    """
    if not _levels:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for what, t in (("tensor", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    if _levels[-1].tangent(tensor) is not None:
        raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported.")
    dual = tensor.view_as(tensor)
    _levels[-1].give(dual, tangent)
    return dual


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a tensor in the level in force; the tangent is None where it has none."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(_levels[-1].outside(tensor), _levels[-1].tangent(tensor))


def __getattr__(name):
    if name == "_current_level":
        return len(_levels) - 1
    raise AttributeError(f"module 'weir.autograd.forward_ad' has no attribute '{name}'")
