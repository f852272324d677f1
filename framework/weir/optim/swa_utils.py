"""Averages of weights over a training. Source: torch.optim.swa_utils."""
import copy

import weir
from weir.nn import Module

from ._schedule import LRScheduler, per_group, rates_of_step


def get_ema_multi_avg_fn(decay=0.999):
    """Exponential averages of lists of tensors, in place."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @weir.no_grad()
    def update(ema, current, _):
        for a, b in zip(ema, current):
            a.lerp_(b, 1 - decay) if a.is_floating_point() else a.copy_(b)
    return update


def get_swa_multi_avg_fn():
    """Means of lists of tensors, in place."""
    @weir.no_grad()
    def update(averaged, current, count):
        for a, b in zip(averaged, current):
            a.add_((b - a) / (count + 1)) if a.is_floating_point() else a.copy_(b)
    return update


def get_ema_avg_fn(decay=0.999):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return lambda ema, current, _: decay * ema + (1 - decay) * current


def get_swa_avg_fn():
    return lambda averaged, current, count: averaged + (current - averaged) / (count + 1)


class AveragedModel(Module):
    """A copy of a model that holds the average of its weights: call `update_parameters(model)` after steps."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", weir.tensor(0, dtype=weir.long))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @weir.no_grad()
    def update_parameters(self, model):
        """Takes the model's weights into the average."""
        def tensors(m):
            return [t.detach() for t in (*m.parameters(), *(m.buffers() if self.use_buffers else ()))]
        own, new = tensors(self.module), tensors(model)
        count = int(self.n_averaged)
        if count == 0:
            for a, b in zip(own, new):
                a.copy_(b)
        elif self.avg_fn is not None:
            for a, b in zip(own, new):
                a.copy_(self.avg_fn(a, b, count))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(own, new, count)
        if not self.use_buffers:
            for a, b in zip(self.module.buffers(), model.buffers()):
                a.detach().copy_(b.detach())
        self.n_averaged += 1


@weir.no_grad()
def update_bn(loader, model, device=None):
    """The running statistics of batch norms anew, from the loader's inputs."""
    from weir.nn.modules.batchnorm import _BatchNorm
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta, training = [m.momentum for m in norms], model.training
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    model.train()
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for m, momentum in zip(norms, momenta):
        m.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Goes from the group's rate to swa_lr in anneal_epochs, by a cosine or a line, and stays there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = per_group("swa_lr", optimizer, swa_lr)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, t):
        import math
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    @rates_of_step
    def get_lr(self):
        step = max(0, self._step_count - 1)
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self._share(max(0, min(1, (step - 1) / max(1, self.anneal_epochs))))
        now = self._share(max(0, min(1, step / max(1, self.anneal_epochs))))
        rates = []
        for group in self.optimizer.param_groups:
            start = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates
