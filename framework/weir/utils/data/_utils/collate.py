"""Batches of samples."""
import re

from .._collate import default_collate, default_convert  # noqa: F401

np_str_obj_array_pattern = re.compile(r"[SaUO]")  # dtypes of NumPy that no batch holds
