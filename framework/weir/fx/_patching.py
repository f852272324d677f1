"""What stands in the place of functions while a trace runs, and is taken away again.

Ops know nothing of proxies: the functions of the package are replaced by ones that record a call when a proxy is among its arguments,
in the package and in the globals of the traced code. A subclass of Tracer may write a `trace` of its own of these pieces, as with PyTorch's.
"""
import builtins
import functools
import sys

import weir

from .proxy import find_proxy

_wrapped: list = []  # (globals, name) of functions that `wrap` marked as leaves


def _recording(function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        proxy = find_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", function, args, kwargs)
    return call


def _is_function(value):
    return callable(value) and not isinstance(value, type) and not getattr(value, "_weir_traced_through", False)


_SKIP = {"is_tensor", "typename", "manual_seed", "no_grad", "enable_grad", "compile", "is_grad_enabled", "as_torch"}


@functools.cache
def _functions():
    """[(module, name, function)] of what may see a proxy."""
    found = []
    for module in (weir.nn.functional, weir.special, weir.linalg, weir.fft, weir):
        for name, value in list(vars(module).items()):
            if not name.startswith("_") and _is_function(value) and name not in _SKIP and not isinstance(value, type(sys)):
                found.append((module, name, value))
    return found


class _Patcher:
    """Puts functions in the place of others, in tables of globals and in classes, until `with` ends."""

    def __init__(self):
        self.patches_made, self.visited = [], set()
        self.recorders: dict = {}  # id of a function -> what records its calls

    def _put(self, get, put, take, name, new_fn):
        self.patches_made.append((functools.partial(put, name, new_fn), functools.partial(put, name, get(name)) if take is None else take))
        self.patches_made[-1][0]()

    def patch(self, frame_dict, name, new_fn, deduplicate=True):
        """frame_dict[name] is new_fn from now on; a name of Python's own need not be there. KeyError for others that are not."""
        is_new = name not in frame_dict and hasattr(builtins, name)
        self._put(frame_dict.__getitem__, frame_dict.__setitem__, functools.partial(frame_dict.__delitem__, name) if is_new else None, name, new_fn)

    def patch_method(self, cls, name, new_fn, deduplicate=True):
        """cls.name is new_fn from now on."""
        self._put(functools.partial(getattr, cls), functools.partial(setattr, cls), None, name, new_fn)

    def visit_once(self, thing):
        """True for the first question about the thing."""
        is_new = id(thing) not in self.visited
        self.visited.add(id(thing))
        return is_new

    def revert_all_patches(self):
        """All is as it was before; reapply_all_patches puts the functions there again."""
        for _, revert in self.patches_made:
            revert()
        return self.patches_made

    def reapply_all_patches(self):
        for put, _ in self.patches_made:
            put()
        return self.patches_made

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        while self.patches_made:
            self.patches_made.pop()[1]()
        self.visited.clear()


def _patch_wrapped_functions(patcher):
    """The package's functions and those that `wrap` marked record calls with proxies until the patcher ends."""
    for module, name, value in _functions():
        current = vars(module)[name]  # the function, or what asks for rules in its place
        if id(current) not in patcher.recorders:
            patcher.recorders[id(current)] = patcher.recorders[id(value)] = _recording(current)
        patcher.patch(vars(module), name, patcher.recorders[id(current)])
    for table, name in _wrapped:
        patcher.patch(table, name, _recording(table[name] if name in table else getattr(builtins, name)))


def _autowrap_check(patcher, frame_dict, function_ids=()):
    """The same of what a module of the traced code imported: functions of the package, and those of the ids."""
    if frame_dict is vars(weir) or str(frame_dict.get("__name__", "")).startswith("weir") or not patcher.visit_once(frame_dict):
        return
    for name, value in list(frame_dict.items()):
        if name.startswith("_") and id(value) not in patcher.recorders:
            continue
        if id(value) in function_ids:
            patcher.recorders.setdefault(id(value), _recording(value))
        if id(value) in patcher.recorders and _is_function(value):
            patcher.patch(frame_dict, name, patcher.recorders[id(value)])
