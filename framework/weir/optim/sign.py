"""Rprop and ASGD: step sizes from signs, and averages of iterates."""

import weir

from .optimizer import Optimizer, check, decayed, move, next_step, rate_of, shrink, value_of


class Rprop(Optimizer):
    """Each element has a step size of its own, which grows by etas[1] while its gradient keeps its sign and shrinks by etas[0] when it
    turns over. Source: Riedmiller & Braun 1993."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable: bool = False, foreach=None,
                 maximize: bool = False, differentiable: bool = False):
        check(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    _op = "rprop_update"

    def _op_arguments(self, group):
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        return ("step", "prev", "step_size"), {"shrink": shrink, "grow": grow, "least": least, "most": most,
                                               "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.zeros((), dtype=weir.float32)
            state["prev"] = weir.zeros_like(p)
            state["step_size"] = weir.full_like(p, float(group["lr"]))

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        next_step(state)
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        agreement = grad * state["prev"]
        factor = weir.ones_like(grad).masked_fill_(agreement > 0, grow).masked_fill_(agreement < 0, shrink)
        state["step_size"].mul_(factor).clamp_(least, most)
        grad = grad.masked_fill(agreement < 0, 0.0)
        p.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)


class ASGD(Optimizer):
    """SGD that keeps the average of its iterates in state["ax"]. Source: Polyak & Juditsky 1992."""

    def __init__(self, params, lr=1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0,
                 foreach=None, maximize: bool = False, differentiable: bool = False, capturable: bool = False):
        check(lr=lr, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    _op = "asgd_update"

    def _op_arguments(self, group):
        return ("step", "eta", "mu", "ax"), {"lambd": group["lambd"], "alpha": group["alpha"], "t0": group["t0"],
                                             "weight_decay": group["weight_decay"], "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.zeros((), dtype=weir.float32)
            state["eta"] = weir.tensor(float(group["lr"]), dtype=weir.float32)
            state["mu"] = weir.ones((), dtype=weir.float32)
            state["ax"] = weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        lr, lambd = rate_of(group), group["lambd"]
        self._start(p, state, group)
        step = next_step(state)
        grad = decayed(grad, p, group["weight_decay"])
        eta, mu, mean = value_of(state["eta"]), value_of(state["mu"]), state["ax"]
        shrink(p, 1 - lambd * eta)
        move(p, grad, eta)
        traced = isinstance(mu, weir.Tensor)
        if traced:
            mean.copy_(weir.where(mu != 1, mean.add(p.sub(mean).mul_(state["mu"])), p))
        elif mu != 1:
            mean.add_(p.sub(mean).mul_(state["mu"]))
        else:
            mean.copy_(p)
        # Through the default dtype, as PyTorch's: a resumed state is of the parameter's.
        rounded = (lambda x: x.to(weir.get_default_dtype())) if traced else weir.tensor
        since = step - group["t0"]
        state["eta"].copy_(rounded(lr / ((1 + lambd * lr * step) ** group["alpha"])))
        state["mu"].copy_(rounded(1 / (since.clamp(min=1) if traced else max(1, since))))
