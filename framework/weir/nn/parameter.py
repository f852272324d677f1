"""Tensors that a module owns: Parameter (learned) and Buffer (kept)."""

import weir
from weir import Tensor
from weir._tensor import set_state, written_on
from weir._tensor_str import tensor_repr


class _ParameterMeta(type(Tensor)):
    """Tensors of a class of their own are parameters by the attribute `_is_param`, since they keep their class."""

    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a Module registers as a parameter when assigned as its attribute.

    Shares storage with `data`, and has its class where that is one of the program's own; `requires_grad` is True unless told.
    Raises TypeError when data is no tensor.
    """

    def __new__(cls, data=None, requires_grad: bool = True):
        if data is None:
            data = weir.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter: data must be a Tensor, got {type(data).__name__}")
        if type(data) is not Tensor and str(data.layout) != "torch.strided":
            raise NotImplementedError(f"Parameter: weir has none of layout {data.layout}; keep the values as the parameter")
        if type(data) is not Tensor and not issubclass(type(data), Parameter | Buffer):
            return _of_own_class(data, requires_grad)
        return weir._C._make_subclass(cls, data.detach(), requires_grad)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)(self.detach().clone(memory_format=weir.preserve_format), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self, *, tensor_contents=None):
        shown = tensor_repr(self)
        return "Parameter containing:\n" + (shown if type(self) is Parameter else f"Parameter({shown})")

    def __reduce_ex__(self, protocol):
        return _rebuild_parameter, (self.detach(), self.requires_grad, written_on(self))


def _of_own_class(data, requires_grad):
    t = data.detach().requires_grad_(requires_grad)
    if type(t) is not type(data):
        raise RuntimeError(f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance of the same "
                           f"type, but return type {type(t).__name__} was found instead. To use the type as a Parameter, please correct the "
                           "detach() semantics defined by its __torch_dispatch__() implementation.")
    t._is_param = True
    return t


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
    """A tensor without a shape: `materialize` gives it one. Ops and its `shape` raise until then."""

    def materialize(self, shape, device=None, dtype=None):
        """Takes memory for `shape`, not filled, and becomes a plain parameter or buffer."""
        self.data = weir.empty(shape, device=device or self.data.device, dtype=dtype or self.data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        """RuntimeError: there is none yet."""
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
                           "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
                           "to initialize the parameters before accessing their attributes.")

    def share_memory_(self):
        """RuntimeError: there is no memory yet."""
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
                           "before calling `module.share_memory()`.")

    def __repr__(self, *, tensor_contents=None):
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise ValueError(f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` "
                         f"or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call "
                         "`forward` with a dummy batch to initialize the parameters before calling torch functions")


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter without a shape."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return weir._C._make_subclass(cls, weir.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A Buffer without a shape."""

    cls_to_become = Buffer

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        result = weir._C._make_subclass(cls, weir.empty(0, device=device, dtype=dtype), requires_grad)
        result.persistent = persistent
        return result


def is_lazy(param):
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


def _rebuild_parameter(data, requires_grad, state):
    made = Parameter(data, requires_grad)
    set_state(made, state)
    return made
