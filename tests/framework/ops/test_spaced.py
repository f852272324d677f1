"""linspace and logspace against PyTorch: numbers and tensors as ends, dtypes, out= and refusals."""

import random

import pytest
import torch
import weir
from twins import assert_same

CALLS = """linspace(0, 1, 5)|linspace(t.tensor(0.0), t.tensor(1), 5)|linspace(0, t.tensor(1.5), 4, dtype=t.int32)|linspace(0.5, 3.9, 4, dtype=t.int64)
linspace(0, 1, 0)|linspace(0, 1, -1)|linspace(t.ones(2), 1, 3)|linspace(0, 1j, 3)|linspace(0, 1j, 3, dtype=t.float32)|linspace(t.tensor(1j), 2, 3)
linspace(0, 1, 1)|linspace(t.tensor(2.0), 5, 1)|linspace(0, 1, 3, dtype=t.bool)|linspace(t.tensor(0.0), 1, 3, dtype=t.bool)|linspace(float("inf"), 1, 3)
linspace(start=0, end=t.tensor(2.0), steps=3, requires_grad=True)|linspace(t.tensor(1.0, requires_grad=True), 2, 3)|linspace(0, 1, 3, out=t.empty(0))
linspace(0, 1, 3, out=t.empty(3, dtype=t.float64))|linspace(0.5, 4.5, 3, out=t.empty(3, dtype=t.int64))|linspace(0, 1j, 3, out=t.empty(3))
linspace(0, 1, 3, pin_memory=True)|linspace(0, 1, 3, dtype=t.bfloat16)|linspace(0, 1, 3, dtype=t.complex64)|linspace(0, 1, 3.5)|linspace(0, 1)
logspace(0, 2, 3)|logspace(t.tensor(0.0), 2, 3, 2)|logspace(0, t.tensor(2), 3, base=2, dtype=t.int64)|logspace(0.5, 3.9, 4, dtype=t.int64)
logspace(0, 2, 3, dtype=t.bool)|logspace(0, 1j, 3)|logspace(start=0, end=2, steps=3)|logspace(0, 2, 3, out=t.empty(0, dtype=t.float64))
logspace(2.5, 5, 1, dtype=t.int64)|logspace(2.5, 5, 1, dtype=t.uint8)|logspace(-3, 5, 1, base=0.0, dtype=t.int32)|logspace(0.5, 5, 1, dtype=t.int16, base=9)
logspace(0, t.tensor(2.0), 3, out=t.empty(3))|logspace(0.5, 3, 4, out=t.empty(4, dtype=t.int64))
linspace(0, t.tensor(1j), 0, out=t.empty(0, dtype=t.int64))|logspace(0, t.tensor(1j), 0, out=t.empty(0))|linspace(0, 1j, 0, dtype=t.int64)
linspace(7, t.tensor(1j), 1, out=t.empty(1, dtype=t.int64))|linspace(t.tensor(7), 1j, 1, out=t.empty(1))|logspace(2, 1j, 1, out=t.empty(1))|linspace(1j, 7, 1, out=t.empty(1))
linspace(0.5, 2, 1, dtype=t.bool)|linspace(0, 2, 1, dtype=t.bool)|linspace(1, 2, 0, dtype=t.bool)|linspace(1.5, t.tensor(2), 1, dtype=t.bool)
logspace(0.5, 2, 1, dtype=t.bool)|logspace(-400, 2, 1, dtype=t.bool)|logspace(1, 2, 0, dtype=t.bool)|linspace(0.5, 2, 1, out=t.ones(1, dtype=t.bool))
linspace(2.5, 9, 1, dtype=t.int8)|linspace(300, 9, 1, dtype=t.uint8)|linspace(2.5, 9, 1, dtype=t.complex64)|logspace(2.5, 9, 1, dtype=t.complex64)
linspace(7, t.tensor(1j), 2, out=t.empty(2))|logspace(2, 1j, 1, out=t.empty(1, dtype=t.int64))""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t: eval(f"t.{text}", {"t": t}), what=text)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_on_the_meta_device_there_are_sizes_only(name):
    assert tuple(getattr(weir, name)(0, 1, 3, device="meta").shape) == (3,)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_an_out_requires_grad_and_has_no_derivative(name):
    for t in (torch, weir):
        out = getattr(t, name)(t.tensor(1.0, requires_grad=True), 2, 3, out=t.empty(3))
        assert out.requires_grad and not getattr(t, name)(t.tensor(1.0, requires_grad=True), 2, 3, out=t.empty(3, dtype=t.int64)).requires_grad
        with pytest.raises(RuntimeError, match=f"derivative for .*{name} is not implemented"):
            out.sum().backward()
        with pytest.raises(RuntimeError, match="automatic differentiation"):
            getattr(t, name)(t.tensor(1.0), 2, 3, out=t.empty(3, requires_grad=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounded_as_pytorch(dtype):
    """To the bit: a grid whose first step is off by one rounding makes weights of interpolation that are off by a thousandth."""
    draws = random.Random(0)
    for n in [1, 2, 3, 7, 15, 16, 17, 33, 128, 1000] * 20:
        low, high = draws.uniform(-10, 0), draws.uniform(0, 10)
        spaced = [t.linspace(low, high, n, dtype=getattr(t, dtype)).tolist() for t in (weir, torch)]
        assert spaced[0] == spaced[1]
        edges = [t.histogram(t.zeros(3, dtype=getattr(t, dtype)), n, range=(low, high))[1].tolist() for t in (weir, torch)]
        assert edges[0] == edges[1]


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "complex64"])
def test_between_tensors_as_between_their_numbers(dtype, steps):
    ends = weir.tensor(-2.75), weir.tensor(7.5, dtype=weir.float64)
    kind = getattr(weir, dtype)
    assert weir.equal(weir.linspace(*ends, steps, dtype=kind), weir.linspace(-2.75, 7.5, steps, dtype=kind))
    assert weir.equal(weir.linspace(ends[0], 7.5, steps, dtype=kind), weir.linspace(-2.75, ends[1], steps, dtype=kind))


@pytest.mark.parametrize("ends", [(-1, 1), (-1, -5), (0, 255), (3, -3), (-1.5, 1.5)])
def test_bytes_below_zero_wrap_around_before_they_are_spaced(ends):
    for steps in (1, 2, 3, 4, 7):
        assert_same(lambda t: t.linspace(*ends, steps, dtype=t.uint8), what=f"{ends} {steps}")
    assert_same(lambda t, x: t.affine_grid_generator(x, [2, 1, 3, 4], False), torch.arange(12, dtype=torch.uint8).reshape(2, 2, 3))
