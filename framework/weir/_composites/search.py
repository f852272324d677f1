"""Looking values up."""

import functools

import weir
from weir._C import Tensor

from .._arguments import checked
from ._register import OUT_SAME, composite, with_out


@functools.partial(with_out, rule=OUT_SAME)
def _nonzero_rows(input: Tensor):
    return weir._C.ops["hidden"]["nonzero_rows"](input)


@composite(out=None)
@checked
def nonzero(input: Tensor, *, as_tuple: bool = False, out=None):
    """Coordinates of the nonzero elements, a row each, or a vector per axis with as_tuple."""
    if not as_tuple:
        return _nonzero_rows(input, out=out)
    if out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return tuple(_nonzero_rows(input if input.dim() else input.reshape(1)).unbind(1))
