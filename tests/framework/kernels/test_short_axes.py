"""Short axes, which kernels walk many at a time, against PyTorch. Source: framework/kernels/cpu/space.h, reduce.cpp, scan.cpp, softmax.cpp, copying.cpp, index.cpp."""

import numpy as np
import pytest
import torch
import weir
from twins import to_weir

# Rows of a few numbers: beside few and many others, a tile's worth and more, ends that fill no block.
BROADCASTS = [((700, 1, 3), (1, 16, 3)), ((13, 1, 7), (1, 9, 7)), ((40, 3, 1), (40, 1, 5)), ((10, 1, 10, 1), (1, 10, 1, 10)), ((500, 5), (500, 1)),
              ((3, 1, 2, 31), (1, 4, 2, 1)), ((2, 3, 5, 7, 2), (5, 1, 2)), ((9, 300, 2), (1, 300, 1)), ((2000, 1), (1, 10)), ((9, 30, 31), (30, 31)), ((64, 1, 40), (1, 12, 40))]
ROWS = [(1000, 1), (1000, 2), (1000, 3), (17, 3), (700, 5, 3), (100, 40, 3), (50, 3, 4), (3000, 10), (9, 24), (70, 25), (8, 31), (4100, 33),
        (30, 9, 2), (30, 8, 4), (5, 75, 7), (6, 1030, 8), (4, 70, 16), (2, 2600, 3)]
DTYPES = ["float32", "float64", "bfloat16", "int64", "int32", "uint8", "bool"]


def pair(*shape, dtype="float32", poison=False):
    numbers = np.random.default_rng(shape).standard_normal(shape).astype("float32") * 3
    if poison:
        numbers.reshape(-1)[:: 11] = np.nan
    return [W.from_numpy(numbers).to(getattr(W, dtype)) if dtype != "bool" else W.from_numpy(numbers) > 0 for W in (torch, weir)]


def same(expected, got, rtol=2e-6, atol=1e-5):
    for e, g in zip(*[x if isinstance(x, tuple) else (x,) for x in (expected, got)]):
        assert str(e.dtype).split(".")[1] == str(g.dtype).split(".")[1] and tuple(e.shape) == tuple(g.shape)
        np.testing.assert_allclose(g.float().numpy(), e.float().numpy(), rtol, atol)


@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("bfloat16", "bfloat16"), ("int64", "float32"), ("bool", "uint8"), ("float16", "float16"), ("bfloat16", "float32"),
                                    ("int64", "int64"), ("float64", "float64")])
@pytest.mark.parametrize("left, right", BROADCASTS)
def test_broadcasts(left, right, dtypes):
    (x, a), (y, b) = pair(*left, dtype=dtypes[0]), pair(*right, dtype=dtypes[1])
    same(x + y, a + b)
    sizes = torch.broadcast_shapes(left, right)
    x, y, a, b = (t.expand(sizes).transpose(0, -1) for t in (x, y, a, b))
    same(x * y, a * b)
    same((x + y).transpose(0, -1) * y.transpose(0, -1), (a + b).transpose(0, -1) * b.transpose(0, -1))  # operands of other strides


@pytest.mark.parametrize("left, right", BROADCASTS)
def test_broadcasts_in_place_and_in_plans(left, right):
    (x, a), (y, b) = pair(*left), pair(*right)
    expected, target = x.expand(torch.broadcast_shapes(left, right)).clone(), a.expand(weir.broadcast_shapes(left, right)).clone()
    same(expected.mul_(y), target.mul_(b))
    program = weir.compile(lambda p, q: (p - q).abs() * 2 + q)
    same((x - y).abs() * 2 + y, program(a, b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ROWS)
def test_reductions_along_every_axis(shape, dtype):
    for x, a in (pair(*shape, dtype=dtype), [t.transpose(0, -1) for t in pair(*shape, dtype=dtype)], [t[::2, ..., ::2] for t in pair(*shape, dtype=dtype)]):
        for dim in range(x.dim()):
            tolerance = dict(rtol=1e-2, atol=0.5) if dtype == "bfloat16" else dict(rtol=1e-4, atol=1e-3)
            same(x.sum(dim), a.sum(dim), **tolerance)
            same(x.any(dim), a.any(dim))
            same(x.amax(dim), a.amax(dim))
            same(x.min(dim), a.min(dim))
            if dtype != "bool":
                same(x.argmax(dim), a.argmax(dim))
            if dtype == "float64":
                same(x.prod(dim), a.prod(dim), rtol=1e-9, atol=0)


@pytest.mark.parametrize("shape", ROWS)
def test_extremes_of_rows_with_nan(shape):
    x, a = pair(*shape, poison=True)
    for dim in range(x.dim()):
        same(x.max(dim), a.max(dim))
        same(x.amin(dim), a.amin(dim))
        same(x.nansum(dim), a.nansum(dim), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 12, 13])
def test_running_totals(width, dtype):
    numbers = np.random.default_rng(width).integers(-2, 3, (701, width))
    for op in ("cumsum", "cumprod"):
        results = []
        for W in (torch, weir):
            x = W.from_numpy(numbers).to(getattr(W, dtype))
            results.append([t.numpy() for t in (getattr(x, op)(-1), getattr(x, op)(0), getattr(x.clone(), op + "_")(1))])
        for expected, got in zip(*results):
            assert expected.dtype == got.dtype
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_softmax_and_its_gradient(op, shape, dtype):
    x, a = pair(*shape, dtype=dtype)
    results = []
    for t, W in ((x, torch), (a, weir)):
        leaf = t.clone().requires_grad_()
        y = getattr(leaf, op)(-1)
        (y * t).sum().backward()
        results.append((y.detach(), leaf.grad))
    same(*results, **(dict(rtol=3e-2, atol=0.25) if dtype == "bfloat16" else dict(rtol=2e-6, atol=3e-5)))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", ROWS)
def test_sorting(shape, descending):
    for x, a in (pair(*shape, poison=True), [t.transpose(0, -1) for t in pair(*shape)], pair(*shape, dtype="int64")):
        same(x.sort(dim=-1, descending=descending, stable=True), a.sort(dim=-1, descending=descending, stable=True))


@pytest.mark.parametrize("width", [1, 4, 5, 8, 16, 32, 33])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_embeddings_of_few_numbers(width, dtype):
    x, a = pair(9, width, dtype=dtype)
    places = np.random.default_rng(0).integers(0, 9, 200)
    same(torch.nn.functional.embedding(torch.from_numpy(places), x), weir.nn.functional.embedding(weir.from_numpy(places), a), rtol=0, atol=0)
    with pytest.raises(IndexError):
        weir.nn.functional.embedding(weir.tensor([9]), a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeroing(dtype):
    for view in (lambda t: t, lambda t: t.t(), lambda t: t[1:, ::2], lambda t: t[0].expand(4, 6), lambda t: t[:0]):
        results = []
        for t in pair(5, 6, dtype=dtype):
            view(t).zero_()
            results.append((t, view(t)))
        same(*results)


@pytest.mark.parametrize("columns", [8, 15, 16, 17, 33, 64, 100, 2047, 2050])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lines_beside_a_number_or_a_row_of_their_own(columns, dtype):
    """Whole lines of a dtype, which one call computes many of: framework/kernels/cpu/pointwise.h."""
    torch.manual_seed(0)
    x, number, row, other = (torch.randn(*s, dtype=dtype) for s in ((6, 70, columns), (6, 70, 1), (columns,), (6, 1, columns)))
    wide = torch.randn(6, 70, columns + 9, dtype=dtype)
    calls = [lambda F, x, number, row, other, wide: (x * number, number - x, x / row, number * row, x + other, number / other),
             lambda F, x, number, row, other, wide: (wide[..., 5:-4].relu(), wide[..., 5:-4] * x, wide[..., :columns] + 2, x.maximum(number), x.clamp(min=number)),
             lambda F, x, number, row, other, wide: (-number.expand_as(x), row.expand_as(x).abs(), F.lerp(x, wide[..., 2:-7], number), F.addcmul(number, x, row, value=2.0), F.addcdiv(x, row, number)),
             lambda F, x, number, row, other, wide: x.clone().mul_(number).sub_(row).div_(other),
             lambda F, x, number, row, other, wide: F.add(x, number, out=F.zeros(6, 70, columns + 3, dtype=x.dtype)[..., 1:-2])]
    given = (x, number, row, other, wide)
    for call in calls:
        same(call(torch, *given), call(weir, *map(to_weir, given)))


@pytest.mark.parametrize("channels", [2, 3, 8, 12])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_short_runs_in_another_order(channels, dtype):
    expected, got = (x.to(memory_format=t.channels_last) for x, t in zip(pair(2, channels, 20, 20, dtype=dtype), (torch, weir)))
    for f in (lambda x: x * x.transpose(-1, -2), lambda x: x.transpose(-1, -2) + x[:, :1], lambda x: x.transpose(0, 1).transpose(0, 1).transpose(-1, -2) * 2.5):
        e, g = f(expected), f(got)
        same(e, g)
        assert tuple(e.stride()) == tuple(g.stride())
