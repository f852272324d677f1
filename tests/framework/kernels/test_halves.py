"""Short formulas of bfloat16 and float16, which are computed a few registers at a time: bit for bit PyTorch's, of any length and layout."""

import numpy as np
import pytest
import torch
import weir
from twins import to_weir

DTYPES = [torch.bfloat16, torch.float16]
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-7, 2.5, -3.5, 3.0, -3.0, 6.0]
ONE = {
    "angle": lambda W, x: W.angle(x),
    "round": lambda W, x: W.round(x),
    "round to none": lambda W, x: W.round(x, decimals=0),
    "round to tenths": lambda W, x: W.round(x, decimals=1),
    "round to hundreds": lambda W, x: W.round(x, decimals=-2),
    "frac": lambda W, x: W.frac(x),
    "deg2rad": lambda W, x: W.deg2rad(x),
    "nan_to_num": lambda W, x: W.nan_to_num(x),
    "leaky_relu": lambda W, x: W.nn.functional.leaky_relu(x, 0.1),
    "relu6": lambda W, x: W.nn.functional.relu6(x),
    "hardtanh": lambda W, x: W.nn.functional.hardtanh(x, -0.3, 2.7),
    "hardshrink": lambda W, x: W.nn.functional.hardshrink(x),
    "softshrink": lambda W, x: W.nn.functional.softshrink(x),
    "hardswish": lambda W, x: W.nn.functional.hardswish(x),
    "threshold": lambda W, x: W.nn.functional.threshold(x, 0.3, 0.7),
}
TWO = {
    "copysign": lambda W, x, y: W.copysign(x, y),
    "div": lambda W, x, y: W.div(x, y, rounding_mode="trunc"),
    "clamp from below": lambda W, x, y: W.clamp(x, min=y),
    "clamp from above": lambda W, x, y: W.clamp(x, max=y),
    "heaviside": lambda W, x, y: W.heaviside(x, y),
    "nextafter": lambda W, x, y: W.nextafter(x, y),
}


def numbers(n, dtype, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(n) * torch.randint(1, 4, (n,)) ** 5
    for i, special in enumerate(SPECIAL):
        x[i :: 37] = special
    return x[torch.randperm(n)].to(dtype)


UNSIGNED = ["softshrink", "clamp from below", "clamp from above"]  # PyTorch's vectors make another zero than its single numbers


def same_bits(ours, theirs, name):
    assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
    nan = theirs.isnan()
    assert weir.isnan(ours).tolist() == nan.tolist()
    bits = torch.tensor(ours.view(weir.int16).tolist(), dtype=torch.int16)
    expected = theirs.contiguous().view(torch.int16)
    if name in UNSIGNED:
        bits, expected = (torch.where(t == -(2**15), 0, t) for t in (bits, expected))
    assert torch.equal(bits[~nan], expected[~nan])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_of_one(name, dtype):
    for n in (1, 7, 16, 31, 1000):
        x = numbers(n, dtype)
        same_bits(ONE[name](weir, to_weir(x)), ONE[name](torch, x), name)
    x = numbers(34 * 43, dtype).view(34, 43)
    for view in (lambda t: t[:, :31], lambda t: t[:, ::2], lambda t: t.t(), lambda t: t[:1].expand(9, 43)):
        same_bits(ONE[name](weir, view(to_weir(x))), ONE[name](torch, view(x)), name)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TWO)
def test_of_two_or_a_number(name, dtype):
    for n in (1, 7, 16, 31, 1000):
        x, y = numbers(n, dtype), numbers(n, dtype, 1)
        same_bits(TWO[name](weir, to_weir(x), to_weir(y)), TWO[name](torch, x, y), name)
        for special in SPECIAL if n > 16 else ():
            number = torch.tensor(special, dtype=dtype)
            same_bits(TWO[name](weir, to_weir(x), to_weir(number)), TWO[name](torch, x, number), name)
            same_bits(TWO[name](weir, to_weir(number), to_weir(y)), TWO[name](torch, number, y), name)
    x, y = numbers(34 * 43, dtype).view(34, 43), numbers(34, dtype, 1).view(34, 1)
    same_bits(TWO[name](weir, to_weir(x), to_weir(y)), TWO[name](torch, x, y), name)
    same_bits(TWO[name](weir, to_weir(x[:, :31]), to_weir(y)), TWO[name](torch, x[:, :31], y), name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8])
def test_a_bound_alone(dtype):
    x = numbers(1000, torch.float32).nan_to_num(0, 9, 0).abs().to(dtype) if not dtype.is_floating_point else numbers(1000, torch.float32).to(dtype)
    for bound in SPECIAL if dtype.is_floating_point else (0, 3):
        for name in ("min", "max"):
            given = {name: torch.tensor(bound, dtype=dtype)}
            ours, theirs = weir.clamp(to_weir(x), **{name: to_weir(given[name])}), torch.clamp(x, **given)
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_columns(name, dtype):
    for shape, dim in (((40, 70), 0), ((3, 9, 33), 1), ((2, 5, 3, 8), 1), ((300, 600), 0)):
        x, g = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
        ours, theirs = to_weir(x).requires_grad_(), x.float().requires_grad_()
        getattr(weir, name)(ours, dim).backward(to_weir(g))
        getattr(torch, name)(theirs, dim).backward(g.float())
        assert torch.allclose(torch.tensor(ours.grad.float().tolist()), theirs.grad, rtol=3e-2, atol=3e-2)
