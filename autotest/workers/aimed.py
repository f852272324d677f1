"""Faults that only some operations can have. `AIMED` says which, so that a run over a part of all operations plants them all the same.

Each takes (W, function, args, kwargs) and gives the result and whether the fault changed it.
"""

from ..cases.dtypes import name_of
from .faults import floating, instead

#: The operations that a fault is aimed at, by its name.
AIMED: dict = {}


def _aimed(*operations: str):
    def mark(fault):
        def planted(W, function, args, kwargs):
            if _name(function) not in operations:
                return function(*args, **kwargs), False
            return fault(W, function, args, kwargs)

        planted.__name__, planted.__doc__ = fault.__name__, fault.__doc__
        AIMED[fault.__name__] = frozenset(operations)
        return planted

    return mark


def _name(function) -> str:
    return getattr(function, "__name__", "").rstrip("_")


def _first(W, args):
    """The first argument, if it is a tensor of floating numbers."""
    first = args[0] if args else None
    return first if isinstance(first, W.Tensor) and first.numel() and floating(first) else None


@_aimed("round")
def half_up(W, function, args, kwargs):
    """round() that takes halves up instead of to even."""
    x = _first(W, args)
    if x is None or kwargs.get("decimals"):
        return function(*args, **kwargs), False
    return instead(W, function, args, kwargs, lambda result: (x.detach() + 0.5).floor())


@_aimed("floor", "floor_divide", "div", "trunc")
def floor_below(W, function, args, kwargs):
    """floor() and floor division one too low where the answer is whole already."""
    def lowered(result):
        if not floating(result):
            return None
        whole = (result == result.floor()) & (result.abs() > 1)
        first = whole & (whole.reshape(-1).cumsum(0).reshape(whole.shape) == 1)
        return W.where(first, result - 1, result)
    return instead(W, function, args, kwargs, lowered)


_SWAPPED = {"gt": "ge", "ge": "gt", "lt": "le", "le": "lt", "greater": "ge", "less": "le"}


@_aimed(*_SWAPPED)
def swapped_bound(W, function, args, kwargs):
    """A comparison that takes equal for greater, or the other way round."""
    if len(args) < 2:
        return function(*args, **kwargs), False
    return instead(W, function, args, kwargs, lambda result: getattr(W, _SWAPPED[_name(function)])(*args[:2]))


@_aimed("expm1", "log1p", "logsumexp", "softmax")
def naive_formula(W, function, args, kwargs):
    """expm1, log1p, logsumexp and softmax as a beginner writes them."""
    x, name = _first(W, args), _name(function)
    along = args[1] if len(args) > 1 else kwargs.get("dim")
    if x is None or kwargs.get("dtype") is not None or (name in ("logsumexp", "softmax") and along is None):
        return function(*args, **kwargs), False
    x = x.detach()
    keepdim = bool(kwargs.get("keepdim", args[2] if len(args) > 2 else False))
    naive = {"expm1": lambda r: x.exp() - 1, "log1p": lambda r: (1 + x).log(),
             "logsumexp": lambda r: x.exp().sum(along, keepdim=keepdim).log(),
             "softmax": lambda r: x.exp() / x.exp().sum(along, keepdim=True)}
    return instead(W, function, args, kwargs, naive[name])


_SUMS = ("sum", "mean", "matmul", "mm", "bmm", "dot", "linear", "cumsum", "mv", "addmm")


@_aimed(*_SUMS)
def rough_sum(W, function, args, kwargs):
    """Sums and products gathered in bfloat16."""
    return instead(W, function, args, kwargs, lambda r: r.to(W.bfloat16).to(r.dtype) if name_of(r.dtype) in ("float32", "float64") else None)


@_aimed(*_SUMS)
def half_sum(W, function, args, kwargs):
    """Sums and products gathered in float16."""
    return instead(W, function, args, kwargs, lambda r: r.to(W.float16).to(r.dtype) if name_of(r.dtype) in ("float32", "float64") else None)


@_aimed("matmul", "mm", "bmm", "dot", "linear", "mv", "inner", "vdot")
def wrong_when_deep(W, function, args, kwargs):
    """A product that is wrong only for 64 terms and more, where kernels change their blocking."""
    x = args[0] if args and isinstance(args[0], W.Tensor) else None
    if x is None or x.dim() == 0 or x.shape[-1] < 64:
        return function(*args, **kwargs), False
    return instead(W, function, args, kwargs, lambda r: r + r.abs().max() * 1e-2 if floating(r) else None)


@_aimed("sort", "argsort")
def unstable(W, function, args, kwargs):
    """A stable sort that is none: equal neighbours change places."""
    result = function(*args, **kwargs)
    if kwargs.get("stable") is not True or not args or kwargs.get("out") is not None:
        return result, False
    indices = result if isinstance(result, W.Tensor) else result[1]
    dim = kwargs.get("dim", -1)
    if indices.dim() == 0 or indices.shape[dim] < 2:
        return result, False
    values = W.take_along_dim(args[0].detach(), indices, dim)
    tied = values.narrow(dim, 0, 1) == values.narrow(dim, 1, 1)
    if not bool(tied.any()):
        return result, False
    i, j = indices.narrow(dim, 0, 1), indices.narrow(dim, 1, 1)
    swapped = W.cat([W.where(tied, j, i), W.where(tied, i, j), indices.narrow(dim, 2, indices.shape[dim] - 2)], dim)
    return (swapped, True) if isinstance(result, W.Tensor) else (type(result)((result[0], swapped)), True)


@_aimed("amax", "amin", "max", "min", "maximum", "minimum", "fmax", "fmin")
def greedy_ties(W, function, args, kwargs):
    """The whole gradient to the first of equal elements, where PyTorch shares it among them."""
    result = function(*args, **kwargs)
    inputs = [x for x in args[:2] if isinstance(x, W.Tensor)]
    if not isinstance(result, W.Tensor) or not result.requires_grad or not floating(result):
        return result, False
    if len(inputs) == 2:
        a, b = inputs
        tied = a.detach() == b.detach() if a.shape == b.shape else None
        if tied is None or not (a.requires_grad and b.requires_grad) or not bool(tied.any()):
            return result, False
        return _Greedy.of(W)(result.detach(), a, b, (a.detach() == result.detach()), (b.detach() == result.detach()) & ~tied), True
    x = inputs[0]
    if result.dim():  # one that is left is one that all are compared with
        return result, False
    best = (x.detach() == result.detach()).reshape(-1)
    if int(best.sum()) < 2:
        return result, False
    first = (best & (best.cumsum(0) == 1)).reshape(x.shape)
    return _Greedy.of(W)(result.detach(), x, None, first, None), True


class _Greedy:
    """Values whose gradient goes to chosen elements of one or two tensors."""

    @staticmethod
    def of(W):
        class Greedy(W.autograd.Function):
            @staticmethod
            def forward(ctx, values, a, b, to_a, to_b):
                ctx.shares = to_a, to_b
                return values.clone()

            @staticmethod
            def backward(ctx, g):
                return None, *(None if share is None else g * share.to(g.dtype) for share in ctx.shares), None, None

        return Greedy.apply


def missing_buffer(W, function, args, kwargs):
    """A module whose state dict forgets a buffer."""
    modules = list(function.modules()) if isinstance(function, W.nn.Module) else []
    kept = [(m, name) for m in modules for name in m._buffers if name not in m._non_persistent_buffers_set and m._buffers[name] is not None]
    if kept:
        module, name = kept[0]
        module._non_persistent_buffers_set.add(name)
    return function(*args, **kwargs), bool(kept)


AIMED[missing_buffer.__name__] = frozenset({"nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "nn.InstanceNorm2d", "nn.SyncBatchNorm"})
FAULTS = (half_up, floor_below, swapped_bound, naive_formula, rough_sum, half_sum, wrong_when_deep, unstable, greedy_ties, missing_buffer)
