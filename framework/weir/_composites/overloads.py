"""Overloads of core ops whose one signature cannot hold them: PyTorch has several functions under these names."""

import functools
import warnings

import weir
from _weir import _warn_once
from weir import _C
from weir._C import Tensor

from ._check import check_floating
from ._register import OUT_SAME, completes, with_out, without_derivative
from .search import nonzero


@completes("where")
def _where(core, *args, **kwargs):
    """Of the condition alone: the coordinates where it holds."""
    return nonzero(*args, **kwargs, as_tuple=True) if len(args) + len(kwargs) == 1 else core(*args, **kwargs)


@completes("nan_to_num_")
def _nan_to_num_(core, input, *args, **kwargs):
    """Integers are left as they are, and so may lie in one place."""
    if isinstance(input, Tensor) and not (input.is_floating_point() or input.is_complex()) and 0 in input.stride():
        weir._C._bump_version(input)
        return input
    return core(input, *args, **kwargs)


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
        if out is not None:
            raise TypeError("bernoulli(): a call with p takes no out=")
        return _bernoulli_of(input, p, generator=generator)
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


def _bernoulli_of(input, p, *, generator=None):
    if isinstance(p, Tensor) and (p.dim() or p.requires_grad):
        raise TypeError("bernoulli(): argument 'p' must be a number")
    p = float(p)

    def draw(x, q):
        return weir.empty_like(x, memory_format=weir.contiguous_format).bernoulli_(q, generator=generator)

    return without_derivative("bernoulli", draw, input, p)


def _scatter_reduce(name, core, input, dim, index, src, reduce):
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if index.numel() and input.dim() and index.dim() == input.dim():
        core(input.detach(), dim, index, src.detach() if isinstance(src, Tensor) else src)  # checks dim, index and shapes
    if isinstance(src, Tensor):
        _warn_once("scatter with reduce and a tensor is deprecated: use scatter_reduce in its place.")
    else:
        src = weir.full(index.shape, src, dtype=input.dtype)
    compute = lambda x, s: weir.scatter_reduce(x, dim, index, s, "sum" if reduce == "add" else "prod")  # noqa: E731
    return without_derivative(name, compute, input, src)


def _reduced(name):
    plain = _C.ops["torch"]["scatter"]

    @functools.partial(with_out, rule=OUT_SAME, recorded=True)
    def scatter(input, dim, index, src, *, reduce):
        return _scatter_reduce("scatter", plain, input, dim, index, src, reduce)

    @completes(name)
    def complete(core, input, dim, index, *args, reduce=None, **kwargs):
        """With reduce, add or multiply: src's elements are added to, or multiplied with, those of input."""
        if reduce is None:
            return core(input, dim, index, *args, **kwargs)
        src = args[0] if args else kwargs.pop("src", kwargs.pop("value", None))
        result = scatter(input, dim, index, src, reduce=reduce, **kwargs)
        return input.copy_(result) if name.endswith("_") else result


_reduced("scatter")
_reduced("scatter_")
