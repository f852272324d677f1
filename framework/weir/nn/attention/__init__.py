"""The choice among kernels of attention: there is one here, with the same numbers whatever is chosen."""
import contextlib
import enum

from weir._absent import absent as _absent


class SDPBackend(enum.Enum):
    """Kernels of attention in PyTorch."""

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION, OVERRIDEABLE = -1, 0, 1, 2, 3, 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A scope that chooses kernels; AssertionError unless given a SDPBackend or a list of them."""
    for b in backends if isinstance(backends, (list, tuple)) else [backends]:
        if not isinstance(b, SDPBackend):
            raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield {}


def list_flash_attention_impls():
    """Kernels of others that could be switched in: none."""
    return []


def current_flash_attention_impl():
    """Which of them is switched in: none."""
    return None


def restore_flash_attention_impl(_raise_warn=True):
    """There is none to switch off."""


register_flash_attention_impl = _absent("nn.attention.register_flash_attention_impl", "attention has one kernel here")
activate_flash_attention_impl = _absent("nn.attention.activate_flash_attention_impl", "attention has one kernel here")


def __getattr__(name):
    if name in ("flex_attention", "bias", "varlen", "experimental"):
        import importlib
        return importlib.import_module(f"weir.nn.attention.{name}")
    if name in ("WARN_FOR_UNFUSED_KERNELS",):
        return False
    raise AttributeError(f"module 'weir.nn.attention' has no attribute '{name}'")
