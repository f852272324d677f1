"""Discrete Fourier transforms: the core's ops, and the sample frequencies. Source: https://pytorch.org/docs/stable/fft.html"""

__all__ = [*"fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift Tensor".split()]

from _weir import ops

globals().update(ops["fft"])

from ._C import Tensor  # noqa: E402,F401
