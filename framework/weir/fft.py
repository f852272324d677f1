"""Discrete Fourier transforms: the core's ops, and the sample frequencies. Source: https://pytorch.org/docs/stable/fft.html"""
import math

__all__ = [*"fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift Tensor".split()]

from _weir import ops

globals().update(ops["fft"])

from ._C import Tensor  # noqa: E402,F401
from ._arguments import checked  # noqa: E402
from ._factories import arange  # noqa: E402
from ._factories import _into, as_dtype  # noqa: E402


def _frequencies(whole, step, out, requires_grad):
    r = whole * step
    if out is not None:
        return _into("fftfreq", out, r, requires_grad)
    return r.requires_grad_(requires_grad)


def _reciprocal(x):
    return 1.0 / x if x else math.copysign(math.inf, x)


def _dtype(name, dtype):
    from _weir import get_default_dtype
    dtype = as_dtype(dtype) or get_default_dtype()
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    return dtype


@checked
def fftfreq(n: int, d: float = 1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of fft's results for n samples at distance d: [0, 1, ..., -2, -1] / (d n). Shape: (n,)."""
    dtype = _dtype("fftfreq", dtype or (out.dtype if out is not None else None))
    whole = arange(n, dtype=dtype, layout=layout, device=device)
    whole[(n + 1) // 2:] = arange(-(n // 2), 0, dtype=dtype, device=device)
    return _frequencies(whole, _reciprocal(n * d), out, requires_grad)


@checked
def rfftfreq(n: int, d: float = 1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of rfft's results for n samples at distance d: [0, 1, ..., n // 2] / (d n). Shape: (n // 2 + 1,)."""
    dtype = _dtype("rfftfreq", dtype or (out.dtype if out is not None else None))
    return _frequencies(arange(n // 2 + 1, dtype=dtype, layout=layout, device=device), _reciprocal(n * d), out, requires_grad)
