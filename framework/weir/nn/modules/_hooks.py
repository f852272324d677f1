"""Hooks around a module's call. A module without hooks never comes here: `_hooks` is None until the first.

Hooks on all modules stand in tables here; the first turns the class's `_hooks` from None, so that every call comes by.
"""

import warnings
from collections import OrderedDict
from functools import partial

import weir
from weir import Tensor
from weir.utils.hooks import add_hook

_NO_HOOKS = OrderedDict()
_shared: dict = {}  # kind -> OrderedDict of id -> hook, for all modules


class HookMixin:
    """Registration and running of forward and backward hooks of Module."""

    _hooks = None  # kind -> OrderedDict of id -> hook
    _is_full_backward_hook = None  # what kind those in the table "backward" are

    def _table(self, kind):
        own = _NO_HOOKS if self._hooks is None else self._hooks.get(kind, _NO_HOOKS)
        return OrderedDict({**_shared[kind], **own}) if _shared.get(kind) else own

    def _own_table(self, kind):
        if "_hooks" not in self.__dict__:
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
        self._choose_backward_hooks(True)
        return add_hook(self._own_table("backward"), hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """`hook(module, grad_input, grad_output)` runs after the node that made the output, and sees what goes in and out of that node. Deprecated."""
        self._choose_backward_hooks(False)
        return add_hook(self._own_table("backward"), hook)

    def _choose_backward_hooks(self, full):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them.")
        object.__setattr__(self, "_is_full_backward_hook", full)

    def _get_backward_hooks(self):
        """(full backward hooks, those of the older kind): of all modules, then the module's own."""
        kinds = [], []
        for hooks, full in ((_shared.get("backward", _NO_HOOKS), _full_backward_hooks), ((self._hooks or {}).get("backward", _NO_HOOKS), self._is_full_backward_hook)):
            kinds[full is False].extend(hooks.values())
        return kinds

    def _get_backward_pre_hooks(self):
        """The hooks before the module's backward: of all modules, then its own."""
        return list(self._table("backward_pre").values())

    def register_full_backward_pre_hook(self, hook, prepend: bool = False):
        """`hook(module, grad_output)` runs before the module's backward and may replace grad_output."""
        return add_hook(self._own_table("backward_pre"), hook, prepend=prepend)

    def _call_with_hooks(self, args, kwargs):
        if HookMixin._hooks is not None and not any(_shared.values()):
            HookMixin._hooks = None  # those on all modules were taken off
        called = set()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            watch, given = None, args
            full, older = self._get_backward_hooks()
            if full or self._table("backward_pre"):
                watch = _BackwardWatch(self)
                args = watch.enter(args)
            output = self.forward(*args, **kwargs)
            for key, hook in list(self._table("forward").items()):
                called.add(key)
                output = self._run_forward_hook(key, hook, args, kwargs, output)
            output = output if watch is None else watch.leave(output)
            if older:
                _hook_node(self, older, given, output)
            return output
        except Exception:
            for key, hook in list(self._table("forward").items()):
                if key not in self._table("always_call") or key in called:
                    continue
                try:
                    self._run_forward_hook(key, hook, args, kwargs, None)
                except Exception as error:  # the first error is the one to tell
                    warnings.warn(f"module forward hook with `always_call=True` raised {type(error).__name__}: {error}; the error "
                                  "that was raised before it goes on", stacklevel=2)
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


def _shared_table(kind):
    HookMixin._hooks = {}
    return _shared.setdefault(kind, OrderedDict())


def register_module_forward_pre_hook(hook):
    """`hook(module, args)` runs before the forward of every module and may return new args. It runs before a module's own."""
    return add_hook(_shared_table("forward_pre"), hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """`hook(module, args, output)` runs after the forward of every module and may return a new output; flags as of a module's own."""
    flags = [_shared_table("with_kwargs")] if with_kwargs else []
    flags += [_shared_table("always_call")] if always_call else []
    return add_hook(_shared_table("forward"), hook, flags=flags)


def register_module_full_backward_hook(hook):
    """`hook(module, grad_input, grad_output)` runs when gradients of the inputs of any module are there; may replace them."""
    _choose_for_all(True)
    return add_hook(_shared_table("backward"), hook)


def register_module_backward_hook(hook):
    """As a module's own register_backward_hook, of every module. Deprecated."""
    _choose_for_all(False)
    return add_hook(_shared_table("backward"), hook)


_full_backward_hooks = None  # what kind those on all modules are


def _choose_for_all(full):
    global _full_backward_hooks
    if _full_backward_hooks is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them.")
    _full_backward_hooks = full


def register_module_full_backward_pre_hook(hook):
    """`hook(module, grad_output)` runs before the backward of every module and may replace grad_output."""
    return add_hook(_shared_table("backward_pre"), hook)


def register_module_parameter_registration_hook(hook):
    """`hook(module, name, param)` runs when a parameter joins any module and may return another."""
    return add_hook(_shared.setdefault("parameter", OrderedDict()), hook)


def register_module_buffer_registration_hook(hook):
    """`hook(module, name, buffer)` runs when a buffer joins any module and may return another."""
    return add_hook(_shared.setdefault("buffer", OrderedDict()), hook)


def register_module_module_registration_hook(hook):
    """`hook(module, name, submodule)` runs when a module joins another and may return another."""
    return add_hook(_shared.setdefault("module", OrderedDict()), hook)


def registered(kind, module, name, value):
    """value as the hooks on registrations leave it."""
    for hook in list(_shared.get(kind, _NO_HOOKS).values()):
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


def _named_table(kind):
    """A module's own table under PyTorch's name for it: programs clear and count it."""
    def put(self, hooks):
        self._own_table(kind)
        self._hooks[kind] = hooks
    return property(lambda self: self._own_table(kind), put, lambda self: self._own_table(kind).clear())


for _name, _kind in (("forward_hooks", "forward"), ("forward_pre_hooks", "forward_pre"), ("backward_hooks", "backward"),
                     ("backward_pre_hooks", "backward_pre"), ("forward_hooks_with_kwargs", "with_kwargs"),
                     ("forward_hooks_always_called", "always_call"), ("forward_pre_hooks_with_kwargs", "pre_with_kwargs"),
                     ("state_dict_hooks", "state_dict"), ("state_dict_pre_hooks", "state_dict_pre"),
                     ("load_state_dict_pre_hooks", "load_state_dict_pre"), ("load_state_dict_post_hooks", "load_state_dict_post")):
    setattr(HookMixin, "_" + _name, _named_table(_kind))


class _BackwardWatch:
    """Puts identity nodes round a module's call, where its hooks see and replace gradients; what is no tensor has the gradient None."""

    def __init__(self, module):
        self._module = module
        self._grad_output = None  # from the output's node to the input's; None where a pass does not come through the output
        self._inputs, self._watches_input = (), False

    def enter(self, args):
        """`args` with the tensors that require grad passed through a node that sees grad_input."""
        args = tuple(args)
        found = [a for a in args if isinstance(a, Tensor)]
        self._inputs = [isinstance(a, Tensor) for a in args]
        if not (weir.is_grad_enabled() and any(a.requires_grad for a in found)):
            return args
        self._watches_input = True
        return _replace(args, _identity(self._on_grad_input, found))

    def leave(self, output):
        """`output` with its tensors passed through a node that sees grad_output."""
        parts = output if isinstance(output, (tuple, list)) else (output,)
        found = [o for o in parts if isinstance(o, Tensor)]
        if not found:
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                          f"{type(output)}", stacklevel=4)
        if not any(o.requires_grad for o in found):
            return output
        self._outputs = [isinstance(o, Tensor) for o in parts]
        replaced = _replace(parts, _identity(self._on_grad_output, found))
        if isinstance(output, tuple) and hasattr(output, "_fields"):
            return type(output)(*replaced)
        return type(output)(replaced) if isinstance(output, (tuple, list)) else replaced[0]

    def _on_grad_output(self, grads):
        grads = _spread(self._outputs, grads)
        for hook in self._module._table("backward_pre").values():
            grads = _changed(grads, hook(self._module, grads), "Backward pre hook returned an invalid number of grad_output")
        self._grad_output = grads
        if not self._watches_input:
            warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
                          "gradients.", stacklevel=5)
            found = self._run_hooks((None,) * len(self._inputs))
            if any(g is not None for g in found):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None or None for all gradients.")
        return tuple(g for g, is_tensor in zip(grads, self._outputs) if is_tensor)

    def _on_grad_input(self, grads):
        if self._grad_output is None:  # a second derivative reaches the input by what was saved of it
            return grads
        return tuple(g for g, is_tensor in zip(self._run_hooks(_spread(self._inputs, grads)), self._inputs) if is_tensor)

    def _run_hooks(self, grads):
        given, self._grad_output = self._grad_output, None
        for hook in self._module._get_backward_hooks()[0]:
            grads = _changed(grads, hook(self._module, grads, given), "Backward hook returned an invalid number of grad_input")
        return grads


def _hook_node(module, hooks, args, output):
    """Runs hooks of the older kind after the node of the output's first tensor."""
    first = output
    while not isinstance(first, Tensor):
        first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(partial(hook, module))
    missing = _missing_of(args, output, node)
    if missing:
        warnings.warn(missing, FutureWarning, stacklevel=4)


_REMOVED, _INSTEAD = "is deprecated and will be removed in future versions. This hook will be missing", "Please use register_full_backward_hook to get the documented behavior."


def _missing_of(args, output, node):
    """What a hook of the older kind does not see of a module, as PyTorch says it; None where it sees everything."""
    outputs = output if isinstance(output, tuple) else (output,)
    if not all(isinstance(o, Tensor) for o in outputs):
        return f"Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors {_REMOVED} some of the grad_output. {_INSTEAD}"
    if not all(isinstance(a, Tensor) for a in args):
        return f"Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors {_REMOVED} some of the grad_input. {_INSTEAD}"
    nodes = {o.grad_fn for o in outputs if o.grad_fn is not None}
    if len(nodes) > 1:
        return f"Using a non-full backward hook when outputs are generated by different autograd Nodes {_REMOVED} some grad_output. {_INSTEAD}"
    if node not in nodes:
        return f"Using a non-full backward hook when outputs are nested in python data structure {_REMOVED} some grad_output."
    if {a.grad_fn for a in args if a.grad_fn is not None} != {n for n, _ in node.next_functions}:
        return f"Using a non-full backward hook when the forward contains multiple autograd Nodes {_REMOVED} some grad_input. {_INSTEAD}"
    return None


def _spread(are_tensors, grads):
    """The gradients of tensors, with None between them for what is no tensor."""
    grads = iter(grads)
    return tuple(next(grads) if is_tensor else None for is_tensor in are_tensors)


def _changed(grads, result, text):
    """What a hook makes of gradients. RuntimeError for another number of them."""
    if result is None:
        return grads
    result = result if isinstance(result, tuple) else (result,)
    if len(result) != len(grads):
        raise RuntimeError(f"{text}, got {len(result)}, but expected {len(grads)}")
    return result


def _identity(on_grad, tensors):
    class BackwardHookFunction(weir.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            shown = tuple(t.view_as(t) for t in inputs)
            ctx.mark_non_differentiable(*(s for s, t in zip(shown, inputs) if not t.requires_grad))
            return shown

        @staticmethod
        def backward(ctx, *grads):
            return tuple(on_grad(grads))

    return BackwardHookFunction.apply(*tensors)


def _replace(values, tensors):
    tensors = iter(tensors)
    return tuple(next(tensors) if isinstance(v, Tensor) else v for v in values)
