"""PyTorch functions written over the core's ops: their gradients follow from their parts.

`functions` and `methods` are the tables by name; importing this package attaches the methods to Tensor.
"""

from . import elementwise, joining, matrix, order, overloads, scan, search, shape  # noqa: F401
from ._register import functions, install, methods
from .. import linalg, special  # noqa: F401  (they build on the functions above, and linalg adds old names)

install()
globals().update(functions)
__all__ = [*functions, "linalg", "special"]
