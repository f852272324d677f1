"""A graph convolutional network (Kipf & Welling 2017) whose normalised adjacency matrix is sparse, COO to train and CSR to evaluate."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class GraphConvolution(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(cin, cout)), nn.Parameter(torch.zeros(cout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return torch.spmm(adjacency, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, adjacency, features, hidden, classes):
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.first, self.second = GraphConvolution(features, hidden), GraphConvolution(hidden, classes)

    def forward(self, x):
        x = F.dropout(F.relu(self.first(x, self.adjacency)), 0.5, self.training)
        return F.log_softmax(self.second(x, self.adjacency), dim=1)


def normalised(edges, n):
    """D^-1/2 (A + I) D^-1/2 of an undirected graph."""
    loops = torch.arange(n).repeat(2, 1)
    indices = torch.cat([edges, edges.flip(0), loops], dim=1)
    a = torch.sparse_coo_tensor(indices, torch.ones(indices.shape[1]), (n, n)).coalesce()
    a = torch.sparse_coo_tensor(a.indices(), torch.ones(a._nnz()), (n, n)).coalesce()
    scale = torch.sparse.sum(a, dim=1).to_dense().pow(-0.5)
    row, col = a.indices()
    return torch.sparse_coo_tensor(a.indices(), a.values() * scale[row] * scale[col], a.shape, is_coalesced=True)


labels = torch.arange(60) % 4
source, target = torch.randint(0, 60, (2, 500))
keep = (labels[source] == labels[target]) & (source != target)
features = torch.randn(60, 8)
train = torch.zeros(60, dtype=torch.bool)
train[:30] = True
model = GCN(normalised(torch.stack([source[keep], target[keep]]), 60), 8, 16, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
curve = []
for epoch in range(30):
    optimizer.zero_grad()
    loss = F.nll_loss(model(features)[train], labels[train])
    loss.backward()
    optimizer.step()
    curve.append(loss.item())

model.eval()
model.adjacency = model.adjacency.to_sparse_csr()
with torch.no_grad():
    out = model(features)
print(model.adjacency.layout, model.adjacency._nnz())
accuracy = (out[~train].argmax(1) == labels[~train]).float().mean().item()

# An adjacency matrix that learns: gradients reach its values, in the places it has.
edges = model.adjacency.to_sparse_coo().detach().requires_grad_()
F.nll_loss(torch.sparse.mm(edges, features[:, :4]).log_softmax(1), labels).backward()
print(edges.grad.layout, tuple(edges.grad.shape))
print(json.dumps(curve + [accuracy, edges.grad.to_dense().norm().item()]))
