"""Loss scaling, so that small gradients of float16 do not vanish."""
import enum
import warnings


class OptState(enum.Enum):
    """What the scaler has done with an optimizer since its last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses, unscales gradients, skips steps whose gradients are not finite, and adapts the scale.

    `device` other than "cpu" switches it off with a warning, as in PyTorch without a GPU. Source: torch.amp.GradScaler.
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._device = device
        if enabled and device == "cuda":
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
        self._enabled = enabled and device == "cpu"
        if self._enabled and not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = self._scale = init_scale
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._good_steps = growth_interval, 0
        self._states = {}  # id of optimizer -> [OptState, was a gradient not finite]

    def scale(self, outputs):
        """`outputs`, a tensor or nested iterables of them, times the scale."""
        if not self._enabled:
            return outputs
        if hasattr(outputs, "backward"):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divides the gradients by the scale and notes whether one is not finite. Once per step: else RuntimeError."""
        if not self._enabled:
            return
        state = self._states.setdefault(id(optimizer), [OptState.READY, False])
        if state[0] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state[0] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        from .. import no_grad
        found, inverse = False, 1.0 / self._scale
        with no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        grad = p.grad._values() if p.grad.is_sparse else p.grad
                        found |= not bool(grad.isfinite().all())
                        grad.mul_(inverse)
        self._states[id(optimizer)] = [OptState.UNSCALED, found]

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), and what it returns, unless a gradient was not finite. No closure: RuntimeError."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self._states.setdefault(id(optimizer), [OptState.READY, False])
        if state[0] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state[0] is OptState.READY:
            self.unscale_(optimizer)
        found = self._states[id(optimizer)][1]
        self._states[id(optimizer)] = [OptState.STEPPED, found]
        return None if found else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Sets the scale: smaller after a gradient that was not finite, larger after `growth_interval` good steps."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._states:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(found for _, found in self._states.values()):
                self._scale, self._good_steps = self._scale * self._backoff_factor, 0
            else:
                self._good_steps += 1
                if self._good_steps == self._growth_interval:
                    self._scale, self._good_steps = self._scale * self._growth_factor, 0
        self._states = {}

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def is_enabled(self):
        return self._enabled

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def state_dict(self):
        return dict(scale=self._scale, growth_factor=self._growth_factor, backoff_factor=self._backoff_factor,
                    growth_interval=self._growth_interval, _growth_tracker=self._good_steps) if self._enabled else {}

    def load_state_dict(self, state_dict):
        """Takes over what `state_dict` gave. RuntimeError for an empty one, of a scaler that was switched off."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")
        self._scale, self._good_steps = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
