"""Settings of PyTorch's graphs of gradients: any can be set, none is looked at. The values are PyTorch's."""
from weir._dynamo.config import patch  # noqa: F401

donated_buffer = cse = True
recompute_views = visualize_memory_budget_pareto = False
activation_memory_budget = 1.0
memory_budget_pareto_dir = None
