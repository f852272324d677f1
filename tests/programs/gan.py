"""A DCGAN in small: transposed convolutions against convolutions, two optimizers, weights initialised by `apply`."""
import json

import torch
import torch.nn as nn

torch.manual_seed(0)


def weights_init(m):
    if m.__class__.__name__.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif m.__class__.__name__.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


generator = nn.Sequential(
    nn.ConvTranspose2d(8, 16, 4, 1, 0, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
    nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False), nn.Tanh()).apply(weights_init)
critic = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(16, 1, 4, 1, 0, bias=False), nn.Sigmoid()).apply(weights_init)
criterion = nn.BCELoss()
opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
real = torch.tanh(torch.randn(16, 1, 8, 8) + 1)
curve = []
for step in range(10):
    critic.zero_grad()
    label = torch.full((16,), 1.0, dtype=torch.float)
    loss_real = criterion(critic(real).view(-1), label)
    loss_real.backward()
    fake = generator(torch.randn(16, 8, 1, 1))
    label.fill_(0.0)
    loss_fake = criterion(critic(fake.detach()).view(-1), label)
    loss_fake.backward()
    opt_d.step()
    generator.zero_grad()
    label.fill_(1.0)
    loss_g = criterion(critic(fake).view(-1), label)
    loss_g.backward()
    opt_g.step()
    curve += [loss_real.item() + loss_fake.item(), loss_g.item()]
print(json.dumps(curve))
