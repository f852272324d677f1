"""Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019)."""

import weir

from .optimizer import Optimizer, as_parts, check, check_betas, decayed, next_step


class Adam(Optimizer):
    """p -= lr m / (sqrt(v) + eps) with bias-corrected running means of the gradient and its square.

    amsgrad keeps the largest v. Reddi et al. 2018.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 amsgrad: bool = False, *, foreach=None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False, fused=None, decoupled_weight_decay: bool = False):
        if isinstance(lr, weir.Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check(lr=lr, eps=eps)
        tensors = [isinstance(beta, weir.Tensor) for beta in betas]
        if any(tensors) and not all(tensors):
            raise ValueError("betas must be either both floats or both Tensors")
        if all(tensors) and foreach and not capturable:
            raise ValueError("betas[0] as a Tensor is not supported for capturable=False and foreach=True")
        check_betas(betas)
        check(weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))

    def _step_group(self, params, group):
        fused = getattr(weir._C, "_adam_step", None)
        if fused and params and not group["amsgrad"]:
            self._fused(fused, params, group)
        else:
            super()._step_group(params, group)

    def _fused(self, fused, params, group):
        """One call of the core for all parameters; those it does not take go the plain way."""
        states = [self._state(p, group) for p in params]
        steps = [next_step(state) for state in states]
        beta1, beta2 = group["betas"]
        left = fused(params, [p.grad for p in params], [s["exp_avg"] for s in states],
                     [s["exp_avg_sq"] for s in states], steps, float(group["lr"]), beta1, beta2, group["eps"],
                     group["weight_decay"], group["decoupled_weight_decay"], group["maximize"])
        for i in left:
            grad = -params[i].grad if group["maximize"] else params[i].grad
            self._apply(params[i], grad, states[i], steps[i], group)

    def _state(self, p, group):
        state = self.state[p]
        if "exp_avg" not in state:
            state["step"] = weir.tensor(0.0, dtype=weir.float32)
            state["exp_avg"] = weir.zeros_like(p)
            state["exp_avg_sq"] = weir.zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = weir.zeros_like(p)
        return state

    _takes_complex = True

    def _update(self, p, grad, state, group):
        state = self._state(p, group)
        self._apply(p, grad, state, next_step(state), group)

    @staticmethod
    def _apply(p, grad, state, step, group):
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        p, grad, state = as_parts(p), as_parts(grad), {name: as_parts(value) for name, value in state.items()}
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
        else:
            grad = decayed(grad, p, group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.add_(grad - mean, alpha=1 - beta1)
        square.mul_(beta2).add_(grad * grad, alpha=1 - beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            square = largest.copy_(weir.maximum(largest, square))
        denominator = square.sqrt() / (1 - beta2**step) ** 0.5 + group["eps"]
        p.sub_(mean / denominator * (lr / (1 - beta1**step)))


class AdamW(Adam):
    """Adam with weight decay apart from the gradient: p *= 1 - lr weight_decay."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False, foreach=None, capturable: bool = False,
                 differentiable: bool = False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)
