"""Comparisons and random tensors for tests. Source: torch.testing."""
from ._comparison import assert_allclose, assert_close  # noqa: F401
from ._creation import make_tensor  # noqa: F401
from weir import FileCheck  # noqa: F401
from . import _utils  # noqa: F401  (there without an import of its own)
