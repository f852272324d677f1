"""Automatic mixed precision: `with weir.autocast("cpu", dtype=weir.bfloat16): ...`"""
import functools

from . import _C
from . import _types as T


class autocast:
    """Matrix products and convolutions run in `dtype`, numerically delicate ops in float32, inside the scope.

    Source: https://pytorch.org/docs/stable/amp.html
    """

    def __init__(self, device_type="cpu", dtype=None, enabled=True, cache_enabled=None):
        if device_type != "cpu":
            raise RuntimeError(f"autocast: device_type '{device_type}' is not available; this build has 'cpu'")
        self.dtype = dtype or T.bfloat16
        if self.dtype not in (T.bfloat16, T.float16):
            raise RuntimeError(f"autocast: dtype must be bfloat16 or float16, got {self.dtype}")
        self.enabled = enabled

    def __enter__(self):
        self._before = _C._autocast_enabled(), _C._autocast_dtype()
        _C._set_autocast(self.enabled, self.dtype)
        return self

    def __exit__(self, *exc):
        _C._set_autocast(*self._before)
        if not self._before[0]:
            _C._clear_autocast_cache()

    def __call__(self, fn):
        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with autocast("cpu", self.dtype, self.enabled):
                return fn(*args, **kwargs)
        return wrapped


def is_autocast_enabled(device_type="cpu"):
    return _C._autocast_enabled()


class GradScaler:
    """Loss scaling for float16. On the CPU bfloat16 needs none; enabled=False passes everything through."""

    def __init__(self, device="cpu", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._scale, self._growth, self._backoff = init_scale, growth_factor, backoff_factor
        self._interval, self._enabled, self._good, self._found = growth_interval, enabled, 0, None

    def scale(self, outputs):
        return outputs * self._scale if self._enabled else outputs

    def unscale_(self, optimizer):
        """Divides the gradients by the scale and notes whether one is not finite."""
        if not self._enabled or self._found is not None:
            return
        self._found = False
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.mul_(1.0 / self._scale)
                    self._found |= not bool(p.grad.isfinite().all())

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step() unless a gradient was not finite."""
        self.unscale_(optimizer)
        return None if self._found else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif self._found:
            self._scale, self._good = self._scale * self._backoff, 0
        else:
            self._good += 1
            if self._good == self._interval:
                self._scale, self._good = self._scale * self._growth, 0
        self._found = None

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        return dict(scale=self._scale, growth_factor=self._growth, backoff_factor=self._backoff,
                    growth_interval=self._interval, _growth_tracker=self._good) if self._enabled else {}

    def load_state_dict(self, state):
        self._scale, self._good = state["scale"], state["_growth_tracker"]
