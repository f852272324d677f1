"""WGAN with a gradient penalty: gradients of gradients through `autograd.grad(create_graph=True)`."""
import json

import torch
from torch import autograd, nn, optim

torch.manual_seed(4)
critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt_c = optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_g = optim.RMSprop(generator.parameters(), lr=1e-3)


def penalty(real, fake):
    alpha = torch.rand(real.size(0), 1).expand(real.size())
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    (gradient,) = autograd.grad(outputs=critic(mixed), inputs=mixed, grad_outputs=torch.ones(mixed.size(0), 1),
                                create_graph=True, retain_graph=True, only_inputs=True)
    return ((gradient.norm(2, dim=1) - 1) ** 2).mean() * 10


curve = []
for step in range(15):
    for p in critic.parameters():
        p.requires_grad = True
    for _ in range(2):
        real = torch.randn(32, 2) * 0.1 + torch.tensor([1.0, -1.0])
        with torch.no_grad():
            fake = generator(torch.randn(32, 4))
        loss = critic(fake).mean() - critic(real).mean() + penalty(real, fake)
        opt_c.zero_grad()
        loss.backward()
        opt_c.step()
    for p in critic.parameters():
        p.requires_grad = False
    loss_g = -critic(generator(torch.randn(32, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    curve += [loss.item(), loss_g.item()]
print(json.dumps(curve))
