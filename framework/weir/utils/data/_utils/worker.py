"""What a worker knows of itself."""
from .._collate import WorkerInfo, get_worker_info  # noqa: F401
from .._worker import _generate_state  # noqa: F401
