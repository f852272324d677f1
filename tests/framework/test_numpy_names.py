"""NumPy's names of parameters, and Python types as dtypes, wherever PyTorch takes them."""

import pytest
import torch
from twins import assert_same

CALLS = {
    "equal": lambda t, x: t.tensor(t.equal(x, x2=x)), "allclose": lambda t, x: t.tensor(t.allclose(x1=x, x2=x)), "matmul": lambda t, x: t.matmul(x, x2=x.t()),
    "linalg.matmul": lambda t, x: t.linalg.matmul(x, x2=x.t()), "norm": lambda t, x: t.linalg.norm(x, axis=0, keepdims=True),
    "matrix_norm": lambda t, x: t.linalg.matrix_norm(x, keepdims=True), "sum": lambda t, x: t.sum(x=x, axis=0), "add": lambda t, x: t.add(x1=x, x2=x),
    "scatter": lambda t, x: t.scatter(x[0], axis=0, index=t.tensor([0]), src=x[1]), "method": lambda t, x: x[0].scatter(axis=0, index=t.tensor([0]), src=x[1]),
    "fftfreq": lambda t, x: t.fft.fftfreq(3, dtype=float), "window": lambda t, x: t.hann_window(3, dtype=float),
    "logspace": lambda t, x: t.logspace(0, 1, 3, dtype=int), "linspace": lambda t, x: t.linspace(0, 1, 3, dtype=complex),
    "no window of integers": lambda t, x: t.hann_window(3, dtype=int), "both names": lambda t, x: t.linalg.norm(x, dim=0, axis=0),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    assert_same(CALLS[name], torch.arange(6.0).reshape(2, 3), what=name)
