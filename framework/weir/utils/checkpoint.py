"""Activation checkpointing: forward runs without keeping anything and again when backward comes.

Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost".
"""

import weir
from weir import Tensor


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


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, context_fn=None, determinism_check=None,
               debug=False, **kwargs):
    """function(*args, **kwargs), its intermediate tensors computed again in backward instead of kept.

    preserve_rng_state gives both runs the same random numbers.
    """
    state = weir.get_rng_state() if preserve_rng_state and not weir._C._is_tracing() else None
    if not weir.is_grad_enabled():
        return function(*args, **kwargs)
    if any(isinstance(a, Tensor) and a.requires_grad for a in args):
        return _Checkpoint.apply(function, kwargs, state, *args)
    # No input requires grad, but parameters inside may: a dummy input puts the node on the tape.
    dummy = weir.empty(0, requires_grad=True)
    return _Checkpoint.apply(lambda _, *rest, **kw: function(*rest, **kw), kwargs, state, dummy, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, preserve_rng_state=True):
    """A chain of modules run as `segments` checkpoints; the last segment keeps its tensors."""
    functions = list(functions.children() if isinstance(functions, weir.nn.Module) else functions)
    size = len(functions) // segments

    def run(start, end):
        def segment(x):
            for function in functions[start:end]:
                x = function(x)
            return x
        return segment

    for i in range(segments - 1):
        input = checkpoint(run(i * size, (i + 1) * size), input, preserve_rng_state=preserve_rng_state)
    return run(size * (segments - 1), len(functions))(input)
