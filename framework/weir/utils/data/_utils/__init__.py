"""Private paths of the loader's parts that programs import."""
from . import collate, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds
