"""Ops written in Python: `torch.library`. They are called as `torch.ops.ns.name(...)`, with gradients when registered.

There is no dispatcher: an op runs the implementation registered for the device of its first tensor, or for all.
"""
import functools
import inspect
import re
import typing
from collections import OrderedDict

import weir
from weir import Tensor

from ._absent import absent
from ._op_defs import OpDef, early_fakes, unaliased

_table: dict = {}  # "ns::name" -> OpDef


class OpOverload:
    """One signature of an op; weir's ops have one, `default`."""

    def __init__(self, packet, name):
        self._packet, self._overload = packet, name
        self.__name__, self._schema = f"{packet._op.name.split('::')[1]}.{name}", packet._op.name + packet._op.schema

    def __call__(self, *args, **kwargs):
        return self._packet(*args, **kwargs)

    def name(self):
        return self._packet._op.name

    @property
    def overloadpacket(self):
        return self._packet

    def __str__(self):
        return f"{self._packet}.{self._overload}"

    def __repr__(self):
        return f"<OpOverload(op='{self._packet._op.name.replace('::', '.')}', overload='{self._overload}')>"


class OpOverloadPacket:
    """`torch.ops.ns.name`"""

    def __init__(self, op):
        self._op = op
        self.__name__ = op.name.split("::")[1]

    def __call__(self, *args, **kwargs):
        return self._op(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return OpOverload(self, name)

    def overloads(self):
        return ["default"]

    def __str__(self):
        return self._op.name.replace("::", ".")

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._op.name.replace('::', '.')}')>"


def _to_copy(input, *, dtype=None, layout=None, device=None, pin_memory=False, non_blocking=False, memory_format=None):
    return input.to(device=device or input.device, dtype=dtype or input.dtype, non_blocking=non_blocking, copy=True,
                    memory_format=memory_format or weir.preserve_format)


#: Ops that PyTorch names in `torch.ops.aten` only.
_ATEN_ONLY = {"_to_copy": _to_copy, "alias": lambda input: input.view_as(input), "_unsafe_view": weir.reshape,
              "lift_fresh": lambda input: input, "lift_fresh_copy": weir.clone}


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        op = _table.get(f"{self.name}::{name}")
        if op is not None:
            return OpOverloadPacket(op)
        if self.name in ("aten", "prims") and not name.startswith("__"):
            function = (_ATEN_ONLY.get(name) or getattr(weir, name, None) or getattr(weir.Tensor, name, None) or
                        getattr(weir.nn.functional, name, None))
            # PyTorch has some 3,000 names here. One that is not ours imports, and using it is refused.
            value = _Aten(function if callable(function) else absent(f"ops.{self.name}.{name}"), name)
            setattr(self, name, value)
            return value
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")


class _Aten:
    """`torch.ops.aten.name`: the package's function of that name."""

    def __init__(self, function, name):
        self._function, self.__name__, self.tags = function, name, []  # no tags are known

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __str__(self):
        return f"aten.{self.__name__}"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Ops:
    """`torch.ops`"""

    loaded_libraries: set = set()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        space = _Namespace(name)
        setattr(self, name, space)
        return space

    def load_library(self, path):
        raise OSError("ops.load_library: weir cannot load PyTorch's compiled extensions")

    def import_module(self, module):
        import importlib
        importlib.import_module(module)


ops = _Ops()


_TYPES = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", complex: "complex",
          weir.dtype: "ScalarType", weir.device: "Device", type(None): "()"}


def _type_text(annotation):
    if isinstance(annotation, str):
        annotation = {"Tensor": Tensor, "torch.Tensor": Tensor, "int": int, "float": float, "bool": bool, "str": str,
                      "None": type(None)}.get(annotation, annotation)
    if annotation in _TYPES:
        return _TYPES[annotation]
    if annotation is None:
        return "()"
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (list, typing.Sequence) or getattr(origin, "__name__", "") == "Sequence":
        return f"{_type_text(args[0])}[]"
    if type(None) in args:
        return f"{_type_text(next(a for a in args if a is not type(None)))}?"
    if origin is typing.Union and set(args) <= {int, float, bool, complex}:
        return "Scalar"
    if origin is tuple:
        return "(" + ", ".join(map(_type_text, args)) + ")"
    raise ValueError(f"infer_schema(func): Parameter has unsupported type {annotation}.")


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """The schema of an annotated function. ValueError for what has no annotation or an unknown one."""
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    parts, star = [], False
    for index, (name, p) in enumerate(signature.parameters.items()):
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if name not in hints:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature {signature})")
        text = _type_text(hints[name])
        if mutates_args == "unknown" or name in mutates_args:
            text = text.replace("Tensor", f"Tensor(a{index}!)", 1)
        default = "" if p.default is p.empty else f"={p.default!r}" if isinstance(p.default, str) else f"={p.default}"
        parts.append(f"{text} {name}{default}")
    result = _type_text(hints.get("return")) if "return" in hints else "()"
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


class CustomOpDef:
    """A function that is an op. Source: torch.library.CustomOpDef."""

    def __init__(self, op, init_fn):
        self._op, self._init_fn, self._name, self._qualname = op, init_fn, op.name.split("::")[1], op.name
        functools.update_wrapper(self, init_fn)

    @property
    def _opoverload(self):
        return OpOverload(OpOverloadPacket(self._op), "default")

    def __call__(self, *args, **kwargs):
        return self._op(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        if fn is None:
            return lambda f: self.register_kernel(device_types, f)
        register_kernel(self._op.name, device_types, unaliased(self._op, fn))
        return fn

    def register_fake(self, fn, /):
        return register_fake(self._op.name, fn)

    register_abstract = register_fake

    def register_autograd(self, backward, /, *, setup_context=None):
        register_autograd(self._op.name, backward, setup_context=setup_context)

    def register_torch_dispatch(self, *args, **kwargs):
        raise NotImplementedError("register_torch_dispatch: weir has no dispatch modes")

    def register_vmap(self, func=None):
        return register_vmap(self._op.name, func)

    def register_autocast(self, device_type, cast_inputs):
        return register_autocast(self._op.name, device_type, cast_inputs)

    def __repr__(self):
        return f"<CustomOpDef({self._op.name})>"


def _check_name(name):
    if not re.fullmatch(r"\w+::\w+", name):
        raise ValueError(f"Expected op name to be of the form `namespace::name`, got {name!r}")


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Decorates an annotated function: it becomes the op `torch.ops.ns.name`. ValueError for a name that is not "ns::name"."""
    def inner(fn):
        _check_name(name)
        text = schema or infer_schema(fn, mutates_args=mutates_args)
        op = OpDef(name, text)
        for kind in [device_types] if isinstance(device_types, (str, type(None))) else device_types:
            op.kernels[kind] = unaliased(op, fn)
        _table[name] = op
        return CustomOpDef(op, fn)
    return inner if fn is None else inner(fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """As custom_op."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    raise NotImplementedError("wrap_triton: weir has no CUDA back end")


def _find(op):
    name = op if isinstance(op, str) else op.name() if isinstance(op, OpOverload) else op._op.name
    if name not in _table:
        raise RuntimeError(f"library: there is no op {name}; define it first")
    return _table[name]


def define(qualname, schema, *, lib=None, tags=()):
    """Declares an op: define("ns::name", "(Tensor x) -> Tensor")."""
    _check_name(qualname)
    _table[qualname] = OpDef(qualname, schema)


_KEYS = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta", "CompositeExplicitAutograd": None, "default": None,
         "CompositeImplicitAutograd": "composite", "": "composite", "Autograd": "autograd", "AutogradCPU": "autograd"}


def _enter(op, kind, fn):
    if kind == "Meta":
        op.fake = fn
    else:
        op.kernels[_KEYS.get(kind, kind)] = fn


def impl(qualname, types, func=None, *, lib=None):
    """Implements an op for device types: "cpu", "default" for all."""
    def register(fn):
        for kind in [types] if isinstance(types, str) else types:
            _enter(_find(qualname), "CompositeExplicitAutograd" if kind == "default" else kind, fn)
        return fn
    return register if func is None else register(func)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    def register(fn):
        for kind in [device_types] if isinstance(device_types, (str, type(None))) else device_types:
            _find(op).kernels[kind] = fn
        return fn
    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """What the op gives for tensors without memory (device "meta"). An op that is not defined yet finds it when it is."""
    def register(fn):
        if isinstance(op, str) and op not in _table:
            early_fakes[op] = fn  # of a library whose compiled part cannot be loaded here: only calls of the op fail
        else:
            _find(op).fake = fn
        return fn
    return register if func is None else register(func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """register_fake under its name of old."""
    return register_fake(qualname, func, lib=lib)



def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """backward(ctx, *grads) gives the gradients; setup_context(ctx, inputs, output) keeps what it needs."""
    found = _find(op)
    found.backward, found.setup_context = backward, setup_context


def register_vmap(op, func=None, /, *, lib=None):
    """func(info, in_dims, *args) answers for a batch: (results, the batch's dim in each). Without one, vmap takes example by example."""
    def register(fn):
        _find(op).vmap = fn
        return fn
    return register if func is None else register(func)


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None, allow_override=False):
    raise NotImplementedError("register_torch_dispatch: weir has no dispatch modes")


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Inside autocast the op runs on inputs cast to `cast_inputs`."""
    from weir.amp.autocast_mode import _cast
    found = _find(op)
    for kind, fn in list(found.kernels.items()):
        def cast(*args, _fn=fn, **kwargs):
            if not weir.is_autocast_enabled(device_type):
                return _fn(*args, **kwargs)
            with weir.autocast(device_type, enabled=False):
                return _fn(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
        found.kernels[kind] = cast


def fallthrough_kernel():
    """Marks a dispatch key as not of interest."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Library:
    """Ops of one namespace. Library("ns", "DEF").define("name(Tensor x) -> Tensor"); .impl("name", fn, "CPU")."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "aten" and kind != "IMPL":
            raise ValueError("aten is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._mine = []

    def define(self, schema, alias_analysis="", *, tags=()):
        name = schema.split("(")[0].split(".")[0].strip()
        define(f"{self.ns}::{name}", schema[len(schema.split("(")[0]):])
        self._mine.append(f"{self.ns}::{name}")
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = name.split("::")[-1].split(".")[0]
        _enter(_find(f"{self.ns}::{name}"), dispatch_key or self.dispatch_key, fn)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        raise NotImplementedError("Library.fallback: weir has no dispatcher")

    def _destroy(self):
        for name in self._mine:
            _table.pop(name, None)


def get_ctx():
    raise RuntimeError("get_ctx: there is no fake context")


def get_kernel(op, dispatch_key, *args):
    return _find(op).kernels.get(_KEYS.get(dispatch_key, dispatch_key))


def opcheck(op, args, kwargs=None, *, test_utils=None, raise_exception=True, atol=None, rtol=None):
    """Runs the op and checks that its fake, where there is one, gives the same shapes and dtypes. Returns what was checked."""
    found = _find(op)
    result = found(*args, **(kwargs or {}))
    checked = {"test_schema": "SUCCESS"}
    if found.fake is not None:
        fake = found.fake(*args, **(kwargs or {}))
        for a, b in zip(*(x if isinstance(x, (tuple, list)) else [x] for x in (result, fake))):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise RuntimeError(f"opcheck: {found.name} gives {tuple(a.shape)} {a.dtype}, its fake {tuple(b.shape)} {b.dtype}")
        checked["test_faketensor"] = "SUCCESS"
    return checked
