"""Tables of the ops that a program declares, and `torch.library.Library`, which declares and implements them.

Source: torch.library (what may be declared twice, what goes with a library).
"""
import contextlib
import functools
import re
import weakref

import weir

from ._op_defs import OpDef
from ._ops import OpOverload, OpOverloadPacket

_table: dict = {}  # "ns::name" or "ns::name.overload" -> OpDef
_packets: dict = {}  # "ns::name" -> OpOverloadPacket
_early_kernels: dict = {}  # "ns::name" or "ns::name.overload" -> [(key, kernel)] for an op that nobody defined yet
_defining = weakref.WeakValueDictionary()  # namespace -> the Library of kind "DEF" that has it


def _register(op):
    """Enters an op, in place of one of that name."""
    _table[op.full_name] = op
    _packets.setdefault(op.name, OpOverloadPacket(op.name)).add(op)
    for kind, fn in _early_kernels.pop(op.full_name, ()):
        _enter(op, kind, fn)


def _remove(op):
    if _table.get(op.full_name) is op:
        del _table[op.full_name]
        _packets[op.name].remove(op)
        if not _packets[op.name].overloads():
            del _packets[op.name]


def _check_name(name):
    if not re.fullmatch(r"\w+::\w+", name):
        raise ValueError(f"Expected op name to be of the form `namespace::name`, got {name!r}")


def _as_tags(tags):
    return tags if isinstance(tags, (tuple, list, set)) else () if tags is None else (tags,)


def _name_of(op):
    if isinstance(op, OpOverloadPacket):
        return op._qualified_op_name
    name = op if isinstance(op, str) else op.name() if isinstance(op, OpOverload) else op._op.name
    return name.removesuffix(".default")


def _find(op):
    if _name_of(op) not in _table:
        raise RuntimeError(f"library: there is no op {_name_of(op)}; define it first")
    return _table[_name_of(op)]


def _define(qualname, schema, tags):
    name, _, overload = qualname.partition(".")
    op = OpDef(name, schema, overload, _as_tags(tags))
    if qualname in _table:
        raise RuntimeError(f"Tried to register an operator ({op.schema}) with the same name and overload name multiple times. Each overload's "
                           "schema should only be registered with a single call to def().")
    _register(op)
    return op


@functools.singledispatch
def define(qualname, schema, *, lib=None, tags=()):
    """Declares an op: define("ns::name", "(Tensor x) -> Tensor"), or of old, as a decorator, define(library, "name(Tensor x) -> Tensor").
    RuntimeError for one that is there already."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    if not re.fullmatch(r"[\w.]+::[\w.]+", qualname):
        raise ValueError(f'Expected `qualname` to be of the form "namespace::name", but got {qualname}.')
    if not re.fullmatch(r"\(.*\) -> .*", schema, re.S):
        raise ValueError(f'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{schema}"')
    op = _define(qualname, schema, tags)
    if lib is not None:
        lib._mine.append(op)


_KEYS = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta", "CompositeExplicitAutograd": None, "default": None,
         "CompositeImplicitAutograd": "composite", "": "composite", "Autograd": "autograd", "AutogradCPU": "autograd"}


def _enter(op, kind, fn):
    if kind == "Meta":
        op.fake = fn
    else:
        op.kernels[_KEYS.get(kind, kind)] = fn


def _implement(name, kind, fn):
    """Enters a kernel of an op, which may be defined later."""
    name = name.removesuffix(".default")
    if name in _table:
        _enter(_table[name], kind, fn)
    else:
        _early_kernels.setdefault(name, []).append((kind, fn))


@functools.singledispatch
def impl(qualname, types, func=None, *, lib=None):
    """Implements an op for device types: "cpu", "default" for all. Of old, as a decorator, impl(library, "name", key)."""
    kinds = [types] if isinstance(types, str) else list(types)
    for kind in kinds:
        if kind != "default":
            weir.device(kind)  # RuntimeError for what is no device

    def register(fn):
        for kind in kinds:
            key = "CompositeExplicitAutograd" if kind == "default" else kind
            if lib is not None:
                lib.impl(qualname, fn, key.upper() if key == kind else key)
            else:
                _implement(qualname, key, fn)
        return fn
    return register if func is None else register(func)


class Library:
    """Ops of one namespace. Library("ns", "DEF").define("name(Tensor x) -> Tensor"); .impl("name", fn, "CPU"). They go with it."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF":
            if ns == "aten" or ns in _defining:
                raise RuntimeError(f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your definitions in a "
                                   "single TORCH_LIBRARY block.")
            _defining[ns] = self
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._mine, self._kernels = [], {}  # ops; (op's name, key) -> what was in the kernel's place
        self._finalizer = weakref.finalize(self, _withdraw, self._mine, self._kernels)
        self._finalizer.atexit = False

    def define(self, schema, alias_analysis="", *, tags=()):
        name, bracket, rest = schema.partition("(")
        if not bracket:
            raise RuntimeError(f"Tried to parse a function schema but only the operator name was given: {schema}")
        name = name.strip().removeprefix(f"{self.ns}::")
        self._mine.append(_define(f"{self.ns}::{name}", bracket + rest, tags))
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = f"{self.ns}::{name.removeprefix(f'{self.ns}::').removesuffix('.default')}"
        key = dispatch_key or self.dispatch_key
        if (name, key) in _python_kernels and not allow_override:
            raise RuntimeError(f"This is not allowed since there's already a kernel registered from python overriding {name}'s behavior for "
                               f"{key or 'CompositeImplicitAutograd'} dispatch key and {self.ns} namespace.")
        before = _table[name].kernels.get(_KEYS.get(key, key)) if name in _table else None
        self._kernels.setdefault((name, key), before)
        _python_kernels.add((name, key))
        _implement(name, key, fn)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        raise NotImplementedError("Library.fallback: weir has no dispatcher")

    def _destroy(self):
        self._finalizer()
        if _defining.get(self.ns) is self:
            del _defining[self.ns]


_python_kernels: set = set()  # (op's name, key) of what a Library implemented


def _withdraw(ops, kernels):
    """A library's ops, and its kernels of other libraries' ops, go."""
    for (name, key), before in kernels.items():
        _python_kernels.discard((name, key))
        if name in _table and key != "Meta":
            _table[name].kernels[_KEYS.get(key, key)] = before
    for op in ops:
        _remove(op)


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    """A Library that goes at the end of the scope."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


@define.register
def _(lib: Library, schema, alias_analysis=""):
    def register(fn):
        lib.impl(lib.define(schema, alias_analysis), fn)
        return fn
    return register


@impl.register
def _(lib: Library, name, dispatch_key=""):
    def register(fn):
        lib.impl(name, fn, dispatch_key)
        return fn
    return register
