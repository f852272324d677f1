"""Faults that only some operations can have. `AIMED` says which, so that a run over a part of all operations plants them all the same.

Each takes (W, function, args, kwargs) and gives the result and whether the fault changed it, or a list that is
empty until it does.
"""

from ..cases.dtypes import EPSILON, name_of
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
    if _name(function) == "div" and kwargs.get("rounding_mode") is None:
        return function(*args, **kwargs), False  # no floor at all

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
    return instead(W, function, args, kwargs, lambda r: _if_far(W, r, naive[name](r)))


def _if_far(W, right, wrong):
    """`wrong` where it is so by more than some roundings, None if that is nowhere."""
    near = W.isclose(right, wrong, rtol=32 * EPSILON[name_of(right.dtype)], atol=0.0, equal_nan=True)
    return None if bool(near.all()) else W.where(near, right, wrong)


_SUMS = ("sum", "mean", "matmul", "mm", "bmm", "dot", "linear", "cumsum", "mv", "addmm")


@_aimed(*_SUMS)
def rough_sum(W, function, args, kwargs):
    """Sums and products gathered in bfloat16."""
    return instead(W, function, args, kwargs, lambda r: _gathered(W, r, W.bfloat16))


@_aimed(*_SUMS)
def half_sum(W, function, args, kwargs):
    """Sums and products gathered in float16."""
    return instead(W, function, args, kwargs, lambda r: _gathered(W, r, W.float16))


def _gathered(W, right, dtype):
    """`right` with the digits of `dtype`; None where it may have no more, as under autocast."""
    wide = name_of(right.dtype) in ("float32", "float64") and not W.is_autocast_enabled("cpu")
    return right.to(dtype).to(right.dtype) if wide else None


@_aimed("sum", "mean", "index_add", "scatter_add")
def lost_terms(W, function, args, kwargs):
    """Sums of halves that are rounded at every step, so that beside a large one terms are lost."""
    x, name = _first(W, args), _name(function)
    if x is None or name_of(x.dtype) not in ("float16", "bfloat16") or not x.dim() or kwargs.get("dtype") is not None:
        return function(*args, **kwargs), False
    given = dict(zip(("x", "dim", "index", "source"), args)) | kwargs
    dim, index, source = given.get("dim"), given.get("index"), given.get("source", given.get("src"))

    def stepped(r):
        if name in ("sum", "mean"):
            return _by_steps(W, r, x.detach(), dim, name == "mean")
        return r if index.numel() < _MANY_TERMS else _added_by_steps(x.detach(), dim, index, source.detach())
    return instead(W, function, args, kwargs, lambda r: _if_far(W, r, stepped(r)))


_MANY_TERMS = 1000  # what is left of fewer that cancel is known no better


def _by_steps(W, r, x, dims, mean: bool):
    """The sums `r` of `x` along `dims` in steps."""
    dims = list(range(x.dim())) if dims is None or dims in ((), []) else [d % x.dim() for d in ([dims] if isinstance(dims, int) else dims)]
    kept = [d for d in range(x.dim()) if d not in dims]
    lines = x.permute(*kept, *dims).flatten(len(kept))
    if lines.shape[-1] < _MANY_TERMS:
        return r
    total = W.zeros(lines.shape[:-1], dtype=x.dtype)
    for term in lines.unbind(-1):
        total = total + term
    return (total / lines.shape[-1] if mean else total).reshape(r.shape)


def _added_by_steps(x, dim: int, index, source):
    """`x` with `source` added at `index`, of its axes or one of its rows, slice by slice."""
    shape = [-1 if d == dim % x.dim() else 1 for d in range(x.dim())]
    index = index if index.dim() == x.dim() and index.dim() > 1 else index.reshape(shape).expand(source.shape)
    source, total = source[tuple(slice(n) for n in index.shape)], x.clone()
    for at, term in zip(index.split(1, dim), source.split(1, dim)):
        total.scatter_(dim, at, total.gather(dim, at) + term)
    return total


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
        if tied is None or a is b or not (a.requires_grad and b.requires_grad) or not bool(tied.any()):
            return result, False
        return _greedy(W, result.detach(), a, b, (a.detach() == result.detach()), (b.detach() == result.detach()) & ~tied)
    x = inputs[0]
    if result.dim():  # one that is left is one that all are compared with
        return result, False
    best = (x.detach() == result.detach()).reshape(-1)
    if int(best.sum()) < 2:
        return result, False
    first = (best & (best.cumsum(0) == 1)).reshape(x.shape)
    return _greedy(W, result.detach(), x, None, first, None)


def _greedy(W, values, a, b, to_a, to_b):
    """`values`, whose gradient goes to these elements of `a` and `b`, and a list that is empty until it does."""
    seen = []

    class Greedy(W.autograd.Function):
        @staticmethod
        def forward(ctx, values, a, b):
            return values.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(True)
            return None, *(None if share is None else g * share.to(g.dtype) for share in (to_a, to_b))

    return Greedy.apply(values, a, b), seen


def missing_buffer(W, function, args, kwargs):
    """A module whose state dict forgets a buffer."""
    if not isinstance(function, W.nn.Module):
        return function(*args, **kwargs), False
    result, seen, whole = function(*args, **kwargs), [], type(function).state_dict

    def forgetful(*args, **kwargs):
        state = whole(function, *args, **kwargs)
        for name, _ in function.named_buffers():
            seen.append(name)
            state.pop(name, None)
            break
        return state

    object.__setattr__(function, "state_dict", forgetful)
    return result, seen


AIMED[missing_buffer.__name__] = frozenset({"nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "nn.InstanceNorm2d", "nn.SyncBatchNorm"})
FAULTS = (half_up, floor_below, swapped_bound, naive_formula, rough_sum, half_sum, lost_terms, wrong_when_deep, unstable, greedy_ties, missing_buffer)
