"""Window functions of M points. Shape: (M,).

With `sym` (the default) a window is symmetric, as filter design wants it; without, it is one period of a window of M + 1
points, as spectral analysis wants it. dtype: float32 or float64, by default the default dtype. ValueError for a negative M,
another dtype, another layout than strided. Source: https://pytorch.org/docs/stable/signal.html
"""
import functools
import inspect

import weir
from weir._C import ops

_hidden = ops["hidden"]


def _window(points):
    """Gives `points(M, sym, dtype, **arguments)` the arguments that all windows share, and their checks."""
    name = points.__name__

    @functools.wraps(points)
    def window(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False, **arguments):
        dtype = dtype or weir.get_default_dtype()
        M = M if isinstance(M, float) and M > 1 else int(M)  # True, a tensor of one number; of floats 0.0 and 1.0 alone, as in PyTorch
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout not in (None, "strided") and str(layout) != "torch.strided":
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        if dtype not in (weir.float32, weir.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        arguments = {key: x.detach() if isinstance(x, weir.Tensor) else x for key, x in arguments.items()}  # a window has no history
        values = points(M, sym, dtype, **arguments)
        values = values.to(weir.get_default_device() if device is None else device)
        return values.requires_grad_(bool(requires_grad))

    own = [p for n, p in inspect.signature(points).parameters.items() if n not in ("M", "sym", "dtype")]
    M, *shared, _ = inspect.signature(window, follow_wrapped=False).parameters.values()
    window.__signature__ = inspect.Signature([M, *own, *shared])
    return window


@_window
def general_cosine(M, sym, dtype, *, a):
    """The sum over i of (-1)^i a_i cos(i x) for x over one turn. TypeError unless `a` is a sequence, ValueError if empty."""
    if M > 1 and not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    if M > 1 and not a:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(M, sym, dtype, a)


def _cosines(M, sym, dtype, a):
    if M < 2:
        return weir.ones(M, dtype=dtype)
    return _hidden["general_cosine_window"](weir.tensor(list(a), dtype=weir.float64, device="cpu"), M, not sym, dtype=dtype)


@_window
def general_hamming(M, sym, dtype, *, alpha=0.54):
    """alpha - (1 - alpha) cos(x)."""
    return weir.hamming_window(M, not sym, alpha, 1.0 - alpha, dtype=dtype)


@_window
def hamming(M, sym, dtype):
    """0.54 - 0.46 cos(x)."""
    return weir.hamming_window(M, not sym, dtype=dtype)


@_window
def hann(M, sym, dtype):
    """(1 - cos(x)) / 2."""
    return weir.hann_window(M, not sym, dtype=dtype)


@_window
def blackman(M, sym, dtype):
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x)."""
    return weir.blackman_window(M, not sym, dtype=dtype)


@_window
def nuttall(M, sym, dtype):
    """Nuttall's four-term window."""
    return _cosines(M, sym, dtype, [0.3635819, 0.4891775, 0.1365995, 0.0106411])


@_window
def bartlett(M, sym, dtype):
    """The triangle 1 - |x| for x from -1 to 1."""
    return weir.bartlett_window(M, not sym, dtype=dtype)


@_window
def cosine(M, sym, dtype):
    """Half a period of the sine."""
    return _hidden["cosine_window"](M, not sym, dtype=dtype)


def _middle(M, sym):
    return (M if not sym and M > 1 else M - 1) / 2.0


@_window
def exponential(M, sym, dtype, *, center=None, tau=1.0):
    """exp(-|n - center| / tau). ValueError unless tau > 0, or for a center given to a symmetric window."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _hidden["exponential_window"](M, _middle(M, sym) if center is None else center, tau, dtype=dtype)


@_window
def gaussian(M, sym, dtype, *, std=1.0):
    """exp(-((n - middle) / std)^2 / 2). ValueError unless std > 0."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _hidden["gaussian_window"](M, _middle(M, sym), std, dtype=dtype)


@_window
def kaiser(M, sym, dtype, *, beta=12.0):
    """i0(sqrt(beta^2 - x^2)) / i0(beta) for x from -beta to beta. ValueError for a negative beta."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M > 1 and isinstance(beta, weir.Tensor):
        beta = weir.tensor(beta, dtype=dtype)  # warns
    return weir.kaiser_window(M, not sym, beta, dtype=dtype)

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
