"""Names under the module in which PyTorch keeps them."""
from . import TopLevelTracedModule, TracerWarning, is_tracing, trace  # noqa: F401
