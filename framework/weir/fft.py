"""Discrete Fourier transforms: the core's ops, and the sample frequencies. Source: https://pytorch.org/docs/stable/fft.html"""

__all__ = [*"fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift Tensor".split()]

from _weir import ops

globals().update(ops["fft"])

from ._C import Tensor  # noqa: E402,F401
from ._arguments import checked  # noqa: E402
from ._factories import _into, as_dtype, check_options  # noqa: E402


def _frequencies(name, n, d, half, out, dtype, layout, device, requires_grad):
    from _weir import get_default_dtype
    check_options(layout, False)
    if out is not None and dtype is not None and as_dtype(dtype) != out.dtype:
        raise RuntimeError(f"dtype {as_dtype(dtype)} does not match dtype of out parameter ({out.dtype})")
    dtype = as_dtype(dtype) or (get_default_dtype() if out is None else out.dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    r = ops["hidden"]["frequencies"](n, d, half, dtype)
    r = r if device is None else r.to(device)
    return r.requires_grad_(requires_grad) if out is None else _into("fftfreq", out, r, requires_grad)


@checked
def fftfreq(n: int, d: float = 1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of fft's results for n samples at distance d: [0, 1, ..., -2, -1] / (d n). Shape: (n,)."""
    return _frequencies("fftfreq", n, d, False, out, dtype, layout, device, requires_grad)


@checked
def rfftfreq(n: int, d: float = 1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of rfft's results for n samples at distance d: [0, 1, ..., n // 2] / (d n). Shape: (n // 2 + 1,)."""
    return _frequencies("rfftfreq", n, d, True, out, dtype, layout, device, requires_grad)
