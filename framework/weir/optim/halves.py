"""Updates of half precision in single precision, as PyTorch's fused kernels make them: they round what they store, and nothing on the way."""

import weir
from weir import Tensor
from weir._trace import paused


def step_halves(optimizer, params, group) -> list:
    """Updates the parameters of half precision, where the square of a small gradient may be zero; returns the others."""
    halves = [p for p in params if p.dtype in (weir.float16, weir.bfloat16)]
    for p in halves:
        state = optimizer.state[p]
        with paused():
            optimizer._start(p, state, group)
        wide = {name: value.float() if isinstance(value, Tensor) else value for name, value in state.items()}
        moved, grad = p.detach().float(), p.grad.float()
        optimizer._update(moved, -grad if group.get("maximize") else grad, wide, group)
        p.detach().copy_(moved)
        for name, value in wide.items():
            if not isinstance(value, Tensor):
                state[name] = value
            elif value is not state[name]:
                state[name].copy_(value)
    return [p for p in params if p not in set(halves)] if halves else params
