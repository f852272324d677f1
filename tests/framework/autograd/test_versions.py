"""How often a tensor was written to, against PyTorch."""

import pytest
import torch
import weir


@pytest.mark.parametrize("make", ["rand(3)", "randn(3)", "randint(5, (3,))", "rand_like(x)", "randn_like(x)", "randint_like(x, 5)", "randperm(3)", "normal(0.0, 1.0, (3,))",
                                  "eye(3)", "arange(3)", "linspace(0, 1, 3)", "full((3,), 2)", "tensor([1.0])", "hann_window(3)"])
def test_a_new_tensor_was_written_to_by_nobody(make):
    assert [eval(f"t.{make}", {"t": t, "x": t.ones(3)})._version for t in (weir, torch)] == [0, 0]


def test_data_and_its_views_count_their_writes_on_their_own():
    found = []
    for t in (weir, torch):
        x = t.ones(2, 3)
        x.add_(1)
        data = x.data
        counts = [data._version]
        row = data[0]
        row.mul_(2)
        data.detach().mul_(2)
        x.add_(1)
        found.append(counts + [y._version for y in (x, data, row, x.data)] + x.tolist())
    assert found[0] == found[1]
