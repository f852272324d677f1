"""Which formula a call with a sparse argument takes: one table, name -> function, for functions, methods and operators.

Nothing here runs in a program without sparse tensors: `activate` joins the package with the first of them.
"""
from types import MethodType

import weir
from weir import overrides
from weir._C import Tensor, _add_method

_RULES: dict = {}

#: What may be asked of a sparse tensor's shape and dtype alone, or runs through its other methods.
_PLAIN = frozenset("""dim ndimension size numel nelement element_size is_floating_point is_complex is_conj is_neg backward is_signed
    is_inference is_same_size get_device is_distributed float double half bfloat16 long int short char byte bool cfloat
    cdouble new_tensor is_shared adjoint module_load""".split())
_OBJECT = frozenset("""__class__ __new__ __init__ __getattribute__ __setattr__ __delattr__ __dir__ __reduce__ __sizeof__ __getstate__
    __init_subclass__ __subclasshook__ __torch_function__ __doc__ __dict__ __weakref__ __module__""".split())
#: Functions that work on any object.
_THROUGH = frozenset("""save load numel is_floating_point is_complex compile is_same_size is_signed is_conj is_neg is_inference get_device
    detach layout vmap result_type can_cast is_storage""".split())
_OPERATORS = {"__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__floordiv__": "floor_divide", "__pow__": "pow",
              "__matmul__": "matmul", "__neg__": "neg", "__abs__": "abs", "__pos__": "positive", "__mod__": "remainder",
              "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__eq__": "eq", "__ne__": "ne",
              "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__invert__": "bitwise_not"}
_ALIASES = {"subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "absolute": "abs", "negative": "neg",
            "swapaxes": "transpose", "swapdims": "transpose", "dsmm": "mm", "spmm": "mm", "saddmm": "addmm", "concat": "cat",
            "concatenate": "cat", "fix": "trunc", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh"}
#: Methods of a dense tensor that take a sparse one.
_MIXED = "add add_ sub sub_ mul mul_ div mm matmul addmm addmm_ sparse_mask copy_ bmm smm".split()


def rule(*names):
    """Makes the function the formula of these names."""
    def register(function):
        _RULES.update(dict.fromkeys(names, function))
        return function
    return register


def call(name, args, kwargs):
    """The result of the rule for `name`. NotImplementedError, with the name and the layouts, where there is none."""
    from . import _arithmetic, _places, _products  # noqa: F401  (which register their rules)
    from ._tensor import is_sparse
    name = _ALIASES.get(name, name)
    found = _RULES.get(name)
    if found is not None:
        return found(*args, **kwargs)
    plain = _ALIASES.get(name[:-1], name[:-1])
    if name.endswith("_") and not name.endswith("__") and plain in _RULES and is_sparse(args[0]):
        return _in_place(plain, args, kwargs)
    raise NotImplementedError(f"{name}: weir has no formula for it on tensors of layout {layouts(args, kwargs)}")


def _in_place(name, args, kwargs):
    from ._arithmetic import KEEP_ZERO
    input = args[0]
    if name in KEEP_ZERO and input.layout == weir.sparse_coo and not input.is_coalesced():
        raise RuntimeError(f"{name}_ requires coalesced input")  # the same place may come twice
    return becomes(input, _RULES[name](*args, **kwargs), f"{name}_")


def check_fits(result, dtype, name):
    """RuntimeError where a result of one dtype may not be written into a tensor of the other."""
    if not weir.can_cast(result, dtype):
        raise RuntimeError(f"{name}: result type {result} can't be cast to the desired output type {dtype}")


def becomes(input, result, name):
    """A sparse tensor in place: with the values of `result`, in its own dtype."""
    check_fits(result.dtype, input.dtype, name)
    return input._become(result.to(input.dtype))


def layouts(args, kwargs=()):
    """The layouts of all tensors among the arguments, as text."""
    found = [a for a in overrides._flat(args, dict(kwargs)) if isinstance(a, Tensor)]
    return ", ".join(dict.fromkeys(str(t.layout) for t in found))


def call_function(function, args, kwargs):
    """What `__torch_function__` of a sparse tensor answers."""
    name = getattr(function, "__name__", "")
    if name in _THROUGH:
        return getattr(function, "_function", function)(*args, **kwargs)  # without asking again
    return call(name, args, kwargs)


def _method(name):
    name = _OPERATORS.get(name, name)

    def method(self, *args, **kwargs):
        return call(name, (self, *args), kwargs)
    method.__name__ = name
    return method


def _reflected(name):
    def method(self, other):
        return call(name, (other, self), {})
    method.__name__ = f"r{name}"
    return method


def equip(cls):
    """Gives a class of sparse tensors the methods of Tensor that it does not define, by the table."""
    for name, value in Tensor.__dict__.items():
        if name in _PLAIN or name in _OBJECT or name in vars(cls) or not callable(value) or isinstance(value, (type, classmethod)):
            continue
        setattr(cls, name, _method(name))
    for name in ("add", "sub", "mul", "truediv", "floordiv", "pow", "matmul", "mod"):
        setattr(cls, f"__r{name}__", _reflected(_OPERATORS[f"__{name}__"]))
    for name in ("real", "imag"):
        setattr(cls, name, property(_method(name)))


_active = False


def activate():
    """From now on functions, methods of dense tensors, backward and optimizers see sparse tensors."""
    global _active
    if _active:
        return
    _active = True
    from . import _gradients
    overrides.ask_for_rules()
    from ._tensor import is_sparse
    _gradients.join()
    for name in _MIXED:
        _add_method(name, _Mixed(name, getattr(Tensor, name), is_sparse))
    for operator, name in (("__iadd__", "add_"), ("__isub__", "sub_"), ("__imul__", "mul_")):
        setattr(Tensor, operator, _Mixed(name, getattr(Tensor, operator), is_sparse))


class _Mixed(overrides._Asking):
    """A method of dense tensors that sees sparse ones. It equals the method, which tables of programs may hold from before."""

    def __init__(self, name, dense, is_sparse):
        super().__init__(dense)
        self.__name__, self._is_sparse = name, is_sparse

    def __get__(self, tensor, owner=None):
        return self if tensor is None else MethodType(self, tensor)

    def __call__(self, tensor, *args, **kwargs):
        if any(map(self._is_sparse, args)) or kwargs and any(map(self._is_sparse, kwargs.values())):
            return call(self.__name__, (tensor, *args), kwargs)
        return self._function(tensor, *args, **kwargs)

    def __reduce__(self):
        return getattr, (Tensor, self.__name__)
