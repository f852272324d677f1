"""Custom differentiable functions. Source: https://pytorch.org/docs/stable/notes/extending.html"""
import functools

from _weir import Tensor, _function_node, is_grad_enabled, ops

from .grad_mode import no_grad, set_grad_enabled


class FunctionCtx:
    """What forward leaves for backward."""

    def __init__(self):
        self.saved, self.needs_input_grad = (), ()
        self._non_differentiable, self._dirty, self._materialize = (), (), True

    def save_for_backward(self, *tensors):
        """Keeps tensors; `saved_tensors` raises when one was changed in place since."""
        self.saved = tuple((t, t._version if t is not None else 0) for t in tensors)

    @property
    def saved_tensors(self):
        for t, version in self.saved:
            if t is not None and t._version != version:
                raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                                   f"operation: a saved tensor of shape {tuple(t.shape)} is at version {t._version}; "
                                   f"expected version {version} instead")
        return tuple(t for t, _ in self.saved)

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors):
        self._dirty = tensors

    def set_materialize_grads(self, value):
        self._materialize = value


def _differentiable(ctx, t):
    return isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex()) and not any(t is x for x in ctx._non_differentiable)


class Function:
    """Subclass with static `forward(ctx, *args)` (or `forward(*args)` and `setup_context`) and `backward(ctx, *grads)`."""

    @classmethod
    def apply(cls, *args, **kwargs):
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        separate = cls.setup_context is not Function.setup_context
        with no_grad():
            result = cls.forward(*args, **kwargs) if separate else cls.forward(ctx, *args, **kwargs)
            if separate:
                cls.setup_context(ctx, args, result)
        if not (is_grad_enabled() and any(ctx.needs_input_grad)):
            return result
        many = isinstance(result, (tuple, list))
        outputs = list(result) if many else [result]
        # An input handed back, or a tensor with a history of its own, must not be relabelled: show it as a view.
        for i, t in enumerate(outputs):
            if isinstance(t, Tensor) and any(t is a for a in args) and not any(t is d for d in ctx._dirty):
                outputs[i] = t.detach()
        shapes = [(t.shape, t.dtype) if isinstance(t, Tensor) else None for t in outputs]

        def run(*grads):
            if ctx._materialize:
                grads = [ops["torch"]["zeros"](s[0], dtype=s[1]) if g is None and s is not None else g for g, s in zip(grads, shapes)]
            return cls.backward(ctx, *grads)

        inputs = [a if isinstance(a, Tensor) and a.requires_grad else None for a in args]
        _function_node(run, cls.__name__ + "Backward", inputs, [t if _differentiable(ctx, t) else None for t in outputs])
        return tuple(outputs) if many else outputs[0]

    @staticmethod
    def forward(ctx, *args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")


def once_differentiable(fn):
    """Marks a backward that is not itself differentiable: its results carry no history."""
    @functools.wraps(fn)
    def wrapped(ctx, *args):
        with no_grad():
            return fn(ctx, *args)
    return wrapped
