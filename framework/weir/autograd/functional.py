"""Jacobians and products with them, from the backward pass and forward mode. Source: torch.autograd.functional."""
from _weir import _without_history

from ..utils._pytree import tree_map


def _inputs(inputs, create_graph):
    """(are there several, copies to differentiate by)"""
    from .. import Tensor
    several = isinstance(inputs, (tuple, list))
    given = tuple(inputs) if several else (inputs,)
    for x in given:
        if not isinstance(x, Tensor):
            raise TypeError(f"The inputs given to the function must be either a Tensor or a tuple of Tensors but got {type(x)}.")
    return several, tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given)


def _outputs(out):
    from .. import Tensor
    several = isinstance(out, (tuple, list))
    parts = tuple(out) if several else (out,)
    for x in parts:
        if not isinstance(x, Tensor):
            raise TypeError(f"The outputs of the user-provided function must be either a Tensor or a tuple of Tensors but got {type(x)}.")
    return several, parts


def _pullback(outputs, inputs, cotangents, create_graph, strict):
    """Gradients by the inputs. Zeros, or with strict RuntimeError, where nothing depends on one."""
    from .. import zeros_like
    from . import grad
    pairs = [(o, c) for o, c in zip(outputs, cotangents) if o.requires_grad]
    found = grad([o for o, _ in pairs], inputs, [c for _, c in pairs], create_graph=create_graph, retain_graph=True,
                 allow_unused=True) if pairs else [None] * len(inputs)
    for i, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.")
        if strict and create_graph and not g.requires_grad:
            raise RuntimeError(f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode when create_graph=True.")
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, inputs))


def _cotangents(v, outputs):
    """v as a tuple that fits the outputs; ones for a single number."""
    if v is None:
        if len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor with a "
                               "single element.")
        from .. import ones_like
        return (ones_like(outputs[0]),)
    from .. import Tensor
    v = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    for x in v:
        if not isinstance(x, Tensor):
            raise TypeError(f"The v given must be either a Tensor or a tuple of Tensors but has a value of type {type(x)}.")
    if len(v) != len(outputs):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(outputs)} but got {len(v)}.")
    for i, (a, b) in enumerate(zip(v, outputs)):
        if a.shape != b.shape:
            raise RuntimeError(f"Entry {i} in v has invalid size: should be {b.shape} but got {a.shape}.")
    return v


def _final(parts, several, create_graph):
    parts = tuple(p if create_graph else p.detach() for p in parts)
    return parts if several else parts[0]


def _recording():
    from .grad_mode import enable_grad
    return enable_grad()


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times the Jacobian)"""
    with _recording():
        several, xs = _inputs(inputs, create_graph)
        out_several, outputs = _outputs(func(*xs))
        found = _pullback(outputs, xs, _cotangents(v, outputs), create_graph, strict)
    return _final(outputs, out_several, create_graph), _final(found, several, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the Jacobian times v): the pullback of the pullback, which is linear in its cotangent."""
    from .. import zeros_like
    with _recording():
        several, xs = _inputs(inputs, create_graph)
        out_several, outputs = _outputs(func(*xs))
        v = _cotangents(v, xs)
        dummies = tuple(zeros_like(o).requires_grad_() for o in outputs)
        pulled = _pullback(outputs, xs, dummies, True, strict)
        found = _pullback(pulled, dummies, v, create_graph, strict)
    return _final(outputs, out_several, create_graph), _final(found, out_several, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """d func / d inputs. Shape: output's shape + input's shape, per output and input.

    Row by row by the backward pass; with vectorize all rows by one pass, or with strategy="forward-mode" all columns by one call of func.
    NotImplementedError for forward mode with create_graph or without vectorize, RuntimeError for strict with vectorize or forward mode.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if strategy == "forward-mode":
        return _by_columns(func, inputs, create_graph, strict, vectorize)
    with _recording():
        several, xs = _inputs(inputs, create_graph)
        out_several, outputs = _outputs(func(*xs))
        if strict and not all(o.requires_grad for o in outputs):
            raise RuntimeError("Output 0 of the user-provided function does not require gradients. The outputs must be "
                               "computed in a differentiable manner from the input when running in strict mode.")
        if strict and vectorize:
            raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together.")
        rows_of = _rows_at_once if vectorize else _rows
        result = [_final([r.reshape(tuple(o.shape) + tuple(x.shape)) for r, x in zip(rows_of(o, xs, create_graph, strict), xs)], several, create_graph)
                  for o in outputs]
    return tuple(result) if out_several else result[0]


def _rows(output, inputs, create_graph, strict):
    """For each input a row of derivatives per element of output."""
    from .. import stack, zeros
    flat = output.reshape(-1)
    rows = [_pullback((flat[i],), inputs, (None,), create_graph, strict) for i in range(flat.numel())]
    return [stack(column) for column in zip(*rows)] if rows else [zeros((0, *x.shape), dtype=output.dtype) for x in inputs]


def _rows_at_once(output, inputs, create_graph, strict):
    """As _rows, by one backward pass."""
    from .. import eye, zeros
    from . import grad
    n = output.numel()
    found = [None] * len(inputs)
    if n and output.requires_grad:
        found = grad(output.reshape(-1), inputs, eye(n, dtype=output.dtype), create_graph=create_graph, retain_graph=True, allow_unused=True, is_grads_batched=True)
    return [zeros((n, *x.shape), dtype=x.dtype) if g is None else g for g, x in zip(found, inputs)]


def _by_columns(func, inputs, create_graph, strict, vectorize):
    from ..func import jacfwd
    where = "torch.autograd.functional.jacobian: "
    if create_graph:
        raise NotImplementedError(where + '`create_graph=True` and `strategy="forward-mode"` are not supported together (yet).')
    if strict:
        raise RuntimeError(where + '`strict=True` and `strategy="forward-mode"` are not supported together (yet).')
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`.")
    several, xs = isinstance(inputs, (tuple, list)), tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    return jacfwd(func, argnums=tuple(range(len(xs))) if several else 0)(*xs)


def _number(func):
    def checked(*xs):
        out = func(*xs)
        several, parts = _outputs(out)
        if several or parts[0].numel() != 1:
            raise RuntimeError("The function given to hessian should return a single Tensor with a single element")
        return parts[0].reshape(())
    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function that gives one number. Shape: input's + input's, per pair of inputs.

    The Jacobian of its gradient; vectorize, strict and outer_jacobian_strategy as in `jacobian`.
    """
    number = _number(func)

    def gradient(*xs):
        xs = tuple(x if x.requires_grad else _without_history(x).requires_grad_() for x in xs)
        with _recording():
            found = _pullback((number(*xs),), xs, (None,), True, strict)
        return found if isinstance(inputs, (tuple, list)) else found[0]
    result = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if create_graph else tree_map(lambda t: t.detach(), result)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times the Hessian)"""
    with _recording():
        several, xs = _inputs(inputs, create_graph)
        output = _number(func)(*xs)
        first = _pullback((output,), xs, (None,), True, strict)
        found = _pullback(first, xs, _cotangents(v, xs), create_graph, strict)
    return _final((output,), False, create_graph), _final(found, several, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the Hessian times v); the Hessian is symmetric, so this is vhp."""
    return vhp(func, inputs, v, create_graph, strict)
