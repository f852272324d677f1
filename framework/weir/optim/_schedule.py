"""What all learning rate schedules share."""

import warnings
from functools import wraps

from weir import Tensor
from weir.optim.optimizer import Optimizer

_MORE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
EPOCH_DEPRECATION_WARNING = ("The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use `scheduler.step()` to "
                             "step the scheduler.")


def rates_of_step(get_lr):
    """A schedule's `get_lr`, which steps on: the warning is for programs that mean `get_last_lr`."""
    @wraps(get_lr)
    def rates(self):
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=2)
        return get_lr(self)
    return rates


class _enable_get_lr_call:
    """A scope within which a schedule asks itself for its rates, without the warning. Named as in PyTorch."""

    def __init__(self, o):
        self.o = o

    def __enter__(self):
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, *exc):
        self.o._get_lr_called_within_step = False


def _copy(rate):
    """A rate, apart from the group's where that is a tensor, which steps write to."""
    return rate.detach().clone() if isinstance(rate, Tensor) else float(rate)


def _function(step):
    """The function of a bound method."""
    return getattr(step, "__func__", step)


def per_group(name, optimizer, value):
    """A value for each group of the optimizer, from one for all or a list of them; tensors are copied. ValueError for another number."""
    values, groups = value if isinstance(value, (list, tuple)) else [value] * len(optimizer.param_groups), len(optimizer.param_groups)
    if len(values) != groups:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(values)} values, param_groups has {groups}.")
    return [v.detach().clone() if isinstance(v, Tensor) else v for v in values]


def put(group, key, value):
    """Sets an option of a group; a tensor keeps its place, since compiled steps and programs hold it."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


class LRScheduler:
    """Sets `lr` of the optimizer's groups; `step()` once per epoch, after optimizer.step().

    Subclasses write `get_lr`, from `last_epoch`, `base_lrs` and the current rates.
    """

    _is_initial = False  # in the step that the constructor takes: the rates are those of its epoch already
    _get_lr_called_within_step = False

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        optimizer._scheduled_step = _function(optimizer.step)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError("param 'initial_lr' is not specified in "
                               f"param_groups[{i}] when resuming an optimizer")
        self.base_lrs = [_copy(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _current(self):
        return [_copy(group["lr"]) for group in self.optimizer.param_groups]

    def get_lr(self):
        """The rates of this epoch, one per group."""
        raise NotImplementedError

    def get_last_lr(self):
        """The rates that the last step set."""
        return self._last_lr

    def step(self, epoch=None):
        """Moves to the next epoch, or to a given one, and sets the rates. Warns where the optimizer has not stepped before."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self):
        step = _function(self.optimizer.step)
        if step is not getattr(self.optimizer, "_scheduled_step", step):
            warnings.warn("Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to call `optimizer.step()` "
                          "before `lr_scheduler.step()`. " + _MORE, stacklevel=3)
        elif getattr(step, "hooked", False) and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite "
                          "order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value of the "
                          "learning rate schedule. " + _MORE, stacklevel=3)

    def _update_lr(self, epoch=None):
        """Moves to the next epoch, or to a given one, and sets the rates."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed_form = epoch is not None and hasattr(self, "_get_closed_form_lr")
        self._set_rates(self._get_closed_form_lr if closed_form else self.get_lr)

    def _set_rates(self, rates):
        with _enable_get_lr_call(self):
            new = rates()
        for group, rate in zip(self.optimizer.param_groups, new):
            put(group, "lr", rate)
        self._last_lr = self._current()

    def state_dict(self):
        """All but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what state_dict returned."""
        self.__dict__.update(state_dict)
