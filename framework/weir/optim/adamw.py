"""AdamW under the path that PyTorch has it at."""
from .adam import AdamW  # noqa: F401
