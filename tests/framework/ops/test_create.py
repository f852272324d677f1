"""framework/ops/create.cpp: triangles, against PyTorch."""

import pytest
import torch
from twins import assert_same


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("diagonal", [0, 2, -2, 5, -5, 2**31, 2**62, -2**62, 2**63 - 1, -2**63])
def test_any_int64_is_a_diagonal(name, diagonal):
    for x in (torch.ones(2, 3, 4), torch.arange(12).reshape(4, 3), torch.ones(3, 0)):
        assert_same(lambda t, x: getattr(t, name)(x, diagonal), x, what=f"{name} {diagonal}")
