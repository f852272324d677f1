"""Data loading, checkpointing and hooks."""

from .._lazy import lazy_attributes

__getattr__ = lazy_attributes("weir.utils", {"data": "", "checkpoint": "", "hooks": ""})
