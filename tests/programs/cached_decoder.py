"""A decoder with rotary positions, grouped queries and a key-value cache: greedy, sampled and beam-search generation agree with and without cache."""
import json
import math
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


@dataclass
class Config:
    vocab: int = 24
    dim: int = 32
    heads: int = 4
    kv_heads: int = 2
    layers: int = 2
    max_len: int = 48


def precompute(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim))
    return torch.polar(torch.ones(end, dim // 2), torch.outer(torch.arange(end), freqs))


def rotate(x, freqs):
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(x_ * freqs[None, :, None]).flatten(3).type_as(x)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)).type_as(x) * self.weight


class Cache(nn.Module):
    def __init__(self, batch, length, heads, dim):
        super().__init__()
        self.register_buffer("k", torch.zeros(batch, heads, length, dim))
        self.register_buffer("v", torch.zeros(batch, heads, length, dim))

    def update(self, pos, k, v):
        self.k[:, :, pos] = k
        self.v[:, :, pos] = v
        return self.k, self.v


class Attention(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c, d = c, c.dim // c.heads
        self.wq, self.wo = nn.Linear(c.dim, c.dim, bias=False), nn.Linear(c.dim, c.dim, bias=False)
        self.wkv = nn.Linear(c.dim, 2 * c.kv_heads * d, bias=False)
        self.cache: Optional[Cache] = None

    def forward(self, x, freqs, mask, pos):
        b, n, _ = x.shape
        c, d = self.c, self.c.dim // self.c.heads
        q = rotate(self.wq(x).view(b, n, c.heads, d), freqs).transpose(1, 2)
        k, v = self.wkv(x).view(b, n, 2, c.kv_heads, d).unbind(2)
        k, v = rotate(k, freqs).transpose(1, 2), v.transpose(1, 2)
        if self.cache is not None:
            k, v = self.cache.update(pos, k, v)
        k, v = (t.repeat_interleave(c.heads // c.kv_heads, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.0)
        return self.wo(y.transpose(1, 2).contiguous().view(b, n, -1))


class Model(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        self.tok = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList()
        for _ in range(c.layers):
            self.layers.append(nn.ModuleDict(dict(norm1=RMSNorm(c.dim), attn=Attention(c), norm2=RMSNorm(c.dim), w1=nn.Linear(c.dim, 64, bias=False),
                                                  w3=nn.Linear(c.dim, 64, bias=False), w2=nn.Linear(64, c.dim, bias=False))))
        self.norm, self.out = RMSNorm(c.dim), nn.Linear(c.dim, c.vocab, bias=False)
        self.out.weight = self.tok.weight
        self.register_buffer("freqs", precompute(c.dim // c.heads, c.max_len), persistent=False)
        self.register_buffer("causal", torch.tril(torch.ones(c.max_len, c.max_len, dtype=torch.bool)), persistent=False)
        for name, p in self.named_parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.2 / math.sqrt(2 * c.layers) if name.endswith("wo.weight") else 0.2)

    def setup_cache(self, batch):
        for layer in self.layers:
            layer.attn.cache = Cache(batch, self.c.max_len, self.c.kv_heads, self.c.dim // self.c.heads)

    def drop_cache(self):
        for layer in self.layers:
            layer.attn.cache = None

    def forward(self, idx, pos):
        x, freqs = self.tok(idx), self.freqs[pos]
        mask = self.causal[None, None, pos] if self.layers[0].attn.cache is not None else self.causal[pos][:, pos]
        for l in self.layers:
            x = x + l["attn"](l["norm1"](x), freqs, mask, pos)
            h = l["norm2"](x)
            x = x + l["w2"](F.silu(l["w1"](h)) * l["w3"](h))
        return self.out(self.norm(x))


model, curve = Model(Config()), []
text = torch.tensor([(i * i + 3 * i) % 24 for i in range(200)])
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.95), fused=False)
for step in range(25):
    at = torch.randint(0, 160, (8,))
    batch = torch.stack([text[i:i + 33] for i in at])
    logits = model(batch[:, :-1], torch.arange(32))
    loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    curve += [loss.item(), norm.item()]
model.eval()


@torch.no_grad()
def generate(prompt, new, cached, choose):
    model.setup_cache(1) if cached else model.drop_cache()
    out = prompt.clone()
    logits = model(prompt[None], torch.arange(len(prompt)))[0, -1]
    for _ in range(new):
        out = torch.cat((out, choose(logits).view(1)))
        at = torch.arange(len(out)) if not cached else torch.tensor([len(out) - 1])
        logits = model(out[None, at], at)[0, -1]
    return out.tolist()


def top_k_p(logits, temperature=0.8, k=8, p=0.9):
    v, _ = torch.topk(logits / temperature, k)
    logits = torch.where(logits / temperature < v[-1], -float("inf"), logits / temperature)
    ordered, index = logits.sort(descending=True)
    remove = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1) > p
    probs = ordered.masked_fill(remove, -torch.inf).softmax(-1)
    return index[torch.multinomial(probs, 1)]


def exponential_race(logits):
    return torch.argmax(logits.softmax(-1) / torch.empty_like(logits).exponential_(1))


prompt = text[:6]
greedy = generate(prompt, 16, True, torch.argmax)
print(greedy == generate(prompt, 16, False, torch.argmax), greedy)
for choose in (top_k_p, exponential_race):
    torch.manual_seed(3)
    print(generate(prompt, 10, True, choose))


@torch.no_grad()
def beam(prompt, new, width=3):
    model.drop_cache()
    beams, scores = prompt[None], torch.zeros(1)
    for _ in range(new):
        logp = model(beams, torch.arange(beams.shape[1]))[:, -1].log_softmax(-1)
        total = (scores[:, None] + logp).view(-1)
        scores, index = total.topk(width)
        beams = torch.cat((beams[torch.div(index, logp.shape[-1], rounding_mode="trunc")], (index % logp.shape[-1])[:, None]), 1)
    return beams[0].tolist(), scores.tolist()


sequence, scores = beam(prompt, 8)
print(sequence)
print(json.dumps(curve + scores))
