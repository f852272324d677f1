"""Names under the module in which PyTorch keeps them."""
from . import FakeTensor, FakeTensorMode  # noqa: F401


def is_fake(x):
    return False
