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


class BackwardHook:
    """Hooks of gradients round a module's call: `setup_input_hook` takes its arguments, then `setup_output_hook` what it gave.

    user_hooks are called with (module, grad_input, grad_output) once both are known, user_pre_hooks with (module, grad_output) before.
    RuntimeError, within backward, for hooks that give another number of gradients.
    """

    def __init__(self, module, user_hooks, user_pre_hooks):
        from weir.nn.modules._hooks import _BackwardWatch  # which stands on this module
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self._watch = _BackwardWatch(self)

    def _of_module(self, hooks):
        return [lambda _, *grads, hook=hook: hook(self.module, *grads) for hook in hooks]

    def _table(self, kind):
        return dict(enumerate(self._of_module(self.user_pre_hooks)))

    def _get_backward_hooks(self):
        return self._of_module(self.user_hooks), []

    def setup_input_hook(self, args):
        """The arguments, of which those that are tensors lead through the hooks."""
        return self._watch.enter(args)

    def setup_output_hook(self, args):
        """The output, of which those that are tensors lead through the hooks."""
        return self._watch.leave(args)


def add_hook(table: OrderedDict, hook, *, prepend: bool = False, flags=()) -> RemovableHandle:
    """Puts `hook` into `table` and returns its handle. `flags` are further tables that mark its id."""
    handle = RemovableHandle(table, extra_dict=list(flags))
    table[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle
