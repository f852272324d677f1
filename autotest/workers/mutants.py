"""Faults planted in a right subject, to see which of them the harness notices.

A mutant wraps the function under test. It reports whether it changed anything at all in a call, since a fault that
changes nothing cannot be found.
"""

from ..cases.dtypes import EPSILON, name_of


class _Misnamed(Exception):
    """An error that is none of the usual ones."""


class Mutant:
    """`function` of framework `W` with the fault `kind`; `applied` says whether the last call was changed."""

    def __init__(self, kind: str, function, W):
        self._change = _CHANGES[kind]
        self._function = function
        self._W = W
        self.applied = False

    def __call__(self, *args, **kwargs):
        self.applied = False
        if self._change in _AROUND:
            try:
                result, self.applied = self._change(self._W, self._function, args, kwargs)
            except _Misnamed:
                self.applied = True
                raise
            return result
        result = self._function(*args, **kwargs)
        if isinstance(result, self._W.Tensor):
            changed = self._change(self._W, result, args, kwargs)
            self.applied = changed is not None
            return changed if self.applied else result
        return result


class Plant:
    """Wraps functions in mutants of one kind; `applied` says whether any of them changed a call."""

    def __init__(self, kind: str, W):
        self._kind, self._W, self._mutants = kind, W, []

    def __call__(self, function) -> Mutant:
        self._mutants.append(Mutant(self._kind, function, self._W))
        return self._mutants[-1]

    @property
    def applied(self) -> bool:
        return any(mutant.applied for mutant in self._mutants)


def _fresh(W, result, args, kwargs) -> bool:
    """Whether `result` is a tensor of its own with something in it: no view, no in-place result."""
    return result.numel() > 0 and result._base is None and not any(result is x for x in (*args, *kwargs.values()))


def _floating(result) -> bool:
    return name_of(result.dtype) in EPSILON and not name_of(result.dtype).startswith("complex")


def _edited(W, result, edit):
    """`result` with `edit(flat copy)` applied to its numbers and the same history; None if nothing changed."""
    with W.no_grad():
        copy = result.detach().clone()
        flat = copy.reshape(-1)
        edit(flat)
        copy = flat.reshape(result.shape)
        if bool(((copy == result) | ((copy != copy) & (result != result))).all()):
            return None
    return _with_values(W, result, copy)


def _with_values(W, result, values):
    """A tensor of `values` through which gradients flow as through `result`, with its strides."""
    class Replace(W.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept = W.empty_strided(x.shape, x.stride(), dtype=x.dtype) if x.numel() else x.clone()
            return kept.copy_(values)

        @staticmethod
        def backward(ctx, g):
            return g

    return Replace.apply(result)


def last_element(W, result, args, kwargs):
    if not _fresh(W, result, args, kwargs) or not _floating(result):
        return None
    step = 1 + 64 * EPSILON[name_of(result.dtype)]
    return _edited(W, result, lambda flat: flat[-1:].mul_(step))


def truncated(W, result, args, kwargs):
    """Ten bits of mantissa, as products in tensor cores have."""
    if not _fresh(W, result, args, kwargs) or name_of(result.dtype) != "float32":
        return None
    return _edited(W, result, lambda flat: flat.copy_((flat.contiguous().view(W.int32) & -8192).view(W.float32)))


def zeroed(W, result, args, kwargs):
    if not _fresh(W, result, args, kwargs) or not _floating(result):
        return None
    return _edited(W, result, lambda flat: flat[flat.numel() // 2].zero_())


def nan_hidden(W, result, args, kwargs):
    if not _fresh(W, result, args, kwargs) or not _floating(result):
        return None
    return _edited(W, result, lambda flat: flat.copy_(W.where(flat != flat, W.zeros_like(flat), flat)))


def off_by_one(W, result, args, kwargs):
    """Integer results, such as indices, one too high at the end."""
    if not _fresh(W, result, args, kwargs) or name_of(result.dtype) != "int64":
        return None
    return _edited(W, result, lambda flat: flat[-1:].add_(1))


def widened(W, result, args, kwargs):
    if not _fresh(W, result, args, kwargs) or name_of(result.dtype) != "float32":
        return None
    return result.to(W.float64)


def dropped_axis(W, result, args, kwargs):
    """The result of forgotten keepdim or broadcasting: one axis less."""
    if not _fresh(W, result, args, kwargs) or result.dim() == 0:
        return None
    return result[0]


def relaid(W, result, args, kwargs):
    """Right numbers in another memory layout."""
    big = [n for n in result.shape if n > 1]
    if not _fresh(W, result, args, kwargs) or len(big) < 2:
        return None
    moved = result.transpose(0, -1).clone(memory_format=W.contiguous_format).transpose(0, -1)
    return moved if moved.stride() != result.stride() else None


def stale_alias(W, result, args, kwargs):
    """A copy where a view of an input is due."""
    place = result.untyped_storage().data_ptr()
    inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, W.Tensor)]
    of_input = result.numel() > 0 and any(x.untyped_storage().data_ptr() == place for x in inputs)
    return result.clone() if result._base is not None and of_input else None


def lost_history(W, result, args, kwargs):
    return result.detach() if result.requires_grad and result._base is None else None


def scaled_gradient(W, result, args, kwargs):
    inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, W.Tensor) and x.requires_grad]
    if not result.requires_grad or result._base is not None or result.numel() == 0 or not inputs:
        return None
    grads = W.autograd.grad(result, inputs, W.ones_like(result), retain_graph=True, allow_unused=True)
    if not any(g is not None and bool((g.isfinite() & (g != 0)).any()) for g in grads):
        return None  # of a step function: nothing to scale

    class Scale(W.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * 1.001

    return Scale.apply(result) if not any(result is x for x in args) else None


def noisy(W, result, args, kwargs):
    """A race: now and then one element is another."""
    if not _fresh(W, result, args, kwargs) or not _floating(result):
        return None
    return _edited(W, result, lambda flat: flat[0:1].add_(1.0))


def swallowed_error(W, function, args, kwargs):
    """An unchecked argument: something comes back where an error is due."""
    try:
        return function(*args, **kwargs), False
    except Exception:
        return W.zeros(1), True


def other_error(W, function, args, kwargs):
    """An error of a class that no caller expects."""
    try:
        return function(*args, **kwargs), False
    except Exception as error:
        raise _Misnamed(str(error)) from None


def ignored_out(W, function, args, kwargs):
    """out= that is returned and never written."""
    out = kwargs.get("out")
    if not isinstance(out, W.Tensor) or out.numel() == 0:
        return function(*args, **kwargs), False
    before = out.detach().clone()
    function(*args, **kwargs)
    changed = out.shape != before.shape or not bool((out == before).all())
    with W.no_grad():
        out.resize_(before.shape).copy_(before)
    return out, changed


def unbumped(W, function, args, kwargs):
    """An in-place kernel that forgets the version counter."""
    first = args[0] if args else None
    if not isinstance(first, W.Tensor) or first.requires_grad or "out" in kwargs:
        return function(*args, **kwargs), False
    hidden = first.data  # the same memory, with a counter of its own
    result = function(hidden, *args[1:], **kwargs)
    return (first, True) if result is hidden and hidden._version > 0 else (result, False)


def _named(function, *names) -> bool:
    return getattr(function, "__name__", "").rstrip("_") in names


def _first(W, args):
    first = args[0] if args else None
    return first if isinstance(first, W.Tensor) and first.numel() and _floating(first) else None


def _instead(W, function, args, kwargs, values):
    """The result of the call with `values` in place of its numbers, and whether that changed any."""
    result = function(*args, **kwargs)
    if not isinstance(result, W.Tensor) or not _fresh(W, result, args, kwargs) or kwargs.get("out") is not None:
        return result, False
    with W.no_grad():
        wanted = values(result.detach())
    if wanted is None or wanted.shape != result.shape:
        return result, False
    changed = _edited(W, result, lambda flat: flat.copy_(wanted.reshape(-1)))
    return (result, False) if changed is None else (changed, True)


def half_up(W, function, args, kwargs):
    """round() that takes halves up instead of to even."""
    x = _first(W, args)
    if x is None or not _named(function, "round") or kwargs.get("decimals"):
        return function(*args, **kwargs), False
    return _instead(W, function, args, kwargs, lambda result: (x.detach() + 0.5).floor())


def floor_below(W, function, args, kwargs):
    """floor() and floor division one too low where the answer is whole already."""
    if not _named(function, "floor", "floor_divide", "div", "trunc"):
        return function(*args, **kwargs), False
    def lowered(result):
        if not _floating(result):
            return None
        whole = (result == result.floor()) & (result.abs() > 1)
        return result if not bool(whole.any()) else W.where(whole & (whole.reshape(-1).cumsum(0).reshape(whole.shape) == 1), result - 1, result)
    return _instead(W, function, args, kwargs, lowered)


_SWAPPED = {"gt": "ge", "ge": "gt", "lt": "le", "le": "lt", "greater": "ge", "less": "le"}


def swapped_bound(W, function, args, kwargs):
    """A comparison that takes equal for greater, or the other way round."""
    name = getattr(function, "__name__", "").rstrip("_")
    if name not in _SWAPPED or len(args) < 2:
        return function(*args, **kwargs), False
    return _instead(W, function, args, kwargs, lambda result: getattr(W, _SWAPPED[name])(*args[:2]))


def clipped(W, result, args, kwargs):
    """Large values cut off."""
    if not _fresh(W, result, args, kwargs) or not _floating(result):
        return None
    return _edited(W, result, lambda flat: flat.clamp_(-100, 100))


def small_zeroed(W, result, args, kwargs):
    """A small element lost beside a large one."""
    if not _fresh(W, result, args, kwargs) or not _floating(result) or not result.is_floating_point():
        return None
    size = W.where(result.isfinite(), result.detach().abs(), W.zeros_like(result.detach()))
    return _edited(W, result, lambda flat: flat.mul_((size.reshape(-1) > 1e-4 * size.max()).to(flat.dtype)))


def naive_formula(W, function, args, kwargs):
    """expm1, log1p, logsumexp and softmax as a beginner writes them."""
    x = _first(W, args)
    name = getattr(function, "__name__", "").rstrip("_")
    if x is None or not x.is_floating_point():
        return function(*args, **kwargs), False
    x = x.detach()
    along = args[1] if len(args) > 1 else kwargs.get("dim")
    naive = {"expm1": lambda r: x.exp() - 1, "log1p": lambda r: (1 + x).log(),
             "logsumexp": lambda r: x.exp().sum(along, keepdim=bool(kwargs.get("keepdim", args[2] if len(args) > 2 else False))).log(),
             "softmax": lambda r: x.exp() / x.exp().sum(along, keepdim=True)}
    if name not in naive or (name in ("logsumexp", "softmax") and along is None) or kwargs.get("dtype") is not None:
        return function(*args, **kwargs), False
    return _instead(W, function, args, kwargs, naive[name])


def rough_sum(W, function, args, kwargs):
    """Sums and products gathered in bfloat16."""
    if not _named(function, "sum", "mean", "matmul", "mm", "bmm", "dot", "linear", "cumsum", "mv", "addmm"):
        return function(*args, **kwargs), False
    return _instead(W, function, args, kwargs, lambda r: r.to(W.bfloat16).to(r.dtype) if name_of(r.dtype) in ("float32", "float64") else None)


def wrong_when_deep(W, function, args, kwargs):
    """A product that is wrong only for 64 terms and more, where kernels change their blocking."""
    x = args[0] if args and isinstance(args[0], W.Tensor) else None
    deep = x is not None and x.dim() > 0 and x.shape[-1] >= 64
    if not deep or not _named(function, "matmul", "mm", "bmm", "dot", "linear", "mv", "inner", "vdot"):
        return function(*args, **kwargs), False
    return _instead(W, function, args, kwargs, lambda r: r + r.abs().max() * 1e-2 if _floating(r) else None)


def beyond_seam(W, result, args, kwargs):
    """Wrong only beyond what the first thread does."""
    if not _fresh(W, result, args, kwargs) or not _floating(result) or result.numel() <= 32768:
        return None
    return _edited(W, result, lambda flat: flat[32768:32770].add_(1.0))


def unstable(W, function, args, kwargs):
    """A stable sort that is none: equal neighbours change places."""
    result = function(*args, **kwargs)
    if not _named(function, "sort", "argsort") or kwargs.get("stable") is not True or not args or kwargs.get("out") is not None:
        return result, False
    indices = result if isinstance(result, W.Tensor) else result[1]
    dim = kwargs.get("dim", -1)
    if indices.dim() == 0 or indices.shape[dim] < 2:
        return result, False
    values = W.take_along_dim(args[0].detach(), indices, dim)
    a, b = values.narrow(dim, 0, 1), values.narrow(dim, 1, 1)
    tied = a == b
    if not bool(tied.any()):
        return result, False
    i, j = indices.narrow(dim, 0, 1), indices.narrow(dim, 1, 1)
    swapped = W.cat([W.where(tied, j, i), W.where(tied, i, j), indices.narrow(dim, 2, indices.shape[dim] - 2)], dim)
    return (swapped, True) if isinstance(result, W.Tensor) else (type(result)((result[0], swapped)), True)


def nan_gradient(W, result, args, kwargs):
    """A gradient that is NaN at one element."""
    inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, W.Tensor) and x.requires_grad]
    if not result.requires_grad or result._base is not None or result.numel() == 0 or any(result is x for x in args) or not inputs:
        return None
    grads = W.autograd.grad(result, inputs, W.ones_like(result), retain_graph=True, allow_unused=True)
    if not any(g is not None and bool(g.isfinite().all()) and g.numel() for g in grads):
        return None

    class Poison(W.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            g = g.clone(memory_format=W.contiguous_format)
            g.view(-1)[0] = float("nan")
            return g

    return Poison.apply(result)


def out_as_whole(W, function, args, kwargs):
    """out= that is a view of larger memory, written as if it were row-major."""
    out = kwargs.get("out")
    if not isinstance(out, W.Tensor) or out.numel() < 2 or out.is_contiguous():
        return function(*args, **kwargs), False
    function(*args, **kwargs)
    with W.no_grad():
        right = out.clone(memory_format=W.contiguous_format)
        out.copy_(right.reshape(out.shape[::-1]).permute(*range(out.dim() - 1, -1, -1)) if out.dim() > 1 else right.flip(0))
        return out, not bool((out == right).all())


def ignored_keyword(W, function, args, kwargs):
    """A keyword that is taken and not used."""
    for name in ("keepdim", "descending", "largest", "unbiased", "right", "exclusive"):
        if name in kwargs:
            rest = {key: value for key, value in kwargs.items() if key != name}
            try:
                return function(*args, **rest), repr(function(*args, **rest)) != repr(function(*args, **kwargs))
            except Exception:
                return function(*args, **kwargs), False
    return function(*args, **kwargs), False


def nothing(W, result, args, kwargs):
    """The control: the same numbers by the way that other faults take. Whoever notices it notices an artefact."""
    if not _fresh(W, result, args, kwargs) or not _floating(result):
        return None
    return _with_values(W, result, result.detach().clone())


KINDS = {function.__name__: function for function in (
    last_element, truncated, zeroed, nan_hidden, off_by_one, widened, dropped_axis, relaid, stale_alias, lost_history,
    scaled_gradient, noisy, swallowed_error, other_error, ignored_out, unbumped, half_up, floor_below, swapped_bound, clipped,
    small_zeroed, naive_formula, rough_sum, wrong_when_deep, beyond_seam, unstable, nan_gradient, out_as_whole, ignored_keyword)}
CONTROL = "nothing"
_CHANGES = {**KINDS, CONTROL: nothing}
_AROUND = {swallowed_error, other_error, ignored_out, unbumped, half_up, floor_below, swapped_bound, naive_formula, rough_sum,
           wrong_when_deep, unstable, out_as_whole, ignored_keyword}
