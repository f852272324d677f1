"""The old home of `torch.library`'s functions for custom ops."""
from .library import custom_op, impl, impl_abstract  # noqa: F401
