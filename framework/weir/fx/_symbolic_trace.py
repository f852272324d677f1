"""Names under the module in which PyTorch keeps them."""
import builtins
import functools

from ._compatibility import compatibility  # noqa: F401
from ._proxyable import _proxyable_classes, ProxyableClassMeta  # noqa: F401
from .tracer import Tracer, symbolic_trace, wrap  # noqa: F401


def is_fx_tracing():
    """Does a trace run?"""
    import weir
    return getattr(weir.nn.Module.__call__, "__name__", "") == "module_call"


is_fx_symbolic_tracing = is_fx_tracing


@wrap
def _assert_is_none(value, msg):
    """AssertionError with `msg` for a value other than None; a call of it is a node."""
    if value is not None:
        raise AssertionError(msg)


class _Patcher:
    """Puts functions in the place of others, in tables of globals and in classes, until `with` ends."""

    def __init__(self):
        self.patches_made, self.visited = [], set()

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
