"""The two tables that composites enter, and the one wrapper they share.

A name that the C++ core already has keeps the core's op: composites fill gaps and never shadow.
"""

import functools
import inspect

import weir
from weir import _C
from weir._C import Tensor

functions: dict = {}  # name -> function of the package
methods: dict = {}    # name -> method of Tensor
completed: set = set()  # names of the core's that calls pass through Python for


#: What `out=` may be, as `enum class Out` in framework/op/op.h: any dtype that the result casts to; not an input's
#: memory either; the result's own dtype either; a TypeError where the result does not cast; or the result's own dtype
#: in any memory. None stands for functions without `out=`.
OUT_CAST, OUT_APART, OUT_EXACT, OUT_JOINED, _, OUT_SAME = range(6)


def composite(function=None, *, method=True, public=True, out=OUT_CAST, numpy_names=True):
    """Enters a function as `weir.<name>`, and as Tensor method.

    It gains `out=`, NumPy's names of parameters, and a TypeError when its first parameter is annotated Tensor and gets something else.
    """
    if function is None:
        return functools.partial(composite, method=method, public=public, out=out, numpy_names=numpy_names)
    wrapped = with_out(function, out) if out is not None else _with_first(function, numpy_names)
    if public:
        functions.setdefault(function.__name__, wrapped)
    if method:
        methods.setdefault(function.__name__, wrapped)
    return wrapped


#: NumPy's names of parameters, which PyTorch's parsers take too.
_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def _by_our_names(kwargs, names):
    """`kwargs` with NumPy's names replaced where `names`, those of a function's parameters, have ours."""
    if kwargs.keys() <= names:
        return kwargs
    return {_NUMPY[k] if k not in names and _NUMPY.get(k) in names and _NUMPY[k] not in kwargs else k: v for k, v in kwargs.items()}


def completes(name):
    """Enters function(core, *args, **kwargs) in the place of the core's op and method `name`, for the calls that the op's one
    signature cannot hold. It passes all others on to `core`."""
    def enter(function):
        function = numpy_named(function)
        for table, core in ((functions, _C.ops["torch"].get(name)), (methods, Tensor.__dict__.get(name))):
            if core is not None:
                table[name] = functools.wraps(core, assigned=("__name__", "__doc__"))(functools.partial(function, core)) \
                    if table is functions else _method(function, core, name)
                completed.add(name)
        return function
    return enter


def numpy_named(function):
    """`function`, taking NumPy's names of its parameters too; what has no signature of Python's as it is."""
    if not inspect.isfunction(function):
        return function
    names = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return function(*args, **(_by_our_names(kwargs, names) if kwargs else kwargs))

    return wrapped


def _method(function, core, name):
    def method(self, *args, **kwargs):
        return function(core, self, *args, **kwargs)

    method.__name__, method.__doc__ = name, core.__doc__
    return method


def alias(name: str, target: str, method=True) -> None:
    """Gives the core's op `target` a second name, and with `method` its method and its in-place form too."""
    op = _C.ops["torch"].get(target) or functions.get(target)
    if op is None:
        return
    functions.setdefault(name, op)
    if not method:
        return
    methods.setdefault(name, op)
    if hasattr(Tensor, target + "_") or target + "_" in methods:
        methods.setdefault(name + "_", getattr(Tensor, target + "_", None) or methods[target + "_"])


def install() -> None:
    """Drops the names that the core has and attaches the methods to Tensor."""
    for name in [n for n in functions if n in _C.ops["torch"] and n not in completed]:
        del functions[name]
    for name in [n for n in methods if n in Tensor.__dict__ and n not in completed]:
        del methods[name]
    for name, function in methods.items():
        _C._add_method(name, function)


def with_out(function, rule=OUT_CAST, recorded=False):
    """`function` with a keyword `out`: a tensor, or a tuple of them, that takes the result.

    With `recorded` it takes `out` though inputs require grad, and out has the result's history then. A `recorded` that
    is a function says so of the call's arguments: where PyTorch ends in a copy for some of them only.
    """
    name, checked = function.__name__.lstrip("_"), _with_first(function)

    @functools.wraps(function)
    def wrapped(*args, out=None, **kwargs):
        if out is None:
            return checked(*args, **kwargs)
        result = checked(*args, **kwargs)
        inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        return _write(name, result, out, inputs, rule, recorded(*args, **kwargs) if callable(recorded) else recorded)

    return wrapped


def _with_first(function, numpy_names=True):
    """`function`, with a TypeError where its first parameter is annotated Tensor and gets something else."""
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None:
        return function
    if first.annotation is not Tensor:
        return numpy_named(function)
    names = frozenset(inspect.signature(function).parameters)
    name = function.__name__.lstrip("_")

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        if args and not isinstance(args[0], Tensor):
            raise TypeError(f"{name}(): argument '{first.name}' (position 1) must be Tensor, "
                            f"not {type(args[0]).__name__}")
        return function(*args, **(_by_our_names(kwargs, names) if kwargs and numpy_names else kwargs))

    return wrapped


def _write(name, result, out, inputs, rule, recorded):
    if isinstance(out, Tensor):
        return _C._write_out(name, out, result, inputs, rule, recorded)
    for part, target in zip(result, out):
        _write(name, part, target, inputs, rule, recorded)
    return type(result)(*out) if hasattr(result, "_fields") else tuple(out)


def in_place(function, name, resized=False):
    def written(self, *args, **kwargs):
        if not isinstance(self, Tensor):
            raise TypeError(f"descriptor '{name}_' for 'torch._C.TensorBase' objects doesn't apply to a "
                            f"'{type(self).__name__}' object")
        # A gradient formula may read self, which is about to be overwritten: it gets a copy to keep.
        recorded = any(isinstance(x, Tensor) and x.requires_grad for x in (self, *args, *kwargs.values()))
        source = self.clone() if recorded else self
        result = function(source, *args, **kwargs)
        if resized and self.shape != result.shape:
            return _C._write_out(name, self, result, [self.detach().expand(result.shape)], OUT_CAST, True, True)
        return self.copy_(result)

    written.__name__ = name + "_"
    written.__doc__ = f"`{name}` in place."
    return written


def autocast_as(precision):
    """Decorates a function that PyTorch's autocast treats as one op: within, autocast is off. Its floating tensors
    become the low dtype (`lower`), float32 (`float32`), or stay (`unchanged`), as `enum class Autocast` in op/op.h."""
    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            if not weir.is_autocast_enabled():
                return function(*args, **kwargs)
            dtype = {"lower": _C._autocast_dtype(), "float32": weir.float32}.get(precision)
            with weir.autocast("cpu", enabled=False):
                return function(*(_cast(x, dtype) for x in args), **{key: _cast(x, dtype) for key, x in kwargs.items()})

        return wrapped
    return decorate


def _cast(x, dtype):
    castable = dtype is not None and isinstance(x, Tensor) and x.is_floating_point() and x.dtype != weir.float64
    return x.to(dtype) if castable else x
