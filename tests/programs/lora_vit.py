"""A vision transformer, then low-rank adapters by parametrize on its frozen weights, merged for inference."""
import json

import torch
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.gamma = nn.Parameter(torch.full((dim,), 0.1))

    def forward(self, x):
        x = x + self.gamma * self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, dim=32, depth=2, classes=4):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, kernel_size=4, stride=4)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.empty(1, 17, dim))
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        self.blocks = nn.Sequential(*[Block(dim, 4) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            if m.bias is not None:
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).mT
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


class LoRA(nn.Module):
    def __init__(self, n_in, n_out, rank=2, alpha=4.0):
        super().__init__()
        self.A, self.B = nn.Parameter(torch.zeros(rank, n_in)), nn.Parameter(torch.zeros(n_out, rank))
        nn.init.normal_(self.A, mean=0, std=0.1)
        self.scale, self.enabled = alpha / rank, True

    def forward(self, W):
        return W + torch.matmul(self.B, self.A).view(W.shape) * self.scale if self.enabled else W


images = torch.randn(32, 3, 16, 16)
labels = torch.randint(0, 4, (32,))
images += torch.eye(4)[labels].repeat(1, 4).reshape(32, 1, 4, 4).repeat_interleave(4, -1).repeat_interleave(4, -2)
model, curve = ViT(), []


def train(parameters, steps, lr):
    opt = torch.optim.AdamW(parameters, lr=lr, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=lr, total_steps=steps)
    for _ in range(steps):
        index = torch.randperm(32)[:16]
        loss = F.cross_entropy(model(images[index]), labels[index], label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        curve.append(loss.item())


decay = [p for p in model.parameters() if p.ndim > 1]
train([{"params": decay}, {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0}], 15, 3e-3)
model.requires_grad_(False)
for name, module in list(model.named_modules()):
    if isinstance(module, nn.Linear) and "attn" in name:
        parametrize.register_parametrization(module, "weight", LoRA(module.in_features, module.out_features))
names = [n for n, p in model.named_parameters() if p.requires_grad]
print(len(names), names[0], sum(p.numel() for p in model.parameters() if p.requires_grad))
labels = labels.roll(1)
train([p for p in model.parameters() if p.requires_grad], 15, 2e-2)
model.eval()
with torch.no_grad(), parametrize.cached():
    before = model(images)
for module in model.modules():
    if parametrize.is_parametrized(module):
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)
print(torch.allclose(before, model(images), atol=1e-5), sorted(model.state_dict())[:3])
curve += before[0].tolist()
print(json.dumps(curve))
