"""How often a tensor was written to, against PyTorch."""

import pytest
import torch
import weir


@pytest.mark.parametrize("make", ["rand(3)", "randn(3)", "randint(5, (3,))", "rand_like(x)", "randn_like(x)", "randint_like(x, 5)", "randperm(3)", "normal(0.0, 1.0, (3,))",
                                  "eye(3)", "arange(3)", "linspace(0, 1, 3)", "full((3,), 2)", "tensor([1.0])", "hann_window(3)"])
def test_a_new_tensor_was_written_to_by_nobody(make):
    assert [eval(f"t.{make}", {"t": t, "x": t.ones(3)})._version for t in (weir, torch)] == [0, 0]
