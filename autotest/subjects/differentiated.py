"""Tensors of libraries that differentiate functions (JAX, MLX): each knows the way back to what the call that made it was given."""

import numpy as np

from .array_api import in_their_words


class Tensor:
    """An array, and the function that sends a gradient of it back to `sources`, the tensors it was made of."""

    def __init__(self, array, back=None, sources=()):
        self.array, self.back, self.sources = array, back, sources
        self.requires_grad = len(sources) > 0

    shape = property(lambda self: tuple(self.array.shape))
    dtype = property(lambda self: self.array.dtype)
    dim = ndim = property(lambda self: self.array.ndim)
    numel = lambda self: self.array.size
    detach = clone = contiguous = lambda self: Tensor(self.array)
    numpy = lambda self: np.array(self.array)
    view = lambda self, dtype: Tensor(self.array.view(dtype))
    to = lambda self, dtype: Tensor(self.array.astype(dtype))

    def requires_grad_(self, on=True):
        self.requires_grad = on
        return self


class autograd:
    @staticmethod
    def grad(outputs, inputs, cotangents, allow_unused=False, create_graph=False):
        if create_graph:
            raise NotImplementedError("second derivatives of a recorded call")
        found = {}
        waiting = [(output, cotangent.array) for output, cotangent in zip(outputs, cotangents)]
        for tensor, cotangent in waiting:  # grows while it is read
            found[id(tensor)] = found[id(tensor)] + cotangent if id(tensor) in found else cotangent
            if tensor.back:
                waiting += [(s, g) for s, g in zip(tensor.sources, tensor.back(cotangent)) if s.requires_grad]
        return [Tensor(found[id(x)]) if id(x) in found else None for x in inputs]


def strided(base, size, stride, offset):
    """A copy of what a view would show, as an array of NumPy: these libraries have no such view."""
    flat = np.array(base.array)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [step * flat.itemsize for step in stride]).copy()


def mapped(tree, change, kind):
    """Nested lists, tuples and dicts with `change` made to the leaves of class `kind`."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(mapped(item, change, kind) for item in tree)
    if isinstance(tree, dict):
        return {key: mapped(item, change, kind) for key, item in tree.items()}
    return change(tree) if isinstance(tree, kind) else tree


def adapted(name, function, vjp, array):
    """The library's `function` under PyTorch's `name`; `vjp(f, *arrays)` gives f's result and the way back, `array` is the class of arrays."""
    def call(*args, **keywords):
        if keywords.get("out") is not None:
            raise NotImplementedError(f"{name}: arrays cannot be written to")
        given, traced = in_their_words(name, args, keywords), []
        mapped(given, lambda t: traced.append(t) if t.requires_grad else None, Tensor)

        def run(*values):
            known = dict(zip(map(id, traced), values))
            positions, words = mapped(given, lambda t: known.get(id(t), t.array), Tensor)
            return function(*positions, **words)

        try:
            if not traced:
                return mapped(run(), Tensor, array)
            result, back = vjp(run, *(t.array for t in traced))
            return Tensor(result, back, tuple(traced)) if isinstance(result, array) else mapped(result, Tensor, array)
        except TypeError as error:
            raise NotImplementedError(f"{name}: {error}") if "argument" in str(error) else error from None

    return call
