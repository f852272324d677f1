"""PyTorch's compiler back end, which weir has not: its settings can be set."""
from weir._absent import absent as _absent

from . import config  # noqa: F401

compile = _absent("_inductor.compile", "weir has no compiler")
