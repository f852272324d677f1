"""Schedules of OneFlow that PyTorch does not have: cosine and polynomial decay by steps, and warm-up before any schedule.

Source: https://oneflow.readthedocs.io/en/master/optim.html
"""

import math

from ._schedule import LRScheduler, _enable_get_lr_call


class CosineDecayLR(LRScheduler):
    """lr = base ((1 - alpha) (1 + cos(pi t / decay_steps)) / 2 + alpha), t being the step, at most decay_steps."""

    def __init__(self, optimizer, decay_steps, alpha=0.0, last_step=-1):
        if decay_steps < 1:
            raise ValueError(f"CosineDecayLR: decay_steps must be positive, got {decay_steps}")
        self.decay_steps, self.alpha = decay_steps, alpha
        super().__init__(optimizer, last_step)

    def get_lr(self):
        height = (1 + math.cos(math.pi * min(self.last_epoch, self.decay_steps) / self.decay_steps)) / 2
        return [base * ((1 - self.alpha) * height + self.alpha) for base in self.base_lrs]


class PolynomialDecayLR(LRScheduler):
    """lr = (base - end) (1 - t / decay_steps)^power + end. With `cycle` the length grows to the next multiple of decay_steps
    instead of ending. OneFlow's `PolynomialLR`, whose name is PyTorch's for another schedule."""

    def __init__(self, optimizer, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, last_step=-1):
        if decay_steps < 1:
            raise ValueError(f"PolynomialDecayLR: decay_steps must be positive, got {decay_steps}")
        self.decay_steps, self.end, self.power, self.cycle = decay_steps, end_learning_rate, power, cycle
        super().__init__(optimizer, last_step)

    def get_lr(self):
        length = self.decay_steps * (max(math.ceil(self.last_epoch / self.decay_steps), 1) if self.cycle else 1)
        left = (1 - min(self.last_epoch, length) / length) ** self.power
        return [(base - self.end) * left + self.end for base in self.base_lrs]


class WarmUpLR(LRScheduler):
    """The rates of a schedule, or of an optimizer, after `warmup_iters` steps that lead to them.

    linear: from warmup_factor times the initial rate straight to the rate that the schedule has at step warmup_iters;
    constant: warmup_factor times the initial rate. The schedule counts the steps of the warm-up too, unless `warmup_prefix`.
    """

    def __init__(self, lrsch_or_optimizer, warmup_factor=1.0 / 3, warmup_iters=5, warmup_method="linear", warmup_prefix=False,
                 last_step=-1):
        if warmup_method not in ("linear", "constant"):
            raise ValueError(f'WarmUpLR: warmup_method must be "linear" or "constant", got {warmup_method!r}')
        self._inner = lrsch_or_optimizer if isinstance(lrsch_or_optimizer, LRScheduler) else None
        self.warmup_factor, self.warmup_iters, self.warmup_method = warmup_factor, warmup_iters, warmup_method
        self.warmup_prefix = warmup_prefix
        super().__init__(self._inner.optimizer if self._inner else lrsch_or_optimizer, last_step)

    def _of_inner(self, step):
        """The schedule's rates at its own `step`."""
        if self._inner is None:
            return self.base_lrs
        self._inner.last_epoch = step
        with _enable_get_lr_call(self._inner):
            return getattr(self._inner, "_get_closed_form_lr", self._inner.get_lr)()

    def get_lr(self):
        step = self.last_epoch
        if step >= self.warmup_iters:
            return self._of_inner(step - self.warmup_iters if self.warmup_prefix else step)
        if self.warmup_method == "constant":
            return [base * self.warmup_factor for base in self.base_lrs]
        ends = self._of_inner(0 if self.warmup_prefix else self.warmup_iters)
        done = step / self.warmup_iters
        return [base * self.warmup_factor + (end - base * self.warmup_factor) * done for base, end in zip(self.base_lrs, ends)]

    def state_dict(self):
        """Of this schedule and the one inside."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_inner")}
        return state | ({"_inner": self._inner.state_dict()} if self._inner else {})

    def load_state_dict(self, state_dict):
        """Takes over what state_dict returned."""
        state = dict(state_dict)
        if self._inner and "_inner" in state:
            self._inner.load_state_dict(state.pop("_inner"))
        self.__dict__.update(state)
