"""Optimizers with a step size per element: RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam."""

import weir

from .optimizer import Optimizer, check, check_betas, decayed, move, next_step, over, quotient, rate_of, shrink, times, value_of


class RMSprop(Optimizer):
    """p -= lr grad / (sqrt(v) + eps), v a running mean of grad^2; `centered` subtracts the mean's square.

    Source: Hinton's lecture 6e; Graves 2013 for the centred form.
    """

    def __init__(self, params, lr=1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
                 momentum: float = 0, centered: bool = False, capturable: bool = False, foreach=None,
                 maximize: bool = False, differentiable: bool = False):
        check(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))

    _op = "rmsprop_update"

    def _op_arguments(self, group):
        names = ("step", "square_avg", *(["grad_avg"] if group["centered"] else []), *(["momentum_buffer"] if group["momentum"] > 0 else []))
        return names, {"alpha": group["alpha"], "eps": group["eps"], "weight_decay": group["weight_decay"], "momentum": group["momentum"],
                       "centered": bool(group["centered"]), "maximize": bool(group["maximize"])}

    def _update_many(self, params, group, rate):
        """Halves are rounded at every step, as in PyTorch: small squares vanish, and of a centred mean rounding is most of what is left."""
        stepwise = [p for p in params if p.dtype in (weir.float16, weir.bfloat16)]
        rest = [p for p in params if not any(p is q for q in stepwise)]
        return stepwise + (super()._update_many(rest, group, rate) if rest else [])

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.zeros((), dtype=weir.float32)
            state["square_avg"] = weir.zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = weir.zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        next_step(state)
        alpha = group["alpha"]
        grad = decayed(grad, p, group["weight_decay"])
        square = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        deviation = square.sqrt() + group["eps"]
        if group["momentum"] > 0:
            move(p, state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, deviation), rate_of(group))
        else:
            quotient(p, grad, deviation, rate_of(group))


class Adagrad(Optimizer):
    """p -= lr_t grad / (sqrt(sum of grad^2) + eps), lr_t = lr / (1 + (t - 1) lr_decay). Source: Duchi et al. 2011."""

    def __init__(self, params, lr=1e-2, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0,
                 eps: float = 1e-10, foreach=None, *, maximize: bool = False, differentiable: bool = False, fused=None):
        check(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
              initial_accumulator_value=initial_accumulator_value, eps=eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = weir.tensor(0.0, dtype=weir.float32)
                start = group["initial_accumulator_value"]  # of both parts
                self.state[p]["sum"] = weir.full_like(p.detach(), complex(start, start) if p.is_complex() else start)

    def share_memory(self):
        """Kept for PyTorch's interface: CPU state is already this process's own."""

    _op = "adagrad_update"
    _fused_in_single = True

    def _op_arguments(self, group):
        return ("step", "sum"), {"lr_decay": group["lr_decay"], "eps": group["eps"], "weight_decay": group["weight_decay"],
                                 "maximize": bool(group["maximize"])}

    def _update(self, p, grad, state, group):
        step = next_step(state)
        grad = decayed(grad, p, group["weight_decay"])
        total = state["sum"].addcmul_(grad, grad)
        quotient(p, grad, total.sqrt() + group["eps"], rate_of(group) / (1 + (step - 1) * group["lr_decay"]))

    def _update_sparse(self, p, grad, state, group):
        step = next_step(state)
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = grad.coalesce()
        total = state["sum"].add_(grad * grad).sparse_mask(grad).values()
        p.add_(grad._with(grad.values() / (total.sqrt() + group["eps"])), alpha=-float(group["lr"]) / (1 + (step - 1) * group["lr_decay"]))


class Adadelta(Optimizer):
    """p -= lr sqrt(d + eps) / sqrt(v + eps) grad, d a running mean of squared updates. Source: Zeiler 2012."""

    def __init__(self, params, lr=1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0, foreach=None, *,
                 capturable: bool = False, maximize: bool = False, differentiable: bool = False):
        check(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check(eps=eps, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach, differentiable=differentiable))

    _op = "adadelta_update"

    def _op_arguments(self, group):
        return ("step", "square_avg", "acc_delta"), {"rho": group["rho"], "eps": group["eps"], "weight_decay": group["weight_decay"],
                                                     "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.zeros((), dtype=weir.float32)
            state["square_avg"], state["acc_delta"] = weir.zeros_like(p), weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        next_step(state)
        rho, eps = group["rho"], group["eps"]
        grad = decayed(grad, p, group["weight_decay"])
        square = state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * grad
        state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
        move(p, delta, rate_of(group))


class Adamax(Optimizer):
    """Adam with the largest decayed |grad| in place of the root mean square. Source: Kingma & Ba 2015."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0, foreach=None, *,
                 maximize: bool = False, differentiable: bool = False, capturable: bool = False):
        check(lr=lr, eps=eps)
        check_betas(betas)
        check(weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    _op = "adamax_update"

    def _op_arguments(self, group):
        beta1, beta2 = group["betas"]
        return ("step", "exp_avg", "exp_inf"), {"beta1": beta1, "beta2": beta2, "eps": group["eps"], "weight_decay": group["weight_decay"],
                                                "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.tensor(0.0, dtype=weir.float32)
            state["exp_avg"], state["exp_inf"] = weir.zeros_like(p), weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        step, (beta1, beta2) = next_step(state), group["betas"]
        grad = decayed(grad, p, group["weight_decay"])
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(weir.maximum(largest * beta2, grad.abs() + group["eps"]))
        quotient(p, mean, largest, rate_of(group) / (1 - beta1**step))


class NAdam(Optimizer):
    """Adam with Nesterov momentum. Source: Dozat 2016."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach=None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False):
        check(lr=lr, eps=eps)
        check_betas(betas)
        check(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable))

    _op = "nadam_update"
    _differentiable_rate = True

    def _op_arguments(self, group):
        beta1, beta2 = group["betas"]
        return ("step", "mu_product", "exp_avg", "exp_avg_sq"), {
            "beta1": beta1, "beta2": beta2, "eps": group["eps"], "weight_decay": group["weight_decay"],
            "momentum_decay": group["momentum_decay"], "decoupled": bool(group["decoupled_weight_decay"]), "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.tensor(0.0, dtype=weir.float32)
            state["mu_product"] = weir.ones((), dtype=weir.float32)
            state["exp_avg"], state["exp_avg_sq"] = weir.zeros_like(p), weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        step, (beta1, beta2), lr = next_step(state), group["betas"], rate_of(group)
        if group["decoupled_weight_decay"]:
            shrink(p, 1 - lr * group["weight_decay"])
        else:
            grad = decayed(grad, p, group["weight_decay"])
        mu, mu_next = (beta1 * (1.0 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = value_of(state["mu_product"].copy_(times(state["mu_product"], mu)))
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = over(square, 1 - beta2**step).sqrt() + group["eps"]
        quotient(p, grad, denominator, lr * (1.0 - mu) / (1.0 - product))
        quotient(p, mean, denominator, lr * mu_next / (1.0 - product * mu_next))


class RAdam(Optimizer):
    """Adam whose adaptive step is rectified while its variance is large. Source: Liu et al. 2020."""

    _TRACTABLE = 5.0  # the length from which the variance of the adaptive step is finite

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 decoupled_weight_decay: bool = False, *, foreach=None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False):
        check(lr=lr, eps=eps)
        check_betas(betas)
        check(weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    _op = "radam_update"
    _differentiable_rate = True

    def _op_arguments(self, group):
        beta1, beta2 = group["betas"]
        return ("step", "exp_avg", "exp_avg_sq"), {
            "beta1": beta1, "beta2": beta2, "eps": group["eps"], "weight_decay": group["weight_decay"],
            "decoupled": bool(group["decoupled_weight_decay"]), "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if not state:
            state["step"] = weir.tensor(0.0, dtype=weir.float32)
            state["exp_avg"], state["exp_avg_sq"] = weir.zeros_like(p), weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        step, (beta1, beta2), lr = next_step(state), group["betas"], rate_of(group)
        if group["decoupled_weight_decay"]:
            shrink(p, 1 - lr * group["weight_decay"])
        else:
            grad = decayed(grad, p, group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected = over(mean, 1 - beta1**step)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / (1 - beta2**step)
        traced = isinstance(length, weir.Tensor)
        if traced or length > self._TRACTABLE:
            ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            rectified = times(times(corrected, ratio**0.5), (1 - beta2**step) ** 0.5) / (square.sqrt() + group["eps"])
            corrected = weir.where(length > self._TRACTABLE, rectified, corrected) if traced else rectified
        move(p, corrected, lr)
