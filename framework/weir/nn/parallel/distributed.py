"""Several processes with a module each."""
from weir.nn.modules.module import Module


class DistributedDataParallel(Module):
    """NotImplementedError: weir has no collectives yet."""

    def __init__(self, module, *args, **kwargs):
        raise NotImplementedError("nn.parallel.DistributedDataParallel: weir has no collectives yet")
