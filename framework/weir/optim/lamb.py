"""LAMB: Adam whose step is scaled, layer by layer, to the size of the parameter."""

import weir

from .optimizer import Optimizer, check, check_betas, next_step, over, rate_of, times


class LAMB(Optimizer):
    """r = m' / (sqrt(v') + eps) + weight_decay p;  p -= lr (|p| / |r|) r, with m, v as Adam's and norms of the whole tensor.

    `do_bias_correction` divides m and v by 1 - beta^t; with adam_w_mode=False the decay goes into the gradient. The ratio of
    norms is 1 where one of them is 0. Source: You et al. 2020; arguments as in OneFlow's `optim.LAMB`.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0, adam_w_mode: bool = True,
                 do_bias_correction: bool = True, *, maximize: bool = False):
        check(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, adam_w_mode=adam_w_mode,
                                      do_bias_correction=do_bias_correction, maximize=maximize))

    _op = "lamb_update"

    def _op_arguments(self, group):
        beta1, beta2 = group["betas"]
        return ("step", "exp_avg", "exp_avg_sq"), {
            "beta1": beta1, "beta2": beta2, "eps": group["eps"], "weight_decay": group["weight_decay"], "decoupled": bool(group["adam_w_mode"]),
            "correct": bool(group["do_bias_correction"]), "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.zeros((), dtype=weir.float32)
            state["exp_avg"], state["exp_avg_sq"] = weir.zeros_like(p), weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        step = next_step(state)
        (b1, b2), decay = group["betas"], group["weight_decay"]
        if decay and not group["adam_w_mode"]:
            grad = grad + decay * p
        m = state["exp_avg"].lerp_(grad, 1 - b1)
        v = state["exp_avg_sq"].mul_(b2).addcmul_(grad, grad, value=1 - b2)
        if group["do_bias_correction"]:
            m, v = over(m, 1 - b1**step), over(v, 1 - b2**step)
        update = m / (v.sqrt() + group["eps"])
        if decay and group["adam_w_mode"]:
            update = update + decay * p
        size, length = p.norm(), update.norm()
        ratio = weir.where((size > 0) & (length > 0), size / length, weir.ones_like(size))
        p.sub_(update * times(ratio, rate_of(group)))
