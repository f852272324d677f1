"""Node embeddings from random walks (Grover & Leskovec 2016): skip-gram with negative samples, sparse gradients, SparseAdam."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

NODES, LENGTH, WINDOW = 40, 8, 3
ring = torch.arange(NODES)
starts = torch.cat([ring, ring, torch.randint(0, NODES, (20,))])
ends = torch.cat([(ring + 1) % NODES, (ring + 4) % NODES, torch.randint(0, NODES, (20,))])
neighbours = [torch.cat([ends[starts == n], starts[ends == n]]) for n in range(NODES)]


def walks(batch):
    path = [batch]
    for _ in range(LENGTH - 1):
        step = torch.rand(len(batch))
        path.append(torch.stack([neighbours[n][int(u * len(neighbours[n]))] for n, u in zip(path[-1].tolist(), step.tolist())]))
    rows = torch.stack(path, 1)
    return torch.cat([rows[:, i:i + WINDOW] for i in range(LENGTH - WINDOW + 1)])


embedding = nn.Embedding(NODES, 16, sparse=True)
optimizer = torch.optim.SparseAdam(list(embedding.parameters()), lr=0.02)
curve = []
for step in range(25):
    pairs = walks(torch.randperm(NODES)[:10])
    negative = torch.cat([pairs[:, :1], torch.randint(0, NODES, (len(pairs), WINDOW - 1))], 1)
    optimizer.zero_grad()
    loss = 0
    for rows, sign in ((pairs, 1), (negative, -1)):
        centre, context = embedding(rows[:, :1]), embedding(rows[:, 1:])
        loss = loss - F.logsigmoid(sign * (centre * context).sum(-1)).mean()
    loss.backward()
    assert embedding.weight.grad.is_sparse
    optimizer.step()
    curve.append(loss.item())
print(optimizer.state_dict()["state"][0]["step"])
print(json.dumps(curve + embedding.weight.detach().norm(dim=1)[:5].tolist()))
