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
        if device_type not in _DEVICES:
            raise RuntimeError(f"autocast: device_type '{device_type}' is not available; this build has 'cpu'")
        if device_type == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
        self.device, self.dtype = device_type, dtype or default_dtype(device_type)
        if device_type == "cpu" and enabled and self.dtype not in (T.bfloat16, T.float16):
            raise RuntimeError(f"autocast: dtype must be bfloat16 or float16, got {self.dtype}")
        self.enabled = enabled and device_type == "cpu"

    def __enter__(self):
        if self.device == "cpu":
            self._before = _C._autocast_enabled(), _C._autocast_dtype()
            _C._set_autocast(self.enabled, self.dtype)
        return self

    def __exit__(self, *exc):
        if self.device == "cpu":
            _C._set_autocast(*self._before)
            if not self._before[0]:
                _C._clear_autocast_cache()

    def __call__(self, fn):
        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            scope = autocast("cpu", self.dtype, self.enabled) if self.device == "cpu" else autocast(self.device, enabled=False)
            with scope:
                return fn(*args, **kwargs)
        return wrapped


_DEVICES = ("cpu", "cuda", "mps", "xpu", "hpu", "mtia", "xla", "ipu", "meta")


def default_dtype(device_type):
    """The dtype of a scope that names none."""
    return T.bfloat16 if device_type in ("cpu", "xla") else T.float16


def is_autocast_enabled(device_type="cpu"):
    """Is a scope of the device in force?"""
    return device_type == "cpu" and _C._autocast_enabled()


def is_autocast_available(device_type):
    """Is the device one that autocast knows?"""
    return device_type in _DEVICES


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
