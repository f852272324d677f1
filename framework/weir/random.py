"""Random tensors and the seed. The default generator draws as PyTorch's CPU generator does."""

from _weir import Tensor, _argument, _default_generator, _number_of, can_cast, is_grad_enabled, ops, result_type

from . import _types as T
from ._composites._check import check_floating
from ._factories import _into, as_dtype, check_options

default_generator = _default_generator()
_torch, _hidden = ops["torch"], ops["hidden"]
_empty, _empty_like = _torch["empty"], _torch["empty_like"]


def manual_seed(seed):
    """Seeds the default generator with a number in [-2^63, 2^64) and returns it. ValueError for others."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Seeds the default generator from the system and returns the seed."""
    return default_generator.seed()


def initial_seed():
    return default_generator.initial_seed()


def get_rng_state():
    """The default generator's whole state as a uint8 tensor, which PyTorch's CPU generator takes too."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Puts the default generator where `new_state`, weir's or PyTorch's, was taken. RuntimeError for other bytes."""
    default_generator.set_state(new_state)


class fork_rng:
    """Restores the random state on exit."""

    def __init__(self, devices=None, enabled=True, **kw):
        self._enabled = enabled

    def __enter__(self):
        self._state = get_rng_state()

    def __exit__(self, *exc):
        if self._enabled:
            set_rng_state(self._state)


def _size(size, kw):
    size = kw.pop("size", size)
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _made(r, out, device, requires_grad, dtype=None):
    if device is not None:
        r = r.to(device)
    if out is not None:
        if dtype is not None and as_dtype(dtype) != out.dtype:
            raise RuntimeError(f"dtype {dtype} does not match dtype of out parameter ({out.dtype})")
        return _into("random", out, r, requires_grad)
    return r.requires_grad_() if requires_grad else r


def _drawn(out, dtype):
    """The dtype of a factory's fractions, which `out` says where the call does not."""
    return out.dtype if dtype is None and out is not None else dtype


def rand(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kw):
    """Uniform numbers in [0, 1). Shape: `size`."""
    check_options(layout, pin_memory, requires_grad)
    r = _empty(_size(size, kw), dtype=_drawn(out, dtype))
    return _made(r.uniform_(generator=generator), out, device, requires_grad, dtype)


def randn(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kw):
    """Standard normal numbers. Shape: `size`."""
    check_options(layout, pin_memory, requires_grad)
    r = _empty(_size(size, kw), dtype=_drawn(out, dtype))
    return _made(normal_(r, generator=generator), out, device, requires_grad, dtype)


def _whole(x):
    """The number of a 0-d tensor, made whole; while a program is traced, of one among the graph's arguments."""
    return int(x if x.is_complex() else _number_of(x))


def _bounds(low, high):
    """The two bounds of integers, of which one alone is the upper one."""
    low, high = (0, low) if high is None else (low, high)
    if isinstance(high, Tensor):
        if high.dim():
            raise RuntimeError("randint: high must be a scalar tensor and on CPU")
        high = _whole(high)
    if isinstance(low, Tensor):
        low = _whole(low)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return low, high


def _bound(name, x, kind="int"):
    if x.__class__ is int and -2**63 <= x < 2**63:  # most calls
        return x
    if isinstance(x, Tensor) and x.dim():
        raise RuntimeError(f"{name}: high must be a scalar tensor and on CPU")
    # In an op's overloads 0-d tensors stand for bounds of their own, of any dtype.
    return _whole(x) if isinstance(x, Tensor) else _argument(name, "high", 2, kind, x)


def randint(low=None, high=None, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
            requires_grad=False, pin_memory=False):
    """Integers in [low, high), or in [0, high) of one bound alone, int64 unless dtype says otherwise. Shape: `size`."""
    check_options(layout, pin_memory, requires_grad)
    if size is None:
        low, high, size = None, low, high
    if low is None:
        low, high = high, None
    if low is None or size is None:
        raise TypeError("randint(): expected (high, size) or (low, high, size)")
    dtype = dtype if dtype is None else as_dtype(dtype)
    if out is not None and dtype not in (None, out.dtype):  # told before the size is read
        raise RuntimeError(f"dtype {dtype} does not match dtype of out parameter ({out.dtype})")
    size = _argument("randint", "size", 3, "list[int]", size)
    low, high = _bounds(*(_number_of(x) if isinstance(x, Tensor) and x.numel() == 1 else _bound("randint", x, "int | None") for x in (low, high)))
    r = _empty(size, dtype=dtype or T.int64)
    return _made(r.random_range_(low, high, generator=generator), out, device, requires_grad, dtype)


def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A random permutation of 0 .. n - 1."""
    check_options(layout, pin_memory, requires_grad)
    dtype = as_dtype(dtype)
    if dtype == T.bool or dtype is not None and dtype.is_complex:
        raise NotImplementedError(f"randperm: not implemented for {dtype}")
    return _made(_hidden["randperm_of"](n, generator).to(dtype or (T.int64 if out is None else out.dtype)), out, device, requires_grad, dtype)


def _like(fill, bounds=()):
    """A factory `name_like(input)`: `fill(target, *bounds)` draws in the order of the new tensor's memory. `bounds` names parameters."""
    def like(input: Tensor, *args, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
             memory_format=None, generator=None, **kw):
        check_options(layout, pin_memory, requires_grad)
        if args or kw:
            if len(args) > 1:  # two bounds are numbers, for which tensors of one element stand, whatever their axes
                args = [_number_of(x) if isinstance(x, Tensor) and x.numel() == 1 else x for x in args]
            args, kw = [_bound("randint_like", x) for x in args], {k: _bound("randint_like", x) if k in bounds else x for k, x in kw.items()}
        target = _empty_like(input, dtype=dtype, memory_format=memory_format)
        target = target if device is None else target.to(device)
        return fill(target, *args, generator=generator, **kw).requires_grad_(requires_grad)
    return like


def _fill_integers(self, low=None, high=None, generator=None):
    low, high = (0, high) if low is None else (low, high)
    return self.random_range_(*_bounds(low, high), generator=generator)


rand_like = _like(lambda self, generator=None: self.uniform_(generator=generator))
randn_like = _like(lambda self, generator=None: normal_(self, generator=generator))
randint_like = _like(_fill_integers, ("low", "high"))


def normal(mean, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           requires_grad=False, pin_memory=False):
    """Normal numbers of the given means and standard deviations (numbers or tensors)."""
    check_options(layout, pin_memory, requires_grad)
    if isinstance(std, Tensor) and std.is_complex():
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if isinstance(std, Tensor) and std.numel():
        _hidden["check_not_negative"](std.detach(), "normal: std", "RuntimeError")
    if not isinstance(mean, Tensor) and isinstance(std, Tensor) and not std.is_floating_point():
        return _made(normal_(_empty(std.shape, dtype=std.dtype)), out, device, requires_grad)
    if size is not None:
        size = _argument("normal", "size", 3, "list[int]", size)
        r = normal_(_empty(size, dtype=_drawn(out, dtype)), mean, std, generator=generator)
        return _made(r, out, device, requires_grad, dtype)
    if not isinstance(std, Tensor) and not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    from ._composites.joining import broadcast_shapes
    dtype = mean.dtype if isinstance(mean, Tensor) else std.dtype
    given = [x for x in (mean, std) if isinstance(x, Tensor)]
    if is_grad_enabled() and any(x.requires_grad for x in given):
        if out is not None:
            raise RuntimeError("normal(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
                               "requires grad.")
        if dtype.is_complex:
            raise RuntimeError("normal does not support automatic differentiation for outputs with complex dtype.")
    dtype = dtype if out is None else out.dtype  # PyTorch draws into out, and multiplies and adds there: whole numbers if there are none
    if out is not None and not isinstance(std, Tensor):  # as one number it takes the shape of out
        given.append(out)
    shape = broadcast_shapes(*(x.shape for x in given))
    r = normal_(_empty(shape, dtype=dtype), generator=generator)
    for other in given[:2] if out is not None else ():
        wanted = result_type(out, other)
        if not can_cast(wanted, dtype):
            raise RuntimeError(f"normal: result type {wanted} can't be cast to the desired output type {dtype}")
    if (r.is_floating_point() or r.is_complex()) and not any(x.requires_grad for x in given):
        return _made(r.mul_(std).add_(mean), out, device, requires_grad)  # in place, so row by row
    return _made((r * std + mean).to(dtype), out, device, requires_grad)


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Normal numbers in place. NotImplementedError for whole numbers."""
    if not (self.is_floating_point() or self.is_complex()):
        if self.numel():
            raise NotImplementedError(f"normal_: not implemented for {self.dtype}")
        return self.zero_()  # a write of nothing
    return self.normal_fill_(mean, std, generator=generator)


def random_(self, *bounds, generator=None, **named):
    """Whole numbers in place: random_(to) in [0, to), random_(from, to) in [from, to), random_() and random_(from, None)
    up to the largest that the dtype holds. RuntimeError for bounds outside of the dtype."""
    names = ("to",) if len(bounds) == 1 and not named else ("from", "to")
    named.update(zip(names, bounds))
    if len(bounds) > 2 or named and named.keys() not in ({"to"}, {"from", "to"}):
        raise TypeError("random_() takes no bound, `to`, or `from` and `to`")
    for name, bound in named.items():
        if isinstance(bound, Tensor) and bound.dim():
            raise TypeError(f"random_(): argument '{name}' must be int, not Tensor of {bound.dim()} axes")
    low = named.get("from", 0 if named else None)
    return self.random_range_(low, named.get("to"), generator=generator)


def bernoulli_(self, p=0.5, *, generator=None):
    """1 with probability p (a number or a tensor), else 0, in place."""
    if not isinstance(p, Tensor):
        return self.bernoulli_fill_(p, generator=generator)
    if not self.numel():  # PyTorch does not look at p then, which has a gradient all the same
        return self.copy_((p.real if p.is_complex() else p).sum() * 0)
    check_floating("bernoulli_ with p", p)
    p = p if p.is_floating_point() else p.double()
    return self.copy_(_torch["bernoulli"](p.expand(self.shape), generator=generator))


def exponential_(self, lambd=1.0, *, generator=None):
    """Exponential numbers of rate lambd in place."""
    return self.drawn_fill_("exponential", lambd, generator=generator)


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Cauchy numbers in place. RuntimeError unless sigma > 0 and self holds floating numbers."""
    if not self.is_floating_point():
        raise RuntimeError(f"Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified {self.dtype}")
    return self.drawn_fill_("cauchy", median, sigma, generator=generator)


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Numbers whose logarithm is normal, in place. RuntimeError unless std > 0."""
    return self.drawn_fill_("log_normal", mean, std, generator=generator)


def geometric_(self, p, *, generator=None):
    """Numbers of draws up to the first success of probability p, in place. RuntimeError unless 0 < p < 1."""
    return self.drawn_fill_("geometric", p, generator=generator)


methods = dict(normal_=normal_, random_=random_, bernoulli_=bernoulli_, exponential_=exponential_, cauchy_=cauchy_,
               log_normal_=log_normal_, geometric_=geometric_)
