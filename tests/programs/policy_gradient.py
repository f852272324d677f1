"""REINFORCE with a Gaussian policy of torch.distributions on a task of one step, with a value as baseline."""
import json

import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([{"params": actor.parameters()}, {"params": value.parameters(), "lr": 5e-3}], lr=1e-2)
curve = []
for step in range(40):
    state = torch.randn(64, 3)
    mean, log_std = actor(state).unbind(-1)
    policy = Normal(mean, log_std.clamp(-3, 1).exp())
    action = policy.sample()
    reward = -(action - state.sum(-1)) ** 2
    baseline = value(state).squeeze(-1)
    advantage = (reward - baseline).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    loss = -(policy.log_prob(action) * advantage).mean() + nn.functional.smooth_l1_loss(baseline, reward) - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve += [loss.item(), reward.mean().item()]
print(json.dumps(curve))
