"""Functions of functions: gradients, Jacobians, maps over a batch. Source: torch.func.

All rest on the backward pass. `vmap` is a loop over the batch, and `jvp` two backward passes: values are the same,
speed is not. Random numbers drawn inside `vmap` differ from PyTorch's.
"""
from .derivative import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp  # noqa: F401
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state  # noqa: F401
from .mapping import vmap  # noqa: F401


def functionalize(func, *, remove="mutations"):
    """func itself: there is no tracer here from which writes would have to be hidden."""
    return func


def debug_unwrap(tensor, *, recurse=True):
    """tensor: there are no wrappers here."""
    return tensor


def __getattr__(name):
    if name == "rearrange":
        from weir._absent import absent
        return absent("func.rearrange", "use the einops package")
    raise AttributeError(f"module 'weir.func' has no attribute '{name}'")


__all__ = ["grad", "grad_and_value", "vmap", "replace_all_batch_norm_modules_", "functionalize", "hessian", "jacfwd",
           "jacrev", "jvp", "linearize", "vjp", "functional_call", "stack_module_state", "debug_unwrap"]
