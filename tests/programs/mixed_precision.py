"""Training under autocast in bfloat16 with a gradient scaler on the CPU, and a custom function with custom_fwd."""
import json

import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast, custom_bwd, custom_fwd

torch.manual_seed(0)


class Scale(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, by):
        ctx.by = by
        return x * by

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        return grad * ctx.by, None


model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
scaler = GradScaler("cpu", init_scale=128.0, growth_interval=4)
x, w = torch.randn(64, 16), torch.randn(16, 1)
y = x @ w
curve = []
for step in range(20):
    optimizer.zero_grad(set_to_none=True)
    with autocast("cpu", dtype=torch.bfloat16):
        out = Scale.apply(model(x), 2.0)
        loss = nn.functional.mse_loss(out.float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    if step == 7:
        next(model.parameters()).grad[0, 0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
    curve += [loss.item(), scaler.get_scale()]
print(json.dumps(curve))
