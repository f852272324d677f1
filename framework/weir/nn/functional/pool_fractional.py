"""Max pooling over windows whose starts are drawn. Source: Graham 2014."""

import weir
from weir._composites._register import autocast_as
from weir._ops import op

from ._check import check_batched, ntuple

__all__ = ["fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices"]

_pool = autocast_as("float32")(op("hidden", "fractional_max_pool"))


def _fractional(name, axes, input, kernel_size, output_size, output_ratio, samples):
    for what, given in (("kernel_size", kernel_size), ("output_size", output_size)):
        if isinstance(given, (list, tuple)) and len(given) != axes:
            raise RuntimeError(f"{name}: {what} must either be a single int or a tuple of {axes}, but got {given}")
    if axes == 3:
        for size in ntuple(kernel_size, axes, "kernel_size"):
            if size <= 0:
                raise ValueError(f"{name}: kernel_size must be greater than 0, but got {kernel_size}")
    if samples is None:
        input.size(-axes - 1)  # raises: PyTorch draws as many samples before it looks at the axes
    check_batched(name, input, axes)
    if weir.is_grad_enabled() and samples is not None and samples.requires_grad:
        raise RuntimeError(f"{name} is not differentiable with respect to argument 'random_samples'")
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratio = ntuple(output_ratio, axes, "output_ratio")
        output_size = [int(n * r) for n, r in zip(input.shape[-axes:], ratio)]
    batched = input if input.dim() == axes + 2 else input.unsqueeze(0)
    if samples is None:
        samples = weir.rand(batched.size(0), batched.size(1), axes, dtype=input.dtype, device=input.device)
    if batched is not input and input.size(0) == 0:  # an image without channels is fine, a batch of them is not
        shape = (0, *ntuple(output_size, axes, "output_size"))
        for n, pool, out in zip(input.shape[1:], ntuple(kernel_size, axes, "kernel_size"), shape[1:]):
            if out + pool - (axes == 2) > n:  # a volume needs one more
                raise RuntimeError(f"{name}: pool size {pool} and output size {out} are too large relative to input size {n}")
        return input.reshape(shape), input.new_empty(shape, dtype=weir.int64)
    results = _pool(batched, samples, ntuple(kernel_size, axes, "kernel_size"), ntuple(output_size, axes, "output_size"))
    return tuple(results) if batched is input else tuple(t.squeeze(0) for t in results)


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    """(maxima, their places in the plane) of (N, C, H, W) or (C, H, W); output_size, or output_ratio of the input's."""
    return _fractional("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    """(maxima, their places in the volume) of (N, C, D, H, W) or (C, D, H, W); output_size, or output_ratio of the input's."""
    return _fractional("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The maxima, and with return_indices their places too."""
    both = fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, _random_samples=_random_samples)
    return both if return_indices else both[0]


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The maxima, and with return_indices their places too."""
    both = fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, _random_samples=_random_samples)
    return both if return_indices else both[0]
