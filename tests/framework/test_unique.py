"""Unique elements and slices against PyTorch: values, inverse, counts and refusals."""

import pytest
import torch
from twins import assert_same

X = torch.tensor([[3, 1, 3, 1], [3, 1, 3, 1], [0, 2, 0, 2]])
CALLS = """unique(x)|unique(x, dim=0)|unique(x, return_inverse=True, return_counts=True)|unique(x, True, True, True, 1)|unique(x, dim=-1, return_inverse=True)|unique(x, dim=5)
unique(x[:0], dim=0)|unique(x[:0], dim=1)|unique(x[0, 0])|unique(x[0], dim=0, return_counts=True)|unique(x.bool(), return_counts=True)|unique(x.bfloat16(), dim=1)
unique_consecutive(x)|unique_consecutive(x, dim=0, return_inverse=True, return_counts=True)|unique_consecutive(x + 1j, dim=0)|unique_consecutive(x[0], True, True)
unique_consecutive(x[:0])|unique_consecutive(x[:, :0], dim=0)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_unique_as_pytorch(text):
    assert_same(lambda t, x: eval(f"t.{text}", {"t": t, "x": x}), X, what=text)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float16, torch.bool])
def test_long_and_short_runs_of_many_numbers(dtype):
    """Which threads find share by share."""
    lengths = torch.tensor([1, 2, 70_000, 1, 1, 33_000, 5] + [1] * 3000)
    x = torch.repeat_interleave(torch.arange(len(lengths)) % 3 - 1, lengths).to(dtype)
    if dtype.is_floating_point:
        x[:2], x[-5:-2] = torch.tensor([0.0, -0.0]), float("nan")
    for options in ({}, {"return_inverse": True, "return_counts": True}):
        assert_same(lambda t, x, o=options: t.unique_consecutive(x, **o), x, order=0, rtol=0, atol=0)
