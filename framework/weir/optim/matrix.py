"""Optimizers that see a parameter as a matrix: Adafactor and Muon; and SparseAdam, for sparse gradients."""

import math

import weir

from .optimizer import Optimizer, check_betas, rate_tensor, wider


class Adafactor(Optimizer):
    """Adam's second moment kept as the product of row and column means, and steps relative to the parameter's size.

    Source: Shazeer & Stern 2018.
    """

    _takes_complex = True  # refuses them itself

    def __init__(self, params, lr=1e-2, beta2_decay: float = -0.8, eps=(None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
                 foreach=None, maximize: bool = False):
        if isinstance(lr, weir.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for wrong, text in ((not 0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}"),
                            (not 0.0 >= beta2_decay, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
                            (eps[0] is not None and not 0.0 <= eps[0], f"epsilon1 should be >= 0 but is: {eps[0]}"),
                            (not 0.0 <= eps[1], f"epsilon2 should be >= 0 but is: {eps[1]}"),
                            (not 1.0 <= d, f"Clipping threshold d should be >= 1 but is: {d}"),
                            (not 0.0 <= weight_decay, f"weight_decay should be >= 0 but is: {weight_decay}")):
            if wrong:
                raise ValueError(text)
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize))

    _traces = True

    def _update(self, p, grad, state, group):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if not p.numel():
            raise ZeroDivisionError("Adafactor: a parameter without elements has no root mean square")
        self._start(p, state, group)
        step, lr, (eps1, eps2) = state["step"].add_(1).double(), rate_tensor(group), group["eps"]
        eps1 = weir.finfo(p.dtype).eps if eps1 is None else eps1
        share = step ** group["beta2_decay"]
        alpha = _greater(p.norm(2).double() / p.numel() ** 0.5, eps2) * weir.minimum(lr, 1 / step.sqrt())
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            for name, dim in (("row_var", -1), ("col_var", -2)):
                mean = weir.norm(grad, dim=dim, keepdim=True).square_().div_(grad.size(dim))
                _move_towards(state[name], mean, share)
            estimate = state["row_var"] @ state["col_var"]
            estimate.div_(state["row_var"].mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            estimate = _move_towards(state["variance"], grad * grad, share).clone()
        update = estimate.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        excess = _greater(update.norm(2).double() / (update.numel() ** 0.5 * group["d"]), 1.0)
        p.addcmul_(update, -alpha / excess)

    def _start(self, p, state, group):
        if state:
            return
        state["step"] = weir.tensor(0.0, dtype=weir.float32)
        if p.dim() > 1:
            *lead, rows, columns = p.shape
            state["row_var"] = p.new_zeros([*lead, rows, 1])
            state["col_var"] = p.new_zeros([*lead, 1, columns])
        else:
            state["variance"] = weir.zeros_like(p)


def _greater(x, least):
    """x, or `least` where x is less or NaN, as Python's max(least, x) has it."""
    return weir.where(x > least, x, least)


def _move_towards(mean, value, share):
    """mean.lerp_(value, share), of halves rounded once."""
    wide, target = wider(mean), wider(value)
    return mean.copy_(weir.lerp(wide, target, share.to(wide.dtype)))


def _orthogonalized(grad, coefficients, steps, eps):
    """The nearest semi-orthogonal matrix, roughly: Newton-Schulz iterations in bfloat16. Source: Jordan et al. 2024."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = grad.size(0) > grad.size(1)
    x = grad.bfloat16()
    x = x.T if tall else x
    x = x.div(x.norm().clamp(min=eps))
    for _ in range(steps):
        gram = x @ x.T
        x = _addmm(x, _addmm(gram, gram, gram, b, c), x, a, 1.0)
    return x.T if tall else x


def _addmm(x, m1, m2, beta, alpha):
    """beta x + alpha m1 @ m2 of bfloat16 matrices, rounded once as PyTorch's product does."""
    return (x.float() * beta + (m1.float() @ m2.float()) * alpha).bfloat16()


class Muon(Optimizer):
    """Momentum whose matrix is made orthogonal before each step; for 2-d parameters. Source: Jordan et al. 2024."""

    _takes_complex = True  # refuses them itself

    def __init__(self, params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
                 ns_coefficients=(3.4445, -4.7750, 2.0315), eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn=None):
        if isinstance(lr, weir.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    _traces = True

    def _start(self, p, state, group):
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = weir.zeros_like(p)

    def _update(self, p, grad, state, group):
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        self._start(p, state, group)
        lr, momentum = rate_tensor(group), group["momentum"]
        buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = p.shape
        ratio = 0.2 * math.sqrt(max(rows, columns)) if group["adjust_lr_fn"] == "match_rms_adamw" else (
            math.sqrt(max(1, rows / columns)))
        p.mul_(1 - lr * group["weight_decay"]).addcmul_(update, -lr * ratio)


class SparseAdam(Optimizer):
    """Adam for sparse gradients: only the entries that have a gradient, and their means, move. RuntimeError for dense gradients."""

    _LATER_TENSORS = ()  # its steps are numbers, as PyTorch's

    _takes_complex = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps: float = 1e-8, maximize: bool = False):
        if isinstance(lr, weir.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        found = [[i, j] for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"]) if p.is_complex()]
        if found:
            raise ValueError(f"Complex params at indices {found}: SparseAdam does not support complex parameters")

    def _update(self, p, grad, state, group):
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def _update_sparse(self, p, grad, state, group):
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = weir.zeros_like(p), weir.zeros_like(p)
        state["step"] += 1
        step, (beta1, beta2), grad = state["step"], group["betas"], grad.coalesce()
        numbers = grad.values()
        mean, square = (state[name].sparse_mask(grad).values() for name in ("exp_avg", "exp_avg_sq"))
        mean_change, square_change = (numbers - mean) * (1 - beta1), (numbers * numbers - square) * (1 - beta2)
        state["exp_avg"].add_(grad._with(mean_change))
        state["exp_avg_sq"].add_(grad._with(square_change))
        rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        p.add_(grad._with((mean + mean_change) / ((square + square_change).sqrt() + group["eps"]) * -rate))
