"""Faults that any operation may have: in a result that was right, or in how a call is answered.

A fault of a result takes (W, result, args, kwargs) and gives the changed result, None where it changes nothing. A fault around a
call, one of `AROUND`, takes (W, function, args, kwargs) and gives the result and whether it differs, or a list that is empty until
something differs.
"""

from ..cases.dtypes import EPSILON, name_of


class Misnamed(Exception):
    """An error that is none of the usual ones."""


def fresh(W, result, args, kwargs) -> bool:
    """Whether `result` is a tensor of its own with something in it: no view, no in-place result."""
    return result.numel() > 0 and result._base is None and not any(result is x for x in (*args, *kwargs.values()))


def floating(result) -> bool:
    """Whether it holds real floating numbers."""
    return name_of(result.dtype) in EPSILON and not name_of(result.dtype).startswith("complex")


def same(a, b) -> bool:
    """Whether two tensors of one shape hold the same numbers, or NaN in the same places."""
    return bool(((a == b) | ((a != a) & (b != b))).all())


def edited(W, result, edit):
    """`result` with `edit(flat copy)` applied to its numbers and the same history; None if nothing changed."""
    with W.no_grad():
        copy = result.detach().clone()
        flat = copy.reshape(-1)
        edit(flat)
        copy = flat.reshape(result.shape)
        if same(copy, result):
            return None
    return with_values(W, result, copy)


def with_values(W, result, values):
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


def instead(W, function, args, kwargs, values):
    """The result of the call with `values` in place of its numbers, and whether that changed any."""
    result = function(*args, **kwargs)
    if not isinstance(result, W.Tensor) or not fresh(W, result, args, kwargs) or kwargs.get("out") is not None:
        return result, False
    with W.no_grad():
        wanted = values(result.detach())
    if wanted is None or wanted.shape != result.shape:
        return result, False
    changed = edited(W, result, lambda flat: flat.copy_(wanted.reshape(-1)))
    return (result, False) if changed is None else (changed, True)


def last_element(W, result, args, kwargs):
    """The last element off by 64 epsilons."""
    if not fresh(W, result, args, kwargs) or not floating(result):
        return None
    step = 1 + 64 * EPSILON[name_of(result.dtype)]
    return edited(W, result, lambda flat: flat[-1:].mul_(step))


def truncated(W, result, args, kwargs):
    """Ten bits of mantissa, as products in tensor cores have."""
    if not fresh(W, result, args, kwargs) or name_of(result.dtype) != "float32":
        return None
    return edited(W, result, lambda flat: flat.copy_((flat.contiguous().view(W.int32) & -8192).view(W.float32)))


def zeroed(W, result, args, kwargs):
    """One element lost."""
    if not fresh(W, result, args, kwargs) or not floating(result):
        return None
    return edited(W, result, lambda flat: flat[flat.numel() // 2].zero_())


def nan_hidden(W, result, args, kwargs):
    """NaN turned into zero."""
    if not fresh(W, result, args, kwargs) or not floating(result):
        return None
    return edited(W, result, lambda flat: flat.copy_(W.where(flat != flat, W.zeros_like(flat), flat)))


def off_by_one(W, result, args, kwargs):
    """Integer results, such as indices, one too high at the end."""
    if not fresh(W, result, args, kwargs) or name_of(result.dtype) != "int64":
        return None
    return edited(W, result, lambda flat: flat[-1:].add_(1))


def widened(W, result, args, kwargs):
    """float64 where float32 is due."""
    if not fresh(W, result, args, kwargs) or name_of(result.dtype) != "float32":
        return None
    return result.to(W.float64)


def dropped_axis(W, result, args, kwargs):
    """The result of forgotten keepdim or broadcasting: one axis less."""
    if not fresh(W, result, args, kwargs) or result.dim() == 0:
        return None
    return result[0]


def relaid(W, result, args, kwargs):
    """Right numbers in another memory layout."""
    big = [n for n in result.shape if n > 1]
    if not fresh(W, result, args, kwargs) or len(big) < 2:
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
    """A result cut off from its gradients."""
    return result.detach() if result.requires_grad and result._base is None else None


def scaled_gradient(W, function, args, kwargs):
    """A gradient off by a thousandth, or as much as its dtype and those of the inputs can show."""
    shown = max((EPSILON.get(name_of(x.dtype), 0.0) for x in (*args, *kwargs.values()) if isinstance(x, W.Tensor)), default=0.0)

    def scaled(g):
        return g * (1 + max(1e-3, 32 * max(shown, EPSILON[name_of(g.dtype)])))
    return _other_gradient(W, function, args, kwargs, scaled)


def nan_gradient(W, function, args, kwargs):
    """A gradient that is NaN at one element."""
    def poisoned(g):
        g = g.clone(memory_format=W.contiguous_format)
        g.view(-1)[0] = float("nan")
        return g
    return _other_gradient(W, function, args, kwargs, poisoned)


def _other_gradient(W, function, args, kwargs, change):
    """The result of the call, whose gradient goes through `change`; what is returned beside it is empty until one does."""
    result, seen = function(*args, **kwargs), []
    inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, W.Tensor) and x.requires_grad]
    if not isinstance(result, W.Tensor) or not result.requires_grad or result._base is not None or result.numel() == 0 or not inputs:
        return result, False
    if any(result is x for x in args):
        return result, False
    grads = W.autograd.grad(result, inputs, W.ones_like(result), retain_graph=True, allow_unused=True)
    if not any(g is not None and bool((g.isfinite() & (g != 0)).any()) for g in grads):
        return result, False  # of a step function: nothing to change
    others = W.autograd.grad(result, inputs, change(W.ones_like(result)), retain_graph=True, allow_unused=True)
    if all(g is None or same(g, other) for g, other in zip(grads, others)):
        return result, False  # of an element that no input has a part in, as of padding

    class Change(W.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(True)
            return change(g)

    return Change.apply(result), seen


def noisy(W, result, args, kwargs):
    """A race: now and then one element is another."""
    if not fresh(W, result, args, kwargs) or not floating(result):
        return None
    return edited(W, result, lambda flat: flat[0:1].add_(1.0))


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
        raise Misnamed(str(error)) from None


def ignored_out(W, function, args, kwargs):
    """out= that is returned and never written."""
    out = kwargs.get("out")
    if not isinstance(out, W.Tensor) or out.numel() == 0:
        return function(*args, **kwargs), False
    before = out.detach().clone()
    function(*args, **kwargs)
    changed = out.shape != before.shape or not same(out, before)
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


def clipped(W, result, args, kwargs):
    """Large values cut off."""
    if not fresh(W, result, args, kwargs) or not floating(result):
        return None
    return edited(W, result, lambda flat: flat.clamp_(-100, 100))


def small_zeroed(W, result, args, kwargs):
    """A small element lost beside a large one."""
    if not fresh(W, result, args, kwargs) or not floating(result) or not result.is_floating_point():
        return None
    size = W.where(result.isfinite(), result.detach().abs(), W.zeros_like(result.detach()))
    small = (size < 1e-4 * size.max()) & (size > 64 * EPSILON[name_of(result.dtype)] * size.max())  # below that is rounding
    return edited(W, result, lambda flat: flat.masked_fill_(small.reshape(-1), 0.0))


def beyond_seam(W, result, args, kwargs):
    """Wrong only beyond what the first thread does."""
    if not fresh(W, result, args, kwargs) or not floating(result) or result.numel() <= 32768:
        return None
    return edited(W, result, lambda flat: flat[32768:32770].add_(1.0))


def out_as_whole(W, function, args, kwargs):
    """out= that is a view of larger memory, written as if it were row-major."""
    out = kwargs.get("out")
    if not isinstance(out, W.Tensor) or out.numel() < 2 or out.is_contiguous():
        return function(*args, **kwargs), False
    function(*args, **kwargs)
    with W.no_grad():
        right = out.clone(memory_format=W.contiguous_format)
        out.copy_(right.reshape(out.shape[::-1]).permute(*range(out.dim() - 1, -1, -1)) if out.dim() > 1 else right.flip(0))
        return out, not same(out, right)


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


class Seldom:
    """Wrong at every 500th call of the process, as a cache that overflows."""

    EVERY = 500
    __name__ = "seldom"

    def __init__(self):
        self._calls = 0

    def __call__(self, W, result, args, kwargs):
        """Wrong in its first element, if it is one of those calls."""
        if not fresh(W, result, args, kwargs) or not floating(result):
            return None
        self._calls += 1
        return edited(W, result, lambda flat: flat[0:1].add_(1.0)) if self._calls % self.EVERY == 0 else None


def nothing(W, result, args, kwargs):
    """The control: the same numbers by the way that other faults take. Whoever notices it notices an artefact."""
    if not fresh(W, result, args, kwargs) or not floating(result):
        return None
    return with_values(W, result, result.detach().clone())


AROUND = (scaled_gradient, nan_gradient, swallowed_error, other_error, ignored_out, unbumped, out_as_whole, ignored_keyword)
FAULTS = (last_element, truncated, zeroed, nan_hidden, off_by_one, widened, dropped_axis, relaid, stale_alias, lost_history,
          noisy, clipped, small_zeroed, beyond_seam, Seldom(), *AROUND)
