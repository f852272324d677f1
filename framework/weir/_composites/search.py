"""Looking values up."""

import functools

import weir
from weir._C import Tensor

from .._arguments import checked
from ._register import OUT_SAME, composite, with_out


_rows = weir._C.ops["hidden"]["nonzero_rows"]


@functools.partial(with_out, rule=OUT_SAME)
def _nonzero_rows(input: Tensor):
    return _rows(input)


@composite(out=None)
def nonzero(input: Tensor, *, as_tuple: bool = False, out=None):
    """Coordinates of the nonzero elements, a row each, or a vector per axis with as_tuple."""
    if as_tuple is False and out is None and isinstance(input, Tensor):
        return _rows(input)
    return _nonzero(input, as_tuple, out)


@checked(name="nonzero")
def _nonzero(input: Tensor, as_tuple: bool, out):
    if not as_tuple:
        return _nonzero_rows(input, out=out)
    if out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return tuple(_nonzero_rows(input if input.dim() else input.reshape(1)).unbind(1))
