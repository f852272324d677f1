"""Hogwild: processes that train one model in shared memory, one after another here so that the numbers are the same."""
import json

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn


def train(rank, model, results):
    torch.manual_seed(10 + rank)
    torch.set_num_threads(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    curve = []
    for step in range(10):
        x = torch.randn(16, 4)
        loss = F.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    results.put(curve)


def main():
    torch.manual_seed(0)
    context = mp.get_context("spawn")
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    model.share_memory()
    results, curve = context.Queue(), []
    before = model[0].weight.clone()
    for rank in range(2):
        process = context.Process(target=train, args=(rank, model, results))
        process.start()
        curve += results.get()
        process.join()
    assert not torch.equal(before, model[0].weight)
    print(json.dumps(curve + model[2].weight.detach().view(-1).tolist()))


if __name__ == "__main__":
    main()
