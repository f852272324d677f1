"""Stochastic gradient descent with momentum. Source: Sutskever et al. 2013, in PyTorch's form."""

import weir

from .optimizer import Optimizer, check, decayed, move, rate_of


class SGD(Optimizer):
    """p -= lr b, b = momentum b + (1 - dampening) grad; nesterov takes grad + momentum b."""

    def __init__(self, params, lr=1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
                 nesterov: bool = False, *, maximize: bool = False, foreach=None, differentiable: bool = False, fused=None):
        check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable, fused=fused))

    _takes_complex = _differentiable_rate = True

    _op = "sgd_update"

    def _op_arguments(self, group):
        return (("momentum_buffer",) if group["momentum"] else ()), {
            "momentum": group["momentum"], "dampening": group["dampening"], "weight_decay": group["weight_decay"],
            "nesterov": bool(group["nesterov"]), "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if group["momentum"]:
            self._momentum(p)

    def _kept(self, names):
        return [(self._marks, "first"), *super()._kept(names)] if names else []

    @property
    def _marks(self):
        """By parameter a bool tensor that holds until the first step has filled its buffer."""
        return self.__dict__.setdefault("_first", {})

    def _momentum(self, p):
        """The buffer and its mark."""
        state = self.state[p]
        empty = state.get("momentum_buffer") is None
        if empty:
            state["momentum_buffer"] = weir.zeros_like(p)
        if empty or p not in self._marks:
            self._marks[p] = {"first": weir.tensor(empty)}
        return state["momentum_buffer"], self._marks[p]["first"]

    def _update_sparse(self, p, grad, state, group):
        if group["weight_decay"]:
            raise RuntimeError("SGD: weight_decay is not compatible with sparse gradients, which would become dense")
        if group["momentum"]:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        p.add_(grad, alpha=-float(group["lr"]))

    def _update(self, p, grad, state, group):
        grad = decayed(grad, p, group["weight_decay"])
        if group["momentum"] and group["differentiable"]:
            buffer = state.get("momentum_buffer")
            buffer = grad.detach().clone() if buffer is None else buffer * group["momentum"] + grad * (1 - group["dampening"])
            state["momentum_buffer"] = buffer
            grad = grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        elif group["momentum"]:
            buffer, first = self._momentum(p)
            if weir._C._is_tracing():
                going = buffer.mul(group["momentum"]).add(grad, alpha=1 - group["dampening"])
                buffer.copy_(weir.where(first, grad, going))
                first.fill_(False)
            elif first:
                buffer.copy_(grad)
                first.fill_(False)
            else:
                buffer.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        move(p, grad, rate_of(group))
