"""Gives the tests `twins`, in every folder below, and every test the same random numbers, whichever ran before it."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import weir

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(autouse=True)
def _seeded():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    weir.manual_seed(0)
