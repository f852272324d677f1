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
    "size": lambda t, x: t.tensor([x.size(axis=0), x.size(dim=1), x.stride(dim=0), x.stride(axis=-1)]), "no size of": lambda t, x: x.size(at=0),
    "copy_": lambda t, x: t.zeros(2, 3).copy_(x2=x), "split": lambda t, x: t.split(tensor=x, split_size_or_sections=1), "parts": lambda t, x: t.split(tensor=x, split_size_or_sections=[2, 1], dim=1),
    "Python's split": lambda t, x: t.split(x, 1, axis=0), "swapaxes": lambda t, x: t.swapaxes(x, axis0=0, axis1=1), "swapaxes_": lambda t, x: x.swapaxes_(axis0=0, axis1=1),
    "nuclear_norm": lambda t, x: t.nuclear_norm(x, keepdims=True), "frobenius_norm": lambda t, x: t.frobenius_norm(x, axis=[1], keepdims=True), "norm_except_dim": lambda t, x: t.norm_except_dim(x, axis=0),
    "Python's norm": lambda t, x: t.norm(x, axis=0), "is_same_size": lambda t, x: t.tensor(t.is_same_size(x, x2=x)), "result_type": lambda t, x: t.zeros(1, dtype=t.result_type(x, x2=2)),
    "special.softmax": lambda t, x: t.special.softmax(x, axis=0), "glu": lambda t, x: t.nn.functional.glu(x.t(), axis=0), "to": lambda t, x: x.to(float), "to of a device": lambda t, x: x.to("cpu", bool, True),
    "to_dense": lambda t, x: x.to_dense(float), "randperm": lambda t, x: t.randperm(1, dtype=float), "tensorsolve": lambda t, x: t.linalg.tensorsolve(x[:, :2] + 1, x2=x[0, :2]),
    "no window of integers": lambda t, x: t.hann_window(3, dtype=int), "both names": lambda t, x: t.linalg.norm(x, dim=0, axis=0),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    assert_same(CALLS[name], torch.arange(6.0).reshape(2, 3), what=name)
