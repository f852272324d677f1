"""A U-Net in small that finds discs in noise, with a dice loss, upsampling and skips."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(inplace=True),
                                   nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(2, cout), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.block(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = DoubleConv(1, 8), DoubleConv(8, 16), DoubleConv(16, 16)
        self.pool, self.up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.up2, self.up1, self.out = DoubleConv(32, 8), DoubleConv(16, 8), nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.bottom(self.pool(b))
        x = self.up2(torch.cat([self.up(c), b], dim=1))
        return self.out(self.up1(torch.cat([self.up(x), a], dim=1)))


yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
centers = torch.rand(8, 2) * 8 + 4
masks = ((yy - centers[:, :1, None]) ** 2 + (xx - centers[:, 1:, None]) ** 2 < 9).float().unsqueeze(1)
pictures = masks + 0.3 * torch.randn_like(masks)
model = UNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
curve = []
for step in range(12):
    logits = model(pictures)
    p = torch.sigmoid(logits)
    dice = 1 - (2 * (p * masks).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + masks.sum((1, 2, 3)) + 1)
    loss = F.binary_cross_entropy_with_logits(logits, masks) + dice.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    curve.append(loss.item())
print(json.dumps(curve))
