"""Samples of PyTorch's op database, drawn without its search for the unit test that asks."""

import random

import numpy as np
import torch

from .seeding import seed


def samples(op, dtype: torch.dtype, requires_grad: bool):
    """What `op.sample_inputs` yields: the entry's samples on the CPU, each drawn after the same seed.

    That method looks through the whole stack, source text included, for a test to name in messages: two thirds of the
    time that the oracle of a campaign took.
    """
    from torch.testing._internal.common_utils import SEED

    drawn = iter(op.sample_inputs_func(op, "cpu", dtype, requires_grad))
    while True:
        seed(torch, SEED)
        random.seed(SEED)
        np.random.seed(SEED)
        try:
            yield next(drawn)
        except StopIteration:
            return
