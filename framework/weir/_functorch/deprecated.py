"""The `functorch` package, as which `torch.func` began; older programs import it. Source: torch._functorch.deprecated."""
import copy
import functools
import warnings

import weir
from weir.func import functional_call

__version__ = weir.__version__
__path__: list = []  # a package to those who import `functorch.experimental`


def _old(name):
    function = getattr(weir.func, name)

    @functools.wraps(function)
    def warned(*args, **kwargs):
        warnings.warn(f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is deprecated. Please use "
                      f"`torch.func.{name}` instead.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    return warned


functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap = map(
    _old, ("functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap"))


class FunctionalModuleWithBuffers:
    """A module whose parameters and buffers are arguments: f(params, buffers, *args, **kwargs)."""

    def __init__(self, stateless, param_names, buffer_names):
        self.stateless_model, self.param_names, self.buffer_names = stateless, tuple(param_names), tuple(buffer_names)

    def __call__(self, params, buffers, *args, **kwargs):
        state = dict(zip(self.param_names + self.buffer_names, (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module whose parameters are arguments: f(params, *args, **kwargs)."""

    def __call__(self, params, *args, **kwargs):
        return super().__call__(params, (), *args, **kwargs)


def _state(model, disable_autograd_tracking):
    """(a copy of the model on the meta device, its parameters and buffers by name)"""
    params, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    if disable_autograd_tracking:
        params = {name: p.detach() for name, p in params.items()}
    else:
        params = {name: weir.nn.Parameter(p.detach().clone(), p.requires_grad) for name, p in params.items()}
    # Whatever the modules share they share on the meta device, too.
    memo = {id(t): weir.nn.Parameter(t.to("meta"), t.requires_grad) if isinstance(t, weir.nn.Parameter) else t.to("meta")
            for t in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, memo), params, {name: b.clone() for name, b in buffers.items()}


def make_functional(model, disable_autograd_tracking=False):
    """(a FunctionalModule of the model, its parameters). RuntimeError for a model with buffers."""
    if next(model.buffers(), None) is not None:
        raise RuntimeError("make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead.")
    stateless, params, _ = _state(model, disable_autograd_tracking)
    return FunctionalModule(stateless, params, ()), tuple(params.values())


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """(a FunctionalModuleWithBuffers of the model, its parameters, its buffers)"""
    stateless, params, buffers = _state(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(stateless, params, buffers), tuple(params.values()), tuple(buffers.values())


def combine_state_for_ensemble(models):
    """(a function of one of the models, all their parameters stacked, all their buffers stacked), for vmap over dim 0.

    RuntimeError unless the models are of one class and mode.
    """
    models = list(models)
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({m.training for m in models}) != 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) != 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, params, buffers = zip(*(make_functional_with_buffers(m) for m in models))
    return (functions[0], *(tuple(weir.stack(column).detach() for column in zip(*rows)) for rows in (params, buffers)))
