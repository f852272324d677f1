"""`torch.cpu`: the CPU behind the interface of an accelerator. Its work is done when a call returns."""
import contextlib
import platform

from .._C_parts._cpu import _has as _is_there, _init_amx  # noqa: F401


def is_available():
    return True


def is_initialized():
    return True


def device_count():
    return 1


def current_device():
    return "cpu"


def set_device(device):
    """There is one CPU."""


def synchronize(device=None):
    """Calls return when their work is done."""


class Stream:
    """The order of calls."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Everything before has run."""

    def record_event(self):
        return Event()

    def wait_event(self, event):
        """Everything before has run."""


class Event:
    """A point in the order of calls."""

    def query(self):
        return True

    def record(self, stream=None):
        """Everything before has run."""

    def synchronize(self):
        """Everything before has run."""

    def wait(self, stream=None):
        """Everything before has run."""


class StreamContext(contextlib.nullcontext):
    """A scope that changes nothing."""

    def __init__(self, stream):
        super().__init__()


_stream = Stream()


def current_stream(device=None):
    return _stream


def stream(stream):
    return StreamContext(stream)


def get_capabilities():
    """What the CPU can do, as far as weir asks: its architecture and instruction set."""
    from ..backends.cpu import get_cpu_capability
    kind = get_cpu_capability()
    return {"architecture": platform.machine(), "avx2": kind in ("AVX2", "AVX512"), "avx512_f": kind == "AVX512"}


def _has(*names):
    return lambda: all(map(_is_there, names))


_is_avx2_supported, _is_avx512_supported = _has("avx2"), _has("avx512_f", "avx512_vl", "avx512_bw", "avx512_dq")
_is_vnni_supported, _is_avx512_bf16_supported = _has("avx512_vnni"), _has("avx512_bf16")
_is_amx_tile_supported, _is_amx_fp16_supported = _has("amx_tile"), _has("amx_fp16")

from . import amp  # noqa: E402,F401
