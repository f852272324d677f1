"""Activation checkpointing: forward runs without keeping anything and again when backward comes.

Two kinds. The reentrant one is a Function whose backward runs forward again and a backward pass of its own. The other packs
each tensor that forward would save as a number, and runs forward again when the first of them is asked for: it works with
`autograd.grad`, derivatives of higher order, keyword arguments and inputs of any kind.
Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", and torch.utils.checkpoint.
"""

import contextlib
import enum
import warnings
import weakref

import _weir
import weir
from weir import Tensor
from weir._absent import absent as _absent, absent_names as _absent_names
from weir.utils._pytree import tree_leaves


class _Checkpoint(weir.autograd.Function):
    @staticmethod
    def forward(ctx, function, kwargs, state, *args):
        ctx.function, ctx.kwargs, ctx.state, ctx.args = function, kwargs, state, args
        ctx.save_for_backward(*(a for a in args if isinstance(a, Tensor)))
        draws = weir._C._traced_draws()
        result = function(*args, **kwargs)
        if weir._C._traced_draws() != draws:
            raise RuntimeError("checkpoint: a traced program cannot draw the same random numbers again in the backward pass")
        return result

    @staticmethod
    def backward(ctx, *grads):
        if not weir.autograd._is_checkpoint_valid():
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
                               ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
                               "the `inputs` argument.")
        ctx.saved_tensors  # raises when an input was changed in place since
        args = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in ctx.args]
        with _rng_state(ctx.state), weir.enable_grad():
            outputs = ctx.function(*args, **ctx.kwargs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        weir.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


class _rng_state:
    """Replays random numbers inside from a saved state; None leaves them alone."""

    def __init__(self, state):
        self._state = state

    def __enter__(self):
        if self._state is not None:
            self._before = weir.get_rng_state()
            weir.set_rng_state(self._state)

    def __exit__(self, *exception):
        if self._state is not None:
            weir.set_rng_state(self._before)


class CheckpointError(RuntimeError):
    """Forward did not save the same tensors when it ran again."""


class _Stop(BaseException):
    """All that backward asks for has been computed again. Not an Exception, so that the program's handlers let it pass."""


class _Held:
    """Stands for a tensor that forward would have saved."""

    def __init__(self, t):
        self.kind = tuple(t.shape), t.dtype, t.device


class _Frame:
    """One call: what it would have saved, and those of them that were computed again."""

    def __init__(self, again, check, early_stop):
        self.again, self.check, self.early_stop = again, check, early_stop
        self.held = []  # weak: what the graph let go of needs no computing
        self.values, self.with_history = weakref.WeakKeyDictionary(), False

    def pack(self, t):
        held = _Held(t)
        self.held.append(weakref.ref(held))
        return held

    def unpack(self, held):
        history = weir.is_grad_enabled()  # a derivative of this derivative may be asked for
        if held not in self.values or history and not self.with_history:
            self.compute(history)
        return self.values[held]

    def compute(self, history):
        count, self.with_history = 0, history

        def keep(t):
            nonlocal count
            held = self.held[count]() if count < len(self.held) else None
            if held is not None:
                if self.check and held.kind != _Held(t).kind:
                    raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                                          f"during the forward pass.\ntensor at position {count}:\nsaved metadata: {held.kind}\n"
                                          f"recomputed metadata: {_Held(t).kind}")
                self.values[held] = t if history else t.detach()
            count += 1
            if self.early_stop and count == len(self.held):
                raise _Stop
            return t
        with contextlib.suppress(_Stop), weir.enable_grad(), weir.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
            self.again()
        if count != len(self.held):
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                                  f"recomputation.\nNumber of tensors saved during forward: {len(self.held)}\n"
                                  f"Number of tensors saved during recomputation: {count}.")


_switches = {"debug": None, "early_stop": None}


def _switch(name, value):
    @contextlib.contextmanager
    def scope():
        before, _switches[name] = _switches[name], value
        try:
            yield
        finally:
            _switches[name] = before
    return scope()


def set_checkpoint_early_stop(enable):
    """A scope that says whether recomputing ends once all that is needed is there, for calls of checkpoint inside."""
    return _switch("early_stop", enable)


def set_checkpoint_debug_enabled(enabled):
    """A scope for PyTorch's traces of ops where recomputing differs. The error names the tensor here, with and without it."""
    return _switch("debug", enabled)


def noop_context_fn():
    """Two scopes that change nothing: checkpoint's `context_fn` where none is given."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False,
               early_stop=True, preserve_rng_state=True, **kwargs):
    """function(*args, **kwargs), its intermediate tensors computed again in backward instead of kept.

    preserve_rng_state gives both runs the same random numbers; both run under the same autocast. context_fn gives two scopes,
    for forward and for recomputing. CheckpointError where the second run saves other tensors than the first, unless
    determinism_check is "none". With use_reentrant, function takes no keywords and one input at least must require grad.
    """
    tracing = weir._C._is_tracing()
    if use_reentrant is None and not tracing:
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint "
                      "without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current "
                      "default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two "
                      "variants.", stacklevel=2)
        use_reentrant = True
    if tracing:
        return _traced(function, args, kwargs)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        check_backward_validity(args)
        if not weir.is_grad_enabled():
            return function(*args)
        return _Checkpoint.apply(function, kwargs, weir.get_rng_state() if preserve_rng_state else None, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'] but got {determinism_check}")
    around = contextlib.contextmanager(_checkpoint_without_reentrant_generator)
    with around(function, preserve_rng_state, context_fn, determinism_check, debug, early_stop, *args, **kwargs):
        return function(*args, **kwargs)


def _checkpoint_without_reentrant_generator(fn, preserve_rng_state=True, context_fn=noop_context_fn, determinism_check="default", debug=False,
                                            early_stop=True, *args, **kwargs):
    """Yields once: what fn(*args, **kwargs) would save for backward there is computed again by another call."""
    first, second = context_fn()
    if not weir.is_grad_enabled():
        with first:
            yield
        return
    state = weir.get_rng_state() if preserve_rng_state else None
    precision = weir._C._autocast_enabled(), weir._C._autocast_dtype()

    vmaps = _weir._next_vmap()

    def again():
        before = _weir._repeat_vmaps(vmaps)  # what is computed again belongs to the batches that the graph knows
        try:
            with _rng_state(state), weir.amp.autocast("cpu", precision[1], precision[0]), second:
                fn(*args, **kwargs)
        finally:
            _weir._repeat_vmaps(before)
    frame = _Frame(again, determinism_check == "default", early_stop if _switches["early_stop"] is None else _switches["early_stop"])
    with weir.autograd.graph.saved_tensors_hooks(frame.pack, frame.unpack), first:
        yield


def _traced(function, args, kwargs):
    if not weir.is_grad_enabled():
        return function(*args, **kwargs)
    if any(isinstance(a, Tensor) and a.requires_grad for a in args):
        return _Checkpoint.apply(function, kwargs, None, *args)
    # No input requires grad, but parameters inside may: a dummy input puts the node on the tape.
    dummy = weir.empty(0, requires_grad=True)
    return _Checkpoint.apply(lambda _, *rest, **kw: function(*rest, **kw), kwargs, None, dummy, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, *, preserve_rng_state=True):
    """A chain of modules run as `segments` checkpoints; the last segment keeps its tensors."""
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version 2.9 we will "
                      "raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need to preserve the current "
                      "default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two "
                      "variants.", stacklevel=2)
        use_reentrant = True
    functions = list(functions.children() if isinstance(functions, weir.nn.Module) else functions)
    size = len(functions) // segments

    def run(start, end):
        def segment(x):
            for function in functions[start:end]:
                x = function(x)
            return x
        return segment

    for i in range(segments - 1):
        input = checkpoint(run(i * size, (i + 1) * size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return run(size * (segments - 1), len(functions))(input)


def detach_variable(inputs):
    """The tensors of a tuple as leaves that require grad where they did. RuntimeError for what is no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(i.detach().requires_grad_(i.requires_grad) if isinstance(i, Tensor) else i for i in inputs)


def check_backward_validity(inputs):
    """Warns where no input requires grad, so that nothing will get a gradient."""
    if not any(i.requires_grad for i in inputs if isinstance(i, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


def get_device_states(*args):
    """The accelerators of the tensors and the states of their generators: none and none."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """The reverse of get_device_states: there is nothing to set."""


class DefaultDeviceType:
    """Which accelerator checkpoint takes where no argument says so. Kept for programs that set it."""

    _default = "cpu"

    @staticmethod
    def set_device_type(device="cuda"):
        DefaultDeviceType._default = device

    @staticmethod
    def get_device_type():
        return DefaultDeviceType._default


class CheckpointPolicy(enum.Enum):
    """What a policy of selective checkpointing may say of an op."""

    MUST_SAVE, PREFER_SAVE, MUST_RECOMPUTE, PREFER_RECOMPUTE, MUST_CPU_OFFLOAD, PREFER_CPU_OFFLOAD = range(6)


def _policy_from_bool(b):
    """The policy that True and False, of older programs, stand for."""
    return CheckpointPolicy.MUST_SAVE if b else CheckpointPolicy.PREFER_RECOMPUTE


class _VersionWrapper:
    """A value that is kept; a tensor is watched for changes in place."""

    def __init__(self, val):
        self.val, self.version = val, val._version if isinstance(val, Tensor) else None

    def get_val(self, allow_cache_entry_mutation):
        """The value. RuntimeError for a tensor that was changed since, unless that is allowed."""
        if self.version is not None and not allow_cache_entry_mutation and self.val._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.val


def _detach_helper(x):
    """A tensor without history, whose changes in place count for x too; what is no tensor as it is."""
    return x.detach() if isinstance(x, Tensor) else x


def _get_autocast_kwargs(device_type="cuda"):
    """(of the device, of the CPU): what autocast takes to be in force as it is now; None for a device that has none."""
    def now(kind):
        return {"enabled": weir.is_autocast_enabled(kind), "dtype": weir.get_autocast_dtype(kind), "cache_enabled": weir.is_autocast_cache_enabled()}
    return now(device_type) if weir.amp.is_autocast_available(device_type) else None, now("cpu")


def _get_device_module(device="cuda"):
    """`torch.cuda` and its kin by their device type."""
    return weir.device("meta") if device == "meta" else getattr(weir, device)


def _infer_device_type(*args):
    """The kind of accelerator that the arguments' tensors are on, the default one where they are on none. Warns of several kinds."""
    found = list(dict.fromkeys(a.device.type for a in tree_leaves(args) if isinstance(a, Tensor) and a.device.type != "cpu"))
    if len(found) > 1:
        warnings.warn("Tensor arguments, excluding CPU tensors, are detected on at least two types of devices. Device state will only be saved for "
                      f"devices of a single device type.\nDevice types: {sorted(found)} first device type: {found[0]}", stacklevel=2)
    return DefaultDeviceType.get_device_type() if not found else "cuda" if "cuda" in found else found[0]


CheckpointFunction = _absent("utils.checkpoint.CheckpointFunction", "call checkpoint(..., use_reentrant=True)")
__getattr__ = _absent_names("weir.utils.checkpoint", "_CachedTorchDispatchMode _CachingTorchDispatchMode SelectiveCheckpointContext create_selective_checkpoint_contexts SAC_IGNORED_OPS GraphExecGroup",
                            "weir has no modes that see single ops")
