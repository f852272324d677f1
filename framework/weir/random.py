"""Random tensors and the seed. The default generator draws as PyTorch's CPU generator does."""

from _weir import Tensor, _argument, _default_generator, _renamed, ops

from ._composites._check import check_floating

default_generator = _default_generator()
normal_ = _renamed(ops["method"]["normal_fill_"], "normal_")


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
    if self.is_complex():
        raise NotImplementedError(f"bernoulli_ with p: not implemented for {self.dtype}")
    p = p if p.is_floating_point() else p.double()
    return self.copy_(ops["torch"]["bernoulli"](p.expand(self.shape), generator=generator))


def exponential_(self, lambd=1.0, *, generator=None):
    """Exponential numbers of rate lambd in place."""
    return self.drawn_fill_("exponential", lambd, generator=generator)


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Cauchy numbers in place. RuntimeError unless sigma > 0 and self holds floating numbers."""
    median, sigma = _argument("cauchy_", "median", 1, "float", median), _argument("cauchy_", "sigma", 2, "float", sigma)
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


def thread_safe_generator():
    """The generator of a DataLoader's worker that is a thread: None, for the default one, since workers are processes here."""
    return None
