"""LBFGS with and without a line search, on a fit with a closure."""
import json

import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 40, dtype=torch.float64).unsqueeze(1)
y = torch.sin(2 * x) + 0.1 * torch.randn(40, 1, dtype=torch.float64)
curve = []
for search in (None, "strong_wolfe"):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1)).double()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3 if search is None else 1, max_iter=5, history_size=10,
                                  line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    for step in range(6):
        curve.append(optimizer.step(closure).item())
print(json.dumps(curve))
