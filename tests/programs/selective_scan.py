"""A selective scan in parallel form: cumulative sums, causal convolutions, checkpoints, a compiled loss, a GradScaler, weight norm."""
import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


def scan(log_a, b):
    a_star = F.pad(torch.cumsum(log_a, dim=1), (0, 0, 0, 0, 1, 0))[:, 1:]
    return torch.exp(a_star) * torch.cumsum(b * torch.exp(-a_star), dim=1)


class Mixer(nn.Module):
    def __init__(self, d_model, d_state=4, d_conv=3, expand=2):
        super().__init__()
        d = expand * d_model
        self.norm = nn.RMSNorm(d_model)
        self.in_proj = nn.Linear(d_model, 2 * d, bias=False)
        self.conv1d = nn.Conv1d(d, d, d_conv, groups=d, padding=d_conv - 1)
        self.x_proj = nn.Linear(d, 1 + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(1, d)
        A = torch.arange(1, d_state + 1, dtype=torch.float32).repeat(d, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(d))
        self.out_proj = nn.Linear(d, d_model, bias=False)
        self.d_state = d_state

    def forward(self, x):
        residual, n = x, x.shape[1]
        u, gate = self.in_proj(self.norm(x)).chunk(2, dim=-1)
        u = F.silu(self.conv1d(u.transpose(1, 2))[..., :n].transpose(1, 2))
        dt, B, C = torch.split(self.x_proj(u), [1, self.d_state, self.d_state], dim=-1)
        dt = F.softplus(self.dt_proj(dt)).clamp(max=0.5)
        log_a = torch.einsum("bnd,ds->bnds", dt, -torch.exp(self.A_log))
        h = scan(log_a, torch.einsum("bnd,bns,bnd->bnds", dt, B, u))
        y = torch.einsum("bnds,bns->bnd", h, C) + u * self.D
        return residual + self.out_proj(y * F.silu(gate))


class Mamba(nn.Module):
    def __init__(self, vocab=16, dim=16, depth=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0, max_norm=None)
        self.layers = nn.ModuleList([Mixer(dim) for _ in range(depth)])
        self.head = nn.utils.parametrizations.weight_norm(nn.Linear(dim, vocab, bias=False))

    def forward(self, x, ckpt=False):
        x = self.embedding(x)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if ckpt else layer(x)
        return self.head(x)


model = Mamba()


@torch.compile(backend="eager", dynamic=False)
def loss_of(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0) + 1e-4 * torch.logsumexp(logits, -1).square().mean()


scaler = torch.amp.GradScaler("cpu", init_scale=128.0, growth_interval=4)
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
opt.register_step_pre_hook(lambda o, a, k: None)
cyc = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=5, T_mult=2)
curve = []
for step in range(16):
    batch = (torch.arange(24)[None] * torch.randint(1, 5, (6, 1)) + torch.randint(0, 15, (6, 1))) % 15 + 1
    batch[:, -2:] = 0
    loss = loss_of(model(batch[:, :-1], ckpt=bool(step % 2)), batch[:, 1:])
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
    cyc.step()
    curve += [loss.item(), norm.item()]
print(scaler.get_scale(), scaler.state_dict()["_growth_tracker"], sorted(model.state_dict())[:2])
print(json.dumps(curve))
