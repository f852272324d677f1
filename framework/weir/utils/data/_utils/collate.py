"""Batches of samples."""
from .._collate import default_collate, default_convert  # noqa: F401
