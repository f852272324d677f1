"""Private paths of the loader's parts that programs import."""
from . import collate, worker  # noqa: F401
