"""Other names of ops that are no methods."""

import weir
from weir._C import Tensor

from ._register import functions, numpy_named

_trapezoid = weir._C.ops["torch"]["trapezoid"]


def trapz(y, x=None, *, dx=1, dim=-1):
    """As trapezoid; of numbers the step may be a truth too."""
    if isinstance(x, Tensor):
        return _trapezoid(y, x, dim=dim)
    return _trapezoid(y, dx=float(dx) if isinstance(dx, bool) else dx, dim=dim)


functions["trapz"] = numpy_named(trapz)
functions["_segment_reduce"] = weir._C.ops["torch"]["segment_reduce"]
