"""Fourier transforms, which need complex numbers."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.fft", "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft hfft2 "
                            "ihfft2 hfftn ihfftn fftfreq rfftfreq fftshift ifftshift", "weir has no Fourier transforms yet")
