"""Max pooling over windows whose starts are drawn. Source: Graham 2014."""

from _weir import _argument

from weir._C import Tensor
from weir._ops import op

from ._check import check_tensor

__all__ = ["fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices"]

_pool = op("hidden", "fractional_pool")


def _fractional(axes):
    name = f"fractional_max_pool{axes}d"

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        check_tensor(name, input)
        if output_size is None and output_ratio is None:  # before the other arguments are looked at
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if _random_samples is None and not (input.is_floating_point() or input.is_complex()):  # drawn before the sizes are looked at
            raise NotImplementedError(f"{name}: no samples can be drawn for {input.dtype}")
        output_ratio = output_ratio if output_size is None else None
        if isinstance(output_ratio, (tuple, list)):
            output_ratio = [_argument(name, "output_ratio", 4, "float", x.detach()) if isinstance(x, Tensor) else x for x in output_ratio]
        if isinstance(kernel_size, int):
            kernel_size = _argument(name, "kernel_size", 2, "int", kernel_size)
        if isinstance(output_size, int):
            output_size = _argument(name, "output_size", 3, "int", output_size)
        kernel_size, output_size, output_ratio = (x if x is None or isinstance(x, (tuple, list)) else [x] * axes
                                                  for x in (kernel_size, output_size, output_ratio))
        return tuple(_pool(input, _random_samples, axes, kernel_size, output_size, output_ratio))

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        both = with_indices(input, kernel_size, output_size, output_ratio, _random_samples=_random_samples)
        return both if return_indices else both[0]

    with_indices.__name__, pool.__name__ = name + "_with_indices", name
    pool.__doc__ = f"Maxima of the last {axes} axes pooled to output_size, or to output_ratio of input's; with `return_indices` their places too."
    return pool, with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional(3)
