"""Control flow and scans over functions, run as they are written. Source: `torch._higher_order_ops`, `torch.cond`."""
from .associative_scan import associative_scan  # noqa: F401
from .cond import cond  # noqa: F401
from .scan import scan  # noqa: F401
from .while_loop import while_loop  # noqa: F401
