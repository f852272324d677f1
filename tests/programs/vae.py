"""A variational autoencoder with torch.distributions: reparametrised draws and a divergence in closed form."""
import json

import torch
from torch import nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

torch.manual_seed(0)
data = (torch.rand(64, 20) < torch.linspace(0.1, 0.9, 20)).float()


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 8))
        self.decoder = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 20))

    def loss(self, x):
        mean, log_std = self.encoder(x).chunk(2, dim=-1)
        posterior = Independent(Normal(mean, log_std.exp()), 1)
        prior = Independent(Normal(torch.zeros(4), torch.ones(4)), 1)
        z = posterior.rsample()
        likelihood = Independent(Bernoulli(logits=self.decoder(z)), 1).log_prob(x)
        return -(likelihood - kl_divergence(posterior, prior)).mean()


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
curve = []
for step in range(40):
    optimizer.zero_grad()
    loss = model.loss(data)
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
print(json.dumps(curve))
