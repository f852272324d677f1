"""Overloads of core ops whose one signature cannot hold them: PyTorch has several functions under these names."""

import warnings

import weir
from weir import _C

from ._check import check_floating
from ._register import completes
from .search import nonzero


@completes("where")
def _where(core, *args, **kwargs):
    """Of the condition alone: the coordinates where it holds."""
    return nonzero(*args, **kwargs, as_tuple=True) if len(args) + len(kwargs) == 1 else core(*args, **kwargs)


@completes("stft")
def _stft(core, input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
          return_complex=None, align_to_window=None):
    """PyTorch pads in Python, before anything else is looked at: what is true centres the frames."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        by, rank = int(n_fft // 2), input.dim()
        padded = weir.nn.functional.pad(input.view([1] * (3 - rank) + list(input.shape)), [by, by], pad_mode)
        input = padded.view(padded.shape[-rank:])
    return core(input, n_fft, hop_length, win_length, window, False, "reflect", normalized, onesided, return_complex, align_to_window)


@completes("range")
def _range(core, *args, **kwargs):
    """PyTorch's `range` alone takes no None for its layout, and says that it goes."""
    warnings.warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range "
                  "builtin. Instead, use torch.arange, which produces values in [start, end).", stacklevel=2)
    if "layout" in kwargs and kwargs["layout"] is None:
        raise TypeError("range(): argument 'layout' must be a layout, not NoneType")
    return core(*args, **kwargs)


@completes("frexp")
def _frexp(core, input, *, out=None):
    """Of two `out` an empty one takes the layout of the one that fits."""
    if out is None:
        return core(input)
    fits = [tuple(x.shape) == tuple(input.shape) for x in out]
    written = core(input, out=tuple(out))
    for target, other in ((out[0], out[1]),) if fits == [False, True] else ((out[1], out[0]),) if fits == [True, False] else ():
        numbers = target.clone()
        _C._resize(target, target.shape, weir.empty_like(other).stride()).copy_(numbers)
    return written


@completes("bernoulli")
def _bernoulli(core, input, p=None, *, generator=None, out=None):
    """With p, a number: draws of that probability, of input's shape and dtype."""
    if p is not None:
        return core(input, p, generator=generator, out=out)
    if input.is_complex() and input.requires_grad and weir.is_grad_enabled():
        raise RuntimeError("bernoulli does not support automatic differentiation for outputs with complex dtype.")
    if out is not None and weir.is_grad_enabled() and (input.requires_grad or out.requires_grad):
        raise RuntimeError("bernoulli(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.")
    if input.numel() == 0:  # PyTorch looks at the dtype only where there is something to draw
        return input.clone() if out is None else _C._write_out("bernoulli", out, input.to(out.dtype), [], 0, False)
    check_floating("bernoulli", input)
    if out is None:
        return core(input, generator=generator)
    if out.dtype == input.dtype:
        return core(input, generator=generator, out=out)
    drawn = core(input.detach(), generator=generator)  # 0 and 1 are numbers of any dtype
    return _C._resize(out, drawn.shape).copy_(drawn)
