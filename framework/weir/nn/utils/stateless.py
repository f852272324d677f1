"""Calling a module with other parameters than its own."""

import warnings

from weir.func.modules import functional_call as _functional_call, swapped as _swapped

__all__ = ["functional_call"]


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Deprecated: `torch.func.functional_call`. Source: torch.nn.utils.stateless."""
    warnings.warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of "
                  "PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """A context in which the module holds the given tensors. Libraries of Bayesian nets take it from here."""
    return _swapped(module, parameters_and_buffers, tie_weights, strict)
