"""Tracing of Python functions for nn.Graph and compile: nested values, what a trace depends on, and how it is made."""

import os
import random

import weir
from weir import _C
from weir._lazy import np

_C._set_package_folder(os.path.dirname(os.path.abspath(__file__)) + os.sep)

_SIMPLE = (bool, int, float, str, type(None), weir.dtype, weir.device)


class Structure:
    """A nested value (tuples, lists, dicts, dataclass-like objects stay as they are) with its tensors taken out.

    `key` compares and hashes by the shape of the nest and by everything in it that is not a tensor.
    """

    def __init__(self, value):
        self.tensors = []
        self._numbers = {}  # by id: one tensor is one, however often it stands there
        self.kept = []  # objects known by identity only: they must not be replaced by others at the same address
        self.key = self._take(value)

    def _take(self, value):
        if isinstance(value, weir.Tensor):
            number = self._numbers.setdefault(id(value), len(self.tensors))
            if number == len(self.tensors):
                self.tensors.append(value)
            return ("tensor", number, type(value))
        if isinstance(value, (tuple, list)):
            return ("sequence", type(value), tuple(self._take(v) for v in value))
        if isinstance(value, dict):
            return ("dict", type(value), tuple(value), tuple(self._take(v) for v in value.values()))
        if isinstance(value, float):  # by its bits: a NaN is equal to itself
            return ("float", value.hex()) if type(value) is float else ("kind of float", type(value), value.hex())
        if isinstance(value, _SIMPLE):
            return ("value", type(value), value)
        self.kept.append(value)
        return ("object", id(value), len(self.kept) - 1)

    def plain(self):
        """The nest as lists, texts and numbers, for JSON. ValueError where something else stands in it."""
        return self._plain(self.key)

    def _plain(self, key):
        kind = key[0]
        if kind == "tensor":
            return ["tensor", key[1]]
        if kind == "sequence" and key[1] in (tuple, list):
            return [key[1].__name__, [self._plain(k) for k in key[2]]]
        if kind == "dict" and all(isinstance(name, str) for name in key[2]):
            return ["dict", list(key[2]), [self._plain(k) for k in key[3]]]
        if kind == "float":
            return ["float", key[1]]
        if kind == "value" and key[1] in (bool, int, str, type(None)):
            return ["value", key[2]]
        raise ValueError(f"a graph's file holds tensors, numbers and texts in tuples, lists and dicts, not {key[1]}")

    @classmethod
    def from_plain(cls, plain):
        """The structure whose `plain` this is."""
        made = cls.__new__(cls)
        made.tensors, made.kept, made._numbers = [], [], {}
        made.key = cls._from_plain(plain)
        return made

    @classmethod
    def _from_plain(cls, plain):
        kind = plain[0]
        if kind == "tensor":
            return ("tensor", plain[1], weir.Tensor)
        if kind in ("tuple", "list"):
            return ("sequence", tuple if kind == "tuple" else list, tuple(cls._from_plain(p) for p in plain[1]))
        if kind == "dict":
            return ("dict", dict, tuple(plain[1]), tuple(cls._from_plain(p) for p in plain[2]))
        if kind == "float":
            return ("float", plain[1])
        if kind == "value":
            return ("value", type(plain[1]), plain[1])
        raise ValueError(f"a graph's file: {kind!r} is no kind of value")

    def build(self, tensors):
        """The value again, with other tensors."""
        return self._build(self.key, tensors)

    def _build(self, key, tensors):
        kind = key[0]
        if kind == "tensor":
            return tensors[key[1]]
        if kind == "sequence":
            parts = [self._build(k, tensors) for k in key[2]]
            return key[1](*parts) if hasattr(key[1], "_fields") else key[1](parts)
        if kind == "dict":
            parts = {name: self._build(k, tensors) for name, k in zip(key[2], key[3])}
            if key[1] is dict:
                return parts
            made = key[1]()
            made.update(parts)
            return made
        if kind == "float":
            return float.fromhex(key[1])
        if kind == "kind of float":  # NumPy's double
            return key[1](float.fromhex(key[2]))
        return key[2] if kind == "value" else self.kept[key[2]]


def modes():
    """What is special on this thread, as far as a trace depends on it."""
    return (weir.is_grad_enabled(), weir.autograd.grad_mode.is_inference_mode_enabled(), _C._autocast_enabled(), _C._autocast_dtype(),
            weir.get_default_dtype())


def _simple(value):
    if isinstance(value, _SIMPLE):
        return True
    return isinstance(value, tuple) and all(_simple(v) for v in value)


class ModuleGuard:
    """What a trace took from modules: their tensors by identity and memory, their children, and their plain attributes."""

    def __init__(self, modules):
        self._roots = list(modules)
        self._modules = []
        self._tensors = []
        self._watch = self._watched(_C._Watch())
        seen = set()
        for root in modules:
            for module in root.modules():
                if id(module) in seen:
                    continue
                seen.add(id(module))
                self._modules.append((module, self._facts(module)))
                self._tensors += [t for table in (module._parameters, module._buffers) for t in table.values() if t is not None]
        self._memory = [self._place(t) for t in self._tensors]

    def _watched(self, watch):
        """What tells at a glance that nothing changed: the same objects in the same places."""
        for root in self._roots:
            for module in root.modules():
                state = module.__dict__
                watch.dict(state)
                for table in ("_parameters", "_buffers", "_modules"):
                    watch.dict(state[table])
                    for t in state[table].values():
                        if isinstance(t, weir.Tensor):
                            watch.tensor(t)
                hooks = state.get("_hooks")
                for table in hooks.values() if isinstance(hooks, dict) else ():
                    if isinstance(table, dict):
                        watch.dict(table)
        return watch

    @staticmethod
    def _facts(module):
        state = module.__dict__
        tables = tuple((name, id(value)) for table in ("_parameters", "_buffers", "_modules") for name, value in state[table].items())
        plain = tuple((k, v) for k, v in state.items() if _simple(v))
        hooks = state.get("_hooks")
        return tables, plain, None if hooks is None else sum(len(h) for h in hooks.values() if hasattr(h, "__len__")) if isinstance(hooks, dict) else id(hooks)

    @staticmethod
    def _place(t):
        return t._storage_ptr(), t.storage_offset(), t.requires_grad, t.dtype, t.stride()

    def change(self):
        """None, or in words what is not as it was."""
        if self._watch.same():
            return None
        change = self._slow_change()
        if change is None:
            self._watch = self._watched(_C._Watch())
        return change

    def _slow_change(self):
        for module, facts in self._modules:
            now = self._facts(module)
            if now != facts:
                for what, a, b in zip(("tensors or children", "attributes", "hooks"), facts, now):
                    if a != b:
                        return f"{what} of a {type(module).__name__} changed{_difference(a, b)}"
        for t, place in zip(self._tensors, self._memory):
            if self._place(t) != place:
                return f"a tensor of shape {tuple(t.shape)} of a module has other memory, layout or requires_grad"
        return None


def _difference(a, b):
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return ""
    before, after = dict(a), dict(b)
    names = [n for n in {**before, **after} if before.get(n) != after.get(n)]
    return ": " + ", ".join(f"{n} was {before.get(n)!r}, is {after.get(n)!r}" for n in names[:3])


class _Paths:
    """While a trace is made, nodes are told the path of the module whose forward runs."""

    def __init__(self, modules):
        self._paths = {}
        for name, root in modules:
            for path, module in root.named_modules():
                self._paths.setdefault(id(module), f"{name}.{path}" if path else name)

    def __enter__(self):
        paths, plain = self._paths, weir.nn.Module.__call__

        def call(module, *args, **kwargs):
            path = paths.get(id(module))
            if path is None or not _C._is_tracing():
                return plain(module, *args, **kwargs)
            before = _C._set_module_path(path)
            try:
                return plain(module, *args, **kwargs)
            finally:
                _C._set_module_path(before)
        self._plain = plain
        if paths:  # to set it makes Python forget what it knows of all modules' classes
            weir.nn.Module.__call__ = call

    def __exit__(self, *exception):
        if self._paths:
            weir.nn.Module.__call__ = self._plain
        _C._set_module_path("")


class PythonState:
    """Python's own sources of change that a trace cannot see, to be compared before and after."""

    def __init__(self):
        self.random = random.getstate()
        self.numpy = np.random.get_state(legacy=True)

    def change(self):
        if self.random != random.getstate():
            return "it draws from Python's random"
        now = np.random.get_state(legacy=True)
        if self.numpy[2] != now[2] or not np.array_equal(self.numpy[1], now[1]):
            return "it draws from NumPy's random"
        return None


class paused:
    """A scope of eager mode within a trace, for state that is made once; nothing where no trace is made."""

    def __enter__(self):
        self._trace = _active[-1] if _active and _C._is_tracing() else None
        if self._trace is not None:
            self._trace.pause()

    def __exit__(self, *exception):
        if self._trace is not None:
            self._trace.resume()


_active = []


class tracing:
    """A scope in which ops are recorded; the trace is dropped where it ends by an exception."""

    def __init__(self, modules=()):
        self._paths = _Paths(modules)

    def __enter__(self):
        _C._clear_autocast_cache()
        self._trace = _C._Trace()
        _active.append(self._trace)
        self._paths.__enter__()
        return self._trace

    def __exit__(self, *exception):
        self._paths.__exit__(*exception)
        _active.pop()
        self._trace.stop()
        _C._clear_autocast_cache()
