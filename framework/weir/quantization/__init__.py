"""The old home of `torch.ao.quantization`."""
from weir.ao.quantization import __getattr__  # noqa: F401
