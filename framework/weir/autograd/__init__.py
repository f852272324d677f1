"""Gradients: backward, grad, modes, custom functions."""
import contextlib
import operator
import threading

from _weir import Tensor, _backward, _warn_once

from . import graph
from .function import Function, FunctionCtx, once_differentiable
from .gradcheck import gradcheck, gradgradcheck  # noqa: F401  (at once: a later import would put the module in the function's place)
from .grad_mode import enable_grad, enforce_grad_layout_policy, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .variable import Variable  # noqa: F401


class _OfInputs(threading.local):
    """The scope of a backward pass for the gradients of some tensors only."""

    depth = 0

    def __enter__(self):
        self.depth += 1

    def __exit__(self, *exc):
        self.depth -= 1


_of_inputs, _of_all = _OfInputs(), contextlib.nullcontext()


def _is_checkpoint_valid():
    """Whether a custom function may run a backward pass of its own for all that its part of a model leads to: not within one that
    is for the gradients of some tensors only."""
    return not _of_inputs.depth


def _tuple(x):
    return (x,) if isinstance(x, (Tensor, graph.GradientEdge)) else tuple(x)


def _grads(outputs, grads):
    if grads is None:
        return (None,) * len(outputs)
    grads = (grads,) if isinstance(grads, Tensor) else tuple(grads)
    if len(grads) < len(outputs):  # what is too many is not looked at, as in PyTorch
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    return grads[:len(outputs)]


def _retain(retain_graph, create_graph):
    return create_graph if retain_graph is None else retain_graph


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sums of gradients of `tensors` with respect to the leaves, added into their `.grad`.

    grad_tensors: a cotangent per tensor, of its shape; None for one-element tensors. Source: torch.autograd.backward.
    """
    if grad_variables is not None:  # its name before PyTorch 0.3
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to backward(). Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    outputs = _tuple(tensors)
    retain = _retain(retain_graph, create_graph)
    if not isinstance(retain, bool) or not isinstance(create_graph, bool):
        for output, given in zip(outputs, _grads(outputs, grad_tensors)):
            if given is None and output.requires_grad and output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if isinstance(given, Tensor) and isinstance(output, Tensor) and given.shape != output.shape:
                raise RuntimeError(f"Mismatch in shape: a gradient has a shape of {given.shape} and its output a shape of {output.shape}")
        retain, create_graph = operator.index(retain), operator.index(create_graph)  # by C's rules for numbers, as in PyTorch
    if create_graph:
        _warn_once("Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a memory "
                   "leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure to reset "
                   "the .grad fields of your parameters to None after use to break the cycle and avoid the leak.")
    inputs = () if inputs is None else _tuple(inputs) or None
    if inputs is None:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    with _of_inputs if inputs else _of_all:
        _backward(outputs, _grads(outputs, grad_tensors), inputs, retain, create_graph, True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    """Gradients of the sum of `outputs` with respect to `inputs`, as a tuple. Source: torch.autograd.grad.

    With is_grads_batched, every tensor of grad_outputs holds gradients one below the other, of shape (batch, *output), and so do
    the results. RuntimeError when an input was not used and allow_unused is False, and for no inputs.
    """
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    if not inputs:
        raise RuntimeError("grad: the argument 'inputs' cannot be empty")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if is_grads_batched:
        return _each_grad(outputs, inputs, _tuple(grad_outputs), _retain(retain_graph, create_graph),
                          create_graph=create_graph, allow_unused=allow_unused, materialize_grads=materialize_grads)
    retain = _retain(retain_graph, create_graph)
    with _of_inputs:
        results = _backward(outputs, _grads(outputs, grad_outputs), inputs, retain, create_graph, False)
    if materialize_grads:
        from .. import zeros_like
        if any(g is None and isinstance(t, graph.GradientEdge) for g, t in zip(results, inputs)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        return tuple(g if g is not None else zeros_like(t, requires_grad=create_graph) for g, t in zip(results, inputs))
    if not allow_unused and any(g is None for g in results):
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set "
                           "allow_unused=True if this is the desired behavior.")
    return results


def _each_grad(outputs, inputs, batches, retain, **options):
    """`grad` for a batch of gradients, in one backward pass."""
    from weir.func import vmap
    counts = [len(batch) for batch in batches]
    if not counts or 0 in counts:
        raise IndexError(f"grad: is_grads_batched expects grad_outputs with at least one gradient each, got {counts}")
    if len(set(counts)) != 1:
        raise ValueError(f"grad: is_grads_batched expects as many gradients in each of grad_outputs, got {counts}")
    used: list = []

    def one(*gradients):
        found = grad(outputs, inputs, list(gradients), retain_graph=retain, **options)
        used[:] = [g is not None for g in found]
        return tuple(g for g in found if g is not None)
    found = iter(vmap(one)(*batches))
    return tuple(next(found) if u else None for u in used)


def __getattr__(name):
    """Modules and names imported when first used."""
    import importlib
    origin = {"functional": "", "graph": "", "forward_ad": "", "variable": "", "profiler": "", "anomaly_mode": "",
              "detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode", "ProfilerActivity": "profiler",
              "kineto_available": "profiler", "_profiler_enabled": "profiler"}.get(name)
    if origin is None:
        raise AttributeError(f"module 'weir.autograd' has no attribute '{name}'")
    module = importlib.import_module(f"weir.autograd.{origin or name}")
    value = globals()[name] = getattr(module, name) if origin else module
    return value


class set_multithreading_enabled:
    """Backward runs on the calling thread, whatever the mode."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None
