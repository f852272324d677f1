"""The old name of Tensor: `Variable(data, requires_grad=False)` is a tensor of its own over the memory of `data`.

Source: torch.autograd.Variable.
"""
import types
import warnings

from _weir import Tensor, _queue_callback

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """`data` without its history. TypeError for what is no tensor."""

    #: `queue_callback(fn)` calls fn() when the backward pass that is under way has ended. RuntimeError outside of one.
    _execution_engine = types.SimpleNamespace(queue_callback=_queue_callback)

    def __new__(cls, data=None, requires_grad=False, volatile=None, name=None):
        if volatile is not None:
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2)
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
