"""Loss scaling, so that small gradients of float16 do not vanish."""
import enum
import inspect
import warnings
from collections import defaultdict

import weir

_unscale, _amp_update_scale_ = (weir._C.ops["hidden"][name] for name in ("amp_unscale_", "amp_update_scale_"))


def _amp_foreach_non_finite_check_and_unscale_(self, found_inf, inv_scale):
    """Tensors times the number inv_scale, in place; found_inf, a float32 number, becomes 1 where an element is not finite."""
    for gradient in self:
        _unscale(gradient, found_inf, inv_scale)


class OptState(enum.Enum):
    """What the scaler has done with an optimizer since its last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state():
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses, unscales gradients, skips steps whose gradients are not finite, and adapts the scale.

    `device` "cuda" switches it off with a warning, as in PyTorch without a GPU. Scalers for sharded parameters override
    `_unscale_grads_` and `_maybe_opt_step`. Source: torch.amp.GradScaler.
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._device = device
        if enabled and device == "cuda":
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
        self._enabled = enabled and device != "cuda"
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None  # a tensor from the first loss on
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._init_growth_tracker, self._growth_tracker = growth_interval, 0, None
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)  # by id

    def _check_scale_growth_tracker(self, funcname):
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) "
                                 "earlier in the iteration.")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev):
        self._scale = weir.full((), self._init_scale, dtype=weir.float32, device=dev)
        self._growth_tracker = weir.full((), self._init_growth_tracker, dtype=weir.int32, device=dev)

    def scale(self, outputs):
        """`outputs`, a tensor or nested iterables of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, weir.Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        """Gradients times inv_scale, in place; found_inf becomes 1 where one is not finite. {device: found_inf}, empty without gradients."""
        found = {}
        with weir.no_grad():
            for p in (p for group in optimizer.param_groups for p in group["params"] if p.grad is not None):
                if not allow_fp16 and p.grad.dtype == weir.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                if p.grad.is_sparse and p.grad.dtype == weir.float16:
                    p.grad = p.grad.coalesce()  # whose sums may be infinite
                grad = p.grad._values() if p.grad.is_sparse else p.grad
                _unscale(grad, found_inf, inv_scale)
                found[grad.device] = found_inf
        return found

    def unscale_(self, optimizer):
        """Divides the gradients by the scale and notes whether one is not finite. Once per step: else RuntimeError."""
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, self._scale.double().reciprocal().float(), weir.zeros((), device=self._scale.device), False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        """optimizer.step(), and what it returns, unless a gradient was not finite."""
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), and what it returns, unless a gradient was not finite. No closure: RuntimeError."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_that_unscales(optimizer, state, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError("No inf checks were recorded for this optimizer.")
            result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_that_unscales(self, optimizer, state, args, kwargs):
        """A step of an optimizer that divides by its `grad_scale` itself, and leaves a step out where its `found_inf` is not zero."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn("GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near future GradScaler "
                          "registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and let the optimizer use them directly.",
                          FutureWarning, stacklevel=3)
            return optimizer.step(*args, grad_scaler=self, **kwargs)
        unscaled = state["stage"] is OptState.UNSCALED
        if not unscaled:
            self._check_inf_per_device(optimizer)
        optimizer.grad_scale = getattr(optimizer, "grad_scale", None) if unscaled else self._scale * getattr(optimizer, "grad_scale", 1)
        optimizer.found_inf = sum(state["found_inf_per_device"].values())
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def _check_inf_per_device(self, optimizer):
        """Notes whether a gradient is not finite, and leaves them as they are."""
        found = self._unscale_grads_(optimizer, weir.ones(()), weir.zeros(()), True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer):
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]

    def update(self, new_scale=None):
        """Sets the scale: smaller after a gradient that was not finite, larger after `growth_interval` good steps."""
        if not self._enabled:
            return
        scale, good = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            if isinstance(new_scale, weir.Tensor) and (new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad):
                raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False.")
            scale.fill_(float(new_scale))
        else:
            found = [found for state in self._per_optimizer_states.values() for found in state["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            _amp_update_scale_(scale, good, sum(found[1:], found[0]), self._growth_factor, self._backoff_factor, self._growth_interval)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _get_scale_async(self):
        return self._scale

    def get_scale(self):
        """The scale as a number; 1 where the scaler is switched off."""
        return 1.0 if not self._enabled else self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self):
        return 0 if not self._enabled else self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

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
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()} if self._enabled else {}

    def load_state_dict(self, state_dict):
        """Takes over what `state_dict` gave. RuntimeError for an empty one, of a scaler that was switched off."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __getstate__(self):
        """Of a scaler between two iterations: AssertionError where an optimizer has begun one."""
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None, _growth_tracker=None)
        return state
