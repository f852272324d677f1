"""Process-wide switches at the top of the package, and small functions over them. Source: the functions of torch."""
import builtins
import math
import warnings

import _weir

from . import _C

_state = {"deterministic": False, "warn_only": False, "fill": True, "precision": "highest", "warn_always": False}

has_lapack = has_openmp = has_mkldnn = has_spectral = True
has_mkl = has_mps = has_cuda = has_cudnn = False
newaxis = None


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Every kernel here gives the same numbers in every run. Memory that nobody has written does not, so that `empty` and `resize_` fill it
    with NaN, or the largest number of an integer type, unless `utils.deterministic.fill_uninitialized_memory` is False."""
    if not isinstance(mode, builtins.bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    if not isinstance(warn_only, builtins.bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'warn_only' must be bool, not {type(warn_only).__name__}")
    _state.update(deterministic=mode, warn_only=warn_only)
    _weir._fill_unset_memory(mode and _state["fill"])


def _set_deterministic_fill_uninitialized_memory(fill):
    if not isinstance(fill, builtins.bool):
        raise TypeError(f"expected a bool, but got {type(fill).__name__}")
    _state["fill"] = fill
    _weir._fill_unset_memory(fill and _state["deterministic"])


def _get_deterministic_fill_uninitialized_memory():
    return _state["fill"]


def are_deterministic_algorithms_enabled():
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    return _state["warn_only"]


_MODES = {"default": 0, "warn": 1, "error": 2}


def set_deterministic_debug_mode(debug_mode):
    """"default" or 0, "warn" or 1, "error" or 2. RuntimeError for other values."""
    if not isinstance(debug_mode, (str, builtins.int)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    mode = _MODES.get(debug_mode, debug_mode)
    if mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value for debug_mode, expected 0, 1, or 2 or `default`, `warn`, `error`, but got {debug_mode}")
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode():
    return (1 if _state["warn_only"] else 2) if _state["deterministic"] else 0


def set_float32_matmul_precision(precision):
    """"highest", "high" or "medium". On this CPU all three are float32 products; RuntimeError for other values."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got {precision!r}")
    _state["precision"] = precision


def get_float32_matmul_precision():
    return _state["precision"]


def _assert_async(input, assert_msg=""):
    """RuntimeError unless the number is other than zero."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def set_flush_denormal(mode):
    """Shall this thread, and those that share its loops, take numbers too small for a full exponent for zeros? Returns whether the CPU can."""
    if not isinstance(mode, builtins.bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return _C._set_flush_denormal(mode)


def set_warn_always(b):
    """Shall warnings that come once otherwise come each time?"""
    _state["warn_always"] = builtins.bool(b)
    _weir._warn_always(_state["warn_always"])


def is_warn_always_enabled():
    return _state["warn_always"]


def get_num_interop_threads():
    return 1


def set_num_interop_threads(num):
    """Calls run one after another whatever the number; RuntimeError unless it is positive."""
    if not isinstance(num, builtins.int) or isinstance(num, builtins.bool):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if abs(num) >= 2**63:
        raise ValueError("Overflow when unpacking long long")
    if num <= 0:
        raise RuntimeError("Expected a positive number of threads")


def init_num_threads():
    """Threads are there from the start."""


def set_anomaly_enabled(mode, check_nan=True):
    """NotImplementedError for True."""
    if mode:
        raise NotImplementedError("set_anomaly_enabled: weir does not watch backward for NaN")


def is_anomaly_enabled():
    return False


def is_anomaly_check_nan_enabled():
    return True


def autocast_increment_nesting():
    return 1


def autocast_decrement_nesting():
    return 0


def clear_autocast_cache():
    """Forgets the casts that the scope of autocast keeps."""
    _C._clear_autocast_cache()


def get_autocast_dtype(device_type):
    from .amp.autocast_mode import default_dtype
    return _C._autocast_dtype() if device_type == "cpu" else default_dtype(device_type)


def get_autocast_cpu_dtype():
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype():
    warnings.warn("torch.get_autocast_gpu_dtype() is deprecated. Please use torch.get_autocast_dtype('cuda') instead.", DeprecationWarning, stacklevel=3)
    return get_autocast_dtype("cuda")


def set_autocast_enabled(device_type, enabled=None):
    """set_autocast_enabled(device_type, enabled), or of old (enabled) for CUDA. RuntimeError to enable without a GPU."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if device_type == "cpu":
        _C._set_autocast(builtins.bool(enabled), _C._autocast_dtype())
    elif enabled:
        raise RuntimeError(f"set_autocast_enabled: device_type '{device_type}' is not available; this build has 'cpu'")


def set_autocast_dtype(device_type, dtype):
    if device_type != "cpu":
        raise RuntimeError(f"set_autocast_dtype: device_type '{device_type}' is not available; this build has 'cpu'")
    _C._set_autocast(_C._autocast_enabled(), dtype)


def set_autocast_cpu_enabled(enabled):
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype):
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype):
    set_autocast_dtype("cuda", dtype)


def is_autocast_cpu_enabled():
    warnings.warn("torch.is_autocast_cpu_enabled() is deprecated. Please use torch.is_autocast_enabled('cpu') instead.", DeprecationWarning, stacklevel=3)
    return _C._autocast_enabled()


def is_autocast_cache_enabled():
    return True


def set_autocast_cache_enabled(enabled):
    """NotImplementedError for False: casts of parameters are kept for the scope, and gradients add up through them."""
    if not enabled:
        raise NotImplementedError("set_autocast_cache_enabled: weir always keeps the casts of a scope")


def get_device_module(device=None):
    """The module of a device's functions: `torch.cpu` unless told."""
    import weir
    kind = "cpu" if device is None else weir.device(device).type
    if kind not in ("cpu", "cuda", "mps", "xpu"):
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return getattr(weir, kind)


def compiled_with_cxx11_abi():
    return True


def is_vulkan_available():
    return False


def is_distributed(input):
    return False


def is_inference(input):
    """Was input made in inference mode?"""
    return input.is_inference()


def is_inference_mode_enabled():
    return _C.is_inference_mode_enabled()


def is_same_size(input, other):
    """Have both the same shape?"""
    return input.shape == other.shape


def is_signed(input):
    """Can input's dtype hold negative numbers?"""
    return input.dtype.is_signed


def is_conj(input):
    return input.is_conj()


def is_neg(input):
    return input.is_neg()


def get_device(input):
    """The GPU's number; -1 for the CPU."""
    return input.get_device()


def detach(input):
    """input without its history."""
    return input.detach()


def sym_int(a):
    """a cut off to a whole number."""
    return builtins.int(a)


def sym_float(a):
    return builtins.float(a)


def sym_not(a):
    return not a


def sym_max(a, b):
    return builtins.max(a, b)


def sym_min(a, b):
    return builtins.min(a, b)


def sym_sum(args):
    return builtins.sum(args)


def sym_ite(b, t, f):
    """t when b holds, else f."""
    return t if b else f


def sym_sqrt(a):
    return math.sqrt(a)
