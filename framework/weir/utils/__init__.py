"""Data loading, checkpointing and hooks."""

from . import checkpoint, data, hooks  # noqa: F401
