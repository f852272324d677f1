"""Functions of functions: gradients, Jacobians, maps over a batch. Source: torch.func.

Derivatives rest on the backward pass, `jvp` on forward mode; `vmap` runs each op once for the whole batch.
"""
from .derivative import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp  # noqa: F401
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state  # noqa: F401
from weir._functorch.vmap import vmap  # noqa: F401
from .patterns import rearrange  # noqa: F401


def functionalize(func, *, remove="mutations"):
    """func itself: there is no tracer here from which writes would have to be hidden."""
    return func


def debug_unwrap(tensor, *, recurse=True):
    """The tensor with the axis of its innermost vmap in front, or with those of all: what func works on."""
    import _weir
    for level, size in reversed(_weir._batch_axes(tensor) if recurse else _weir._batch_axes(tensor)[-1:]):
        tensor = _weir._out_of_batch(tensor, 0, level, size)
    return tensor


__all__ = ["grad", "grad_and_value", "vmap", "replace_all_batch_norm_modules_", "functionalize", "hessian", "jacfwd",
           "jacrev", "jvp", "linearize", "vjp", "functional_call", "stack_module_state", "debug_unwrap", "rearrange"]
