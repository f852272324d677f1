"""Settings of PyTorch's compiler back end: any can be set, none is looked at."""
from types import SimpleNamespace as _SimpleNamespace

from weir._dynamo.config import patch  # noqa: F401

max_autotune = coordinate_descent_tuning = fx_graph_cache = freezing = epilogue_fusion = False
triton, cpp, aot_inductor, cuda = (_SimpleNamespace() for _ in range(4))
