"""The scope in which ops choose their precision, and the decorators that custom functions use with it."""
import functools
import warnings

from .. import _C
from .. import _types as T


class autocast:
    """Matrix products and convolutions run in `dtype`, numerically delicate ops in float32, inside the scope.

    Of another device than the CPU the scope changes nothing, and warns, as in PyTorch without a GPU.
    Source: https://pytorch.org/docs/stable/amp.html
    """

    def __init__(self, device_type="cpu", dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device, self.fast_dtype = device_type, dtype or default_dtype(device_type)
        if device_type == "cuda" and enabled:
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
        elif enabled and self.fast_dtype not in (T.bfloat16, T.float16):
            warnings.warn(f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                          f"{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", stacklevel=2)
            enabled = False
        self._enabled, self._cache_enabled = enabled and device_type == "cpu", cache_enabled is not False

    def __enter__(self):
        if self.device == "cpu":
            self._before = _C._autocast_enabled(), _C._autocast_dtype()
            _C._set_autocast(self._enabled, self.fast_dtype)
        return self

    def __exit__(self, *exc):
        if self.device == "cpu":
            _C._set_autocast(*self._before)
            if not self._before[0]:
                _C._clear_autocast_cache()

    def __call__(self, fn):
        if not callable(fn):
            raise TypeError(f"autocast()(func) requires a callable, but got {type(fn).__name__}. Did you mean to use autocast as a context manager? "
                            "For example:\n    with torch.autocast(device_type=...):\n        output = model(input)")

        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with autocast(self.device, self.fast_dtype, self._enabled):
                return fn(*args, **kwargs)
        return wrapped


#: The kinds of devices that PyTorch knows, of which autocast knows the first.
_DEVICES = ("cpu", "cuda", "mps", "xpu", "hpu", "mtia", "xla", "ipu", "maia", "privateuseone")
_OTHER_DEVICES = ("mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "lazy", "vulkan", "meta")


def default_dtype(device_type):
    """The dtype of a scope that names none."""
    return T.bfloat16 if device_type in ("cpu", "xla") else T.float16


def warn_of_old_name(device_type, name):
    """Says that `torch.<device_type>.amp.<name>` has another place now."""
    arguments = f"'{device_type}', args..." if name in ("autocast", "GradScaler") else f"args..., device_type='{device_type}'"
    warnings.warn(f"`torch.{device_type}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}({arguments})` instead.", FutureWarning,
                  stacklevel=3)


def is_autocast_enabled(device_type="cpu"):
    """Is a scope of the device in force?"""
    return device_type == "cpu" and _C._autocast_enabled()


def is_autocast_available(device_type):
    """Is the device one that autocast knows? RuntimeError for what is no kind of device."""
    kind = device_type.partition(":")[0]
    if kind not in _DEVICES + _OTHER_DEVICES:
        raise RuntimeError(f"Expected one of {', '.join(_DEVICES + _OTHER_DEVICES)} device type at start of device string: {device_type}")
    return kind in _DEVICES


def _cast(value, device_type, dtype):
    if isinstance(value, _C.Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype is not T.float64
        return value.to(dtype) if fits else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates `forward` of an autograd.Function: it runs under the autocast state of its call, or, given
    `cast_inputs`, without autocast on inputs cast to that dtype. Source: torch.amp.custom_fwd."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx, *args, **kwargs):
        ctx._autocast_dtype = _C._autocast_dtype()
        enabled = is_autocast_enabled(device_type)
        if cast_inputs is None or not enabled:
            ctx._fwd_used_autocast = enabled
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
    return decorated


def custom_bwd(bwd=None, *, device_type):
    """Decorates `backward` of an autograd.Function: it runs under the autocast state that forward ran under."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx, *args, **kwargs):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._autocast_dtype):
            return bwd(ctx, *args, **kwargs)
    return decorated
