"""Plans of containers and loaders: faults that must show."""

import torch
from planned import shows


def test_a_container_that_keeps_the_wrong_names_shows(monkeypatch):
    assert shows("assembling.containers", monkeypatch, torch.nn.ModuleList, "__delitem__", lambda self, at: None, count=500)


def test_another_order_shows(monkeypatch):
    order = torch.utils.data.RandomSampler.__iter__
    assert shows("assembling.loading", monkeypatch, torch.utils.data.RandomSampler, "__iter__", lambda self: reversed(list(order(self))))
