"""A neural ODE: RK4 in a loop, the adjoint method as a custom Function, jvp for a continuous flow's divergence, and jacobians of the solution."""
import json

import torch
import torch.nn as nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

torch.manual_seed(0)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Softplus(beta=2), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y ** 3) * torch.cos(t)


def rk4(f, y, times):
    out = [y]
    for t0, t1 in zip(times[:-1], times[1:]):
        h = t1 - t0
        k1 = f(t0, y)
        k2 = f(t0 + h / 2, y + h * k1 / 2)
        k3 = f(t0 + h / 2, y + h * k2 / 2)
        k4 = f(t1, y + h * k3)
        y = y + (k1 + 2 * k2 + 2 * k3 + k4) * h / 6
        out.append(y)
    return torch.stack(out)


class Adjoint(Function):
    @staticmethod
    def forward(ctx, f, y0, times, *params):
        with torch.no_grad():
            ys = rk4(f, y0, times)
        ctx.f, ctx.n = f, len(params)
        ctx.save_for_backward(times, ys, *params)
        ctx.mark_non_differentiable(times)
        return ys

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        times, ys, *params = ctx.saved_tensors
        a, total = torch.zeros_like(grad[0]), [torch.zeros_like(p) for p in params]
        for i in range(len(times) - 1, 0, -1):
            a = a + grad[i]
            with torch.enable_grad():
                y = ys[i - 1].detach().requires_grad_()
                end = rk4(ctx.f, y, times[i - 1:i + 1])[-1]
                a, *extra = torch.autograd.grad(end, [y, *params], a, allow_unused=True)
            total = [t + e for t, e in zip(total, extra)]
        return (None, a + grad[0], None, *total)


field = Field()
times = torch.linspace(0.0, 1.5, 6)
truth = rk4(lambda t, y: (y ** 3) @ torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]), torch.tensor([[1.2, 0.0], [0.5, 0.7]]), times)
opt = torch.optim.Adam(field.parameters(), lr=5e-2, amsgrad=True)
curve = []
for step in range(15):
    ys = Adjoint.apply(field, truth[0], times, *field.parameters())
    loss = (ys - truth).abs().mean()
    opt.zero_grad()
    loss.backward()
    if step == 0:
        adjoint = [p.grad.clone() for p in field.parameters()]
        direct = torch.autograd.grad((rk4(field, truth[0], times) - truth).abs().mean(), list(field.parameters()))
        print(all(torch.allclose(a, d, atol=1e-5) for a, d in zip(adjoint, direct)))
    opt.step()
    curve.append(loss.item())
end = lambda y: rk4(field, y, times)[-1]
jacobian = torch.autograd.functional.jacobian(end, truth[0], vectorize=False)
curve += jacobian.flatten().tolist()
noise = torch.randn(2, 2)
_, tangent = torch.autograd.functional.jvp(end, truth[0], noise)
per_sample = torch.func.vmap(torch.func.jacrev(lambda y: end(y[None])[0]))(truth[0])
curve += [*tangent.flatten().tolist(), *torch.linalg.slogdet(per_sample).logabsdet.tolist()]
hvp = torch.autograd.functional.hvp(lambda y: end(y).square().sum(), truth[0], noise)[1]
curve += hvp.flatten().tolist()
print(torch.allclose(torch.einsum("abcd,cd->ab", jacobian, noise), tangent, atol=1e-4))
print(json.dumps(curve))
