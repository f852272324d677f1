"""Stochastic gradient descent with momentum. Source: Sutskever et al. 2013, in PyTorch's form."""

import weir

from .optimizer import Optimizer, check, decayed


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

    _takes_complex = True

    def _step_group(self, params, group):
        fused = getattr(weir._C, "_sgd_step", None)
        left = self._fused(fused, params, group) if fused and params else params
        super()._step_group(left, group)

    def _fused(self, fused, params, group):
        """One call of the core for all parameters; returns those it does not take."""
        buffers, first = [], []
        for p in params:
            state = self.state[p] if group["momentum"] else {}
            first.append(bool(group["momentum"]) and state.get("momentum_buffer") is None)
            if first[-1]:
                state["momentum_buffer"] = weir.zeros_like(p)
            buffers.append(state.get("momentum_buffer"))
        left = fused(params, [p.grad for p in params], buffers, first, float(group["lr"]), group["momentum"],
                     group["dampening"], group["weight_decay"], group["nesterov"], group["maximize"])
        for i in left:
            if first[i]:
                self.state[params[i]]["momentum_buffer"] = None
        return [params[i] for i in left]

    def _update(self, p, grad, state, group):
        momentum = group["momentum"]
        grad = decayed(grad, p, group["weight_decay"])
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        p.add_(grad, alpha=-float(group["lr"]))
