"""Hooks that can be taken off again."""

import itertools
import weakref
from collections import OrderedDict

_ids = itertools.count()


class RemovableHandle:
    """Returned by every `register_*_hook`; `remove()` takes the hook off. Also a context manager."""

    def __init__(self, hooks: dict, *, extra_dict=()):
        self.id = next(_ids)
        self.hooks_dict_ref = weakref.ref(hooks)
        extra = extra_dict if isinstance(extra_dict, (list, tuple)) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(table) for table in extra)

    def remove(self) -> None:
        """Takes the hook off; doing so twice is harmless."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(table() for table in self.extra_dict_ref)

    def __setstate__(self, state):
        tables = [OrderedDict() if table is None else table for table in (state[0], *state[2])]
        self.__init__(tables[0], extra_dict=tables[1:])
        self.id = state[1]

    def __enter__(self):
        return self

    def __exit__(self, *exception) -> None:
        self.remove()


def add_hook(table: OrderedDict, hook, *, prepend: bool = False, flags=()) -> RemovableHandle:
    """Puts `hook` into `table` and returns its handle. `flags` are further tables that mark its id."""
    handle = RemovableHandle(table, extra_dict=list(flags))
    table[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle
