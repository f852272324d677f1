"""A graph convolutional network on edges as an index: gather and index_add in the place of sparse products."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class GCNConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(cin, cout)), nn.Parameter(torch.zeros(cout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, edges):
        n = x.size(0)
        row, col = torch.cat([edges, torch.arange(n).repeat(2, 1)], dim=1)
        degree = torch.zeros(n).scatter_add_(0, col, torch.ones(col.numel()))
        norm = degree.pow(-0.5)[row] * degree.pow(-0.5)[col]
        x = x @ self.weight
        return torch.zeros_like(x).index_add_(0, col, norm.unsqueeze(1) * x[row]) + self.bias


labels = torch.arange(40) % 4
source = torch.randint(0, 40, (400,))
target = torch.randint(0, 40, (400,))
keep = labels[source] == labels[target]
edges = torch.stack([source[keep], target[keep]])
edges = torch.cat([edges, edges.flip(0)], dim=1)
features = torch.randn(40, 8)
train = torch.zeros(40, dtype=torch.bool)
train[:20] = True
first, second = GCNConv(8, 16), GCNConv(16, 4)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02, weight_decay=5e-4)
curve = []
for epoch in range(30):
    optimizer.zero_grad()
    out = F.log_softmax(second(F.relu(first(features, edges)), edges), dim=1)
    loss = F.nll_loss(out[train], labels[train])
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
accuracy = (out[~train].argmax(1) == labels[~train]).sum().item() / int((~train).sum())
print(json.dumps(curve + [accuracy]))
