"""A small residual network on pictures from a Dataset with worker processes, SGD with momentum and a step schedule."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(5)
        self.labels = torch.randint(0, 2, (n,), generator=g)
        self.noise = torch.randn(n, 1, 12, 12, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        picture = self.noise[i] * 0.5
        stripes = (torch.arange(12) % 2).float()
        picture = picture + (stripes if self.labels[i] else stripes[:, None])
        return picture, self.labels[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, padding=1, bias=False)
        self.bn, self.conv = nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.bn2, self.fc = nn.BatchNorm2d(8), nn.Linear(8, 2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.stem(x))), 2)
        x = F.relu(x + self.bn2(self.conv(x)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Stripes(64), batch_size=16, shuffle=True, num_workers=2, generator=torch.Generator().manual_seed(7))
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    curve = []
    for epoch in range(3):
        for pictures, labels in loader:
            loss = F.cross_entropy(model(pictures), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            curve.append(loss.item())
        schedule.step()
    print(json.dumps(curve))


if __name__ == "__main__":
    main()
