"""Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019)."""

import weir

from .optimizer import Optimizer, as_parts, check, check_betas, decayed, next_step, over, quotient, rate_of, shrink


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

    _op = "adam_update"
    _fused_in_single = True

    def _update_sparse(self, p, grad, state, group):
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _op_arguments(self, group):
        beta1, beta2 = group["betas"]
        names = ("step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq")
        return names if group["amsgrad"] else names[:3], {
            "beta1": float(beta1), "beta2": float(beta2), "eps": group["eps"], "weight_decay": group["weight_decay"],
            "amsgrad": bool(group["amsgrad"]), "decoupled": bool(group["decoupled_weight_decay"]), "maximize": bool(group["maximize"])}

    def _start(self, p, state, group):
        if "exp_avg" not in state:
            state["step"] = weir.tensor(0.0, dtype=weir.float32)
            state["exp_avg"] = weir.zeros_like(p)
            state["exp_avg_sq"] = weir.zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = weir.zeros_like(p)

    _takes_complex = _differentiable_rate = True

    def _update(self, p, grad, state, group):
        self._start(p, state, group)
        self._apply(p, grad, state, next_step(state), group)

    @staticmethod
    def _apply(p, grad, state, step, group):
        lr, (beta1, beta2) = rate_of(group), group["betas"]
        p, grad, state = as_parts(p), as_parts(grad), {name: as_parts(value) for name, value in state.items()}
        if group["decoupled_weight_decay"]:
            shrink(p, 1 - lr * group["weight_decay"])
        else:
            grad = decayed(grad, p, group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            square = largest.copy_(weir.maximum(largest.clone(), square)).clone()
        denominator = over(square.sqrt(), (1 - beta2**step) ** 0.5) + group["eps"]
        quotient(p, mean, denominator, lr / (1 - beta1**step))


class AdamW(Adam):
    """Adam with weight decay apart from the gradient: p *= 1 - lr weight_decay."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
                 amsgrad: bool = False, *, maximize: bool = False, foreach=None, capturable: bool = False,
                 differentiable: bool = False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)
