"""The profiler's names of old."""
from weir import profiler as _profiler
from weir.profiler import EventList, ProfilerActivity, kineto_available, profile as _profile, record_function  # noqa: F401


def _profiler_enabled():
    """Whether a profile runs in this process."""
    return bool(_profiler._running)


class profile(_profile):
    """Measures the time between entering and leaving, and of the scopes of `record_function`."""

    def __init__(self, enabled=True, **options):
        super().__init__()
        self.enabled = enabled


class emit_nvtx:
    """NotImplementedError: there is no CUDA back end."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise NotImplementedError("emit_nvtx: there is no CUDA back end")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None
