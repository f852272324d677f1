"""A framework for tests: PyTorch with one op wrong, one of few digits, one missing, one that kills the process, one that raises."""

import os

import torch

__version__ = "0"


def __getattr__(name):
    if name == "tanh":
        raise AttributeError("flawed_torch has no tanh")
    return getattr(torch, name)


def exp(x):
    """Wrong by 1%."""
    return torch.exp(x) * 1.01


def log1p(x):
    """Loses what is small beside 1."""
    return torch.log(1 + x)


def amax(x, dim):
    """Ends the process as a segmentation fault would."""
    os.abort()


def var(x, dim):
    """Raises."""
    raise RuntimeError("var: not today")
