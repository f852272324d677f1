"""Hooks around a module's call. A module without hooks never comes here: `_hooks` is None until the first."""

from collections import OrderedDict

import weir
from weir import Tensor
from weir.utils.hooks import add_hook

_NO_HOOKS = OrderedDict()


class HookMixin:
    """Registration and running of forward and backward hooks of Module."""

    _hooks = None  # kind -> OrderedDict of id -> hook

    def _table(self, kind):
        return _NO_HOOKS if self._hooks is None else self._hooks.get(kind, _NO_HOOKS)

    def _own_table(self, kind):
        if self._hooks is None:
            object.__setattr__(self, "_hooks", {})
        return self._hooks.setdefault(kind, OrderedDict())

    def register_forward_pre_hook(self, hook, *, prepend: bool = False, with_kwargs: bool = False):
        """`hook(module, args)` runs before forward and may return new args (a tuple, or one value).

        With `with_kwargs` it is `hook(module, args, kwargs)` and returns None or (args, kwargs).
        """
        flags = [self._own_table("pre_with_kwargs")] if with_kwargs else []
        return add_hook(self._own_table("forward_pre"), hook, prepend=prepend, flags=flags)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """`hook(module, args, output)` runs after forward and may return a new output.

        With `with_kwargs` it is `hook(module, args, kwargs, output)`; `always_call` runs it after an exception too.
        """
        flags = [self._own_table("with_kwargs")] if with_kwargs else []
        flags += [self._own_table("always_call")] if always_call else []
        return add_hook(self._own_table("forward"), hook, prepend=prepend, flags=flags)

    def register_full_backward_hook(self, hook, prepend: bool = False):
        """`hook(module, grad_input, grad_output)` runs when gradients of the inputs are there; may replace them."""
        return add_hook(self._own_table("backward"), hook, prepend=prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook, prepend: bool = False):
        """`hook(module, grad_output)` runs before the module's backward and may replace grad_output."""
        return add_hook(self._own_table("backward_pre"), hook, prepend=prepend)

    def _call_with_hooks(self, args, kwargs):
        called = set()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            watch = None
            if self._table("backward") or self._table("backward_pre"):
                watch = _BackwardWatch(self)
                args = watch.enter(args)
            output = self.forward(*args, **kwargs)
            for key, hook in list(self._table("forward").items()):
                called.add(key)
                output = self._run_forward_hook(key, hook, args, kwargs, output)
            return output if watch is None else watch.leave(output)
        except Exception:
            for key, hook in list(self._table("forward").items()):
                if key in self._table("always_call") and key not in called:
                    self._run_forward_hook(key, hook, args, kwargs, None)
            raise

    def _run_pre_hooks(self, args, kwargs):
        for key, hook in list(self._table("forward_pre").items()):
            if key in self._table("pre_with_kwargs"):
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                                       f"but got {result}.")
                args, kwargs = result
            else:
                result = hook(self, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def _run_forward_hook(self, key, hook, args, kwargs, output):
        with_kwargs = key in self._table("with_kwargs")
        result = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
        return output if result is None else result


class _BackwardWatch:
    """Puts identity nodes round a module's call, where its hooks see and replace gradients."""

    def __init__(self, module):
        self._module = module
        self._grad_output = None
        self._watches_input = False

    def enter(self, args):
        """`args` with the tensors that require grad passed through a node that sees grad_input."""
        args = tuple(args)
        found = [a for a in args if isinstance(a, Tensor)]
        if not (weir.is_grad_enabled() and any(a.requires_grad for a in found)):
            return args
        self._watches_input = True
        return _replace(args, _identity(self._on_grad_input, found))

    def leave(self, output):
        """`output` with its tensors passed through a node that sees grad_output."""
        parts = output if isinstance(output, (tuple, list)) else (output,)
        found = [o for o in parts if isinstance(o, Tensor)]
        if not any(o.requires_grad for o in found):
            return output
        replaced = _replace(parts, _identity(self._on_grad_output, found))
        return type(output)(replaced) if isinstance(output, (tuple, list)) else replaced[0]

    def _on_grad_output(self, grads):
        for hook in self._module._table("backward_pre").values():
            result = hook(self._module, grads)
            if result is not None:
                grads = result if isinstance(result, tuple) else (result,)
        self._grad_output = grads
        if not self._watches_input:
            self._run_hooks((None,))
        return grads

    def _on_grad_input(self, grads):
        return self._run_hooks(grads)

    def _run_hooks(self, grads):
        for hook in self._module._table("backward").values():
            result = hook(self._module, grads, self._grad_output)
            if result is not None:
                grads = result if isinstance(result, tuple) else (result,)
        return grads


def _identity(on_grad, tensors):
    class Identity(weir.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            return tuple(t.view_as(t) for t in inputs)

        @staticmethod
        def backward(ctx, *grads):
            return tuple(on_grad(grads))

    return Identity.apply(*tensors)


def _replace(values, tensors):
    tensors = iter(tensors)
    return tuple(next(tensors) if isinstance(v, Tensor) else v for v in values)
