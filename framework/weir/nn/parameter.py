"""Tensors that a module owns: Parameter (learned) and Buffer (kept)."""

import weir
from weir import Tensor
from weir._tensor_str import tensor_repr


class Parameter(Tensor):
    """A tensor that a Module registers as a parameter when assigned as its attribute.

    Shares storage with `data`; `requires_grad` is True unless told. Raises TypeError when data is no tensor.
    """

    def __new__(cls, data=None, requires_grad: bool = True):
        if data is None:
            data = weir.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter: data must be a Tensor, got {type(data).__name__}")
        return weir._C._make_subclass(cls, data.detach(), requires_grad)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)(self.detach().clone(memory_format=weir.preserve_format), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self, *, tensor_contents=None):
        return "Parameter containing:\n" + tensor_repr(self)

    def __reduce_ex__(self, protocol):
        return _rebuild_parameter, (self.detach(), self.requires_grad)


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when assigned as its attribute.

    `persistent=False` keeps it out of the state_dict.
    """

    def __new__(cls, data=None, *, persistent: bool = True):
        if data is None:
            data = weir.empty(0)
        result = weir._C._make_subclass(cls, data.detach(), data.requires_grad)
        result.persistent = persistent
        return result


class UninitializedTensorMixin:
    """Marker of lazily shaped parameters, which weir does not have; `isinstance` is always False."""


def _rebuild_parameter(data, requires_grad):
    return Parameter(data, requires_grad)
