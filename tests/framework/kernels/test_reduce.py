"""Reductions of short dense lines, over more axes than 32 bits count, of infinite complex numbers, and the 2-norm with its gradients, against PyTorch."""

import math
import operator

import numpy as np
import pytest
import torch
import weir
from twins import assert_close, to_weir


@pytest.mark.parametrize("n", [1, 7, 16, 49, 100, 2048, 2049])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_lines(n, name, dtype):
    x = torch.randint(-50, 50, (5, n)).to(dtype)
    if name == "mean" and dtype == torch.int64:
        pytest.skip("not defined for integers")
    assert_close(getattr(weir, name)(to_weir(x), 1), getattr(torch, name)(x, 1))
    padded = to_weir(torch.cat([x, x], 1))[:, :n]
    assert_close(getattr(weir, name)(padded, 1), getattr(torch, name)(x, 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [1, 15, 16, 65, 200])
def test_a_nan_anywhere_is_the_extreme(n, dtype):
    for at in range(n):
        x = torch.randn(2, n, dtype=dtype)
        x[0, at] = float("nan")
        for name in ("amax", "amin"):
            assert_close(getattr(weir, name)(to_weir(x), 1), getattr(torch, name)(x, 1))
        for name in ("max", "min", "argmax", "argmin"):
            assert_close(getattr(weir, name)(to_weir(x[0])), getattr(torch, name)(x[0]))


def test_extremes_of_lines_keep_nan_and_infinity():
    x = torch.randn(4, 49)
    x[0, 17], x[1, :], x[2, 48] = float("nan"), -float("inf"), float("nan")
    assert_close(weir.amax(to_weir(x), 1), torch.amax(x, 1))
    assert_close(weir.amin(to_weir(x), 1), torch.amin(x, 1))


@pytest.mark.parametrize("dim", [None, 0, 1, (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_norm(dim, keepdim, dtype):
    x = torch.randn(9, 40, 33).to(dtype).transpose(0, 1).requires_grad_()
    y = to_weir(x)
    ours, theirs = weir.linalg.vector_norm(y, 2, dim, keepdim), torch.linalg.vector_norm(x, 2, dim, keepdim)
    assert_close(ours, theirs)
    (dx,) = torch.autograd.grad(theirs.sin().sum(), [x], create_graph=True)
    (dy,) = weir.autograd.grad(ours.sin().sum(), [y], create_graph=True)
    assert_close(dy, dx)
    assert_close(weir.autograd.grad((dy * dy).sum(), [y])[0], torch.autograd.grad((dx * dx).sum(), [x])[0], 1e-3, 1e-4)


def test_gradient_of_a_zero_norm_is_zero():
    x = weir.zeros(2, 3, requires_grad=True)
    weir.linalg.vector_norm(x, dim=1).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_norm_of_low_precision_adds_in_float():
    x = torch.full((4096,), 1.0, dtype=torch.bfloat16)
    assert weir.linalg.vector_norm(to_weir(x)).item() == torch.linalg.vector_norm(x).item() == 64


def test_norm_of_nothing_is_zero():
    assert weir.linalg.vector_norm(weir.zeros(0, 3)).item() == 0
    assert weir.linalg.vector_norm(weir.zeros(0, 3), dim=0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape, dim", [((5, 3), 1), ((70, 37), 0), ((70, 37), 1), ((3, 130, 65), 1), ((3, 5000), 1), ((4, 6, 9, 33), 2), ((9,), 0)])
def test_places_of_extremes(dtype, shape, dim):
    torch.manual_seed(0)
    x = torch.randint(-9, 9, shape).to(dtype)  # ties: the first of them counts
    if dtype.is_floating_point:
        x.view(-1)[torch.randperm(x.numel())[:3]] = float("nan")
        x.view(-1)[-1] = -float("inf")
    for laid_out in (x, x.transpose(0, -1).contiguous().transpose(0, -1), torch.stack([x, x], -1)[..., 0]):
        ours = weir.empty_strided(laid_out.shape, laid_out.stride(), dtype=to_weir(x).dtype).copy_(to_weir(x))
        for name in ("max", "min"):
            found, expected = getattr(weir, name)(ours, dim), getattr(torch, name)(laid_out, dim)
            assert_close(found[0], expected[0])
            assert_close(found[1], expected[1])
        assert_close(weir.argmax(ours, dim), torch.argmax(laid_out, dim))


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1,), (9,), (7, 41), (400, 33), (300, 3), (5, 6, 70), (3, 20_000), (100_000,)])
def test_halves(shape, half):
    """They are added as single precision, whatever the layout, and rounded once."""
    x = torch.randn(shape, generator=torch.manual_seed(0)).to(half)
    lost = x.clone()
    lost.view(-1)[-1] = float("nan")
    for view in (lambda t: t, lambda t: t.mT if t.dim() > 1 else t[::2], lambda t: t[..., ::3]):
        ours, theirs = view(to_weir(x)), view(x)
        for dim in (None, *range(x.dim())):
            def call(name, t):
                return getattr(t, name)() if dim is None else getattr(t, name)(dim=dim)
            for name in ("sum", "mean", "norm"):
                assert_close(call(name, ours), call(name, theirs.double()).to(half), 1e-2 if half == torch.bfloat16 else 2e-3, 1e-2, f"{name} {dim}")
            for name in ("amax", "amin"):
                assert_close(call(name, ours), call(name, theirs), 0, 0, f"{name} {dim}")
                assert_close(call(name, view(to_weir(lost))), call(name, view(lost)), 0, 0, f"{name} {dim}")


AXES = 40  # of which two have more than one element, the last and one beyond 32
FORMS = {
    "sum": lambda x: x.sum((0, 33, 39)), "sum all": lambda x: x.sum(tuple(range(AXES))), "mean": lambda x: x.mean(35), "amax": lambda x: x.amax(0),
    "amin": lambda x: x.amin((35, 39), keepdim=True), "prod": lambda x: x.prod(39), "all": lambda x: x.bool().all(33), "any": lambda x: (x > 3).any((35, 1)),
    "max": lambda x: x.max(35)[0], "argmax": lambda x: x.argmax(39), "median": lambda x: x.median(35)[0], "std": lambda x: x.std((35, 39)),
    "var all": lambda x: x.var(), "norm": lambda x: x.norm(2, 39), "vector_norm": lambda x: x.__class__.norm(x, 3, (35, 39), True), "logsumexp": lambda x: x.logsumexp((0, 35)),
    "flip": lambda x: x.flip((35, 39)), "cumsum": lambda x: x.cumsum(35), "count_nonzero": lambda x: x.count_nonzero(35), "nansum": lambda x: x.nansum(39),
    "kthvalue": lambda x: x.kthvalue(2, 39)[0], "mode": lambda x: x.mode(35)[0], "aminmax": lambda x: x.aminmax(dim=39)[1], "sort": lambda x: x.sort(35)[0],
}


@pytest.mark.parametrize("name", FORMS)
def test_axes_beyond_the_thirty_second(name):
    def run(t):
        x = t.arange(6.0).reshape([1] * 35 + [2] + [1] * 3 + [3])
        y = FORMS[name](x)
        return tuple(y.shape), y.flatten()
    (shape, ours), (expected, theirs) = run(weir), run(torch)
    assert shape == expected
    assert_close(ours, theirs)


def test_no_axis_named_is_all():
    for t in (weir, torch):
        x = t.arange(6.0).view(2, 3)
        assert t.amax(x, None).item() == 5 and x.amin(dim=None, keepdim=True).tolist() == [[0]]


INF, NAN = math.inf, math.nan
NUMBERS = [[complex(INF, INF), complex(NAN, 1), complex(-INF, 0)], [complex(INF, INF), 1, complex(-INF, 0)], [complex(0, INF), 1, complex(-INF, 0)],
           [complex(-INF, 1), complex(-INF, 2), complex(INF, 1)], [2 + 3j, complex(INF, 1), 1j]]


@pytest.mark.parametrize("name", ["prod", "mean", "sum", "cumprod", "cumsum", "logcumsumexp"])
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_infinite_complex_numbers(name, numbers):
    def run(t):
        x = t.tensor(numbers, dtype=t.complex128)
        return np.asarray((getattr(x, name)(0) if name.startswith(("cum", "log")) else getattr(x, name)()).tolist())
    np.testing.assert_array_equal(run(weir), run(torch))


def test_a_histogram_of_six_axes():
    def run(t):
        x = (t.arange(24.0) / 24).reshape(4, 6)
        return t.histogramdd(x, [2] * 6, range=[0.0, 1.0] * 6)[0].sum().item()
    assert run(weir) == run(torch) == 4


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.bool])
@pytest.mark.parametrize("shape", [(7,), (300, 70), (5, 3, 41), (40, 2), (100_000,)])
def test_extremes_of_small_integers(shape, dtype):
    x = torch.randint(-(2**31), 2**31, shape, generator=torch.manual_seed(0)).to(torch.int32)
    x = (x % 3 == 0) if dtype == torch.bool else x.to(dtype)
    for view in (lambda t: t, lambda t: t.mT if t.dim() > 1 else t[::2], lambda t: t[..., 1::3]):
        ours, theirs = view(to_weir(x)), view(x)
        for dim in (None, *range(x.dim())):
            for name in ("amax", "amin", "any", "all"):
                call = [getattr(t, name)() if dim is None else getattr(t, name)(dim) for t in (ours, theirs)]
                assert_close(call[0], call[1], 0, 0, f"{name} {dim}")


@pytest.mark.parametrize("shape", [(7,), (300, 70), (700, 5), (5, 3, 41), (40, 2), (100_000,), (3, 70_000), (70_000, 3)])
def test_truths_are_counted(shape):
    x = torch.rand(shape, generator=torch.manual_seed(0)) < 0.9  # more than a byte can count
    for view in (lambda t: t, lambda t: t.mT if t.dim() > 1 else t[::2], lambda t: t[..., ::3]):
        ours, theirs = view(to_weir(x)), view(x)
        for dim in (None, *range(x.dim())):
            assert_close(ours.sum(dim), theirs.sum(dim), 0, 0, dim)
            assert_close(ours.sum(dim, dtype=weir.int16), theirs.sum(dim, dtype=torch.int16), 0, 0, dim)
            assert_close(ours.sum(dim, dtype=weir.float32), theirs.sum(dim, dtype=torch.float32), 0, 0, dim)
            assert_close(weir.count_nonzero(ours, dim), torch.count_nonzero(theirs, dim), 0, 0, dim)


LAID = {
    "channels last": ((3, 5, 8, 9), lambda t, x: x.contiguous(memory_format=t.channels_last)), "turned": ((5, 7, 3, 9), lambda t, x: x.permute(3, 1, 0, 2)),
    "one for all": ((1, 6, 40), lambda t, x: x.expand(70, 6, 40)), "one row": ((1, 40), lambda t, x: x.expand(70, 40)), "one column": ((70, 1), lambda t, x: x.expand(70, 40)),
    "steps": ((70, 80), lambda t, x: x[:, ::2]), "two pictures": ((2, 3, 4000), lambda t, x: x),
}


@pytest.mark.parametrize("layout", LAID)
@pytest.mark.parametrize("name", ["sum", "amax", "prod", "mean", "linalg.vector_norm", "any"])
def test_every_axis_in_every_layout(layout, name):
    torch.manual_seed(0)
    shape, lay = LAID[layout]
    given = torch.rand(shape) + 0.5
    theirs, ours = lay(torch, given), lay(weir, to_weir(given))
    axes = [tuple(range(theirs.ndim)), *range(theirs.ndim)] + [(0, d) for d in range(1, theirs.ndim)] * (name != "prod")
    for dim in axes[name == "prod":]:
        assert_close(operator.attrgetter(name)(weir)(ours, dim=dim), operator.attrgetter(name)(torch)(theirs, dim=dim), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("slabs", [2, 5, 8, 13, 16])
def test_a_few_slabs_are_added_in_order(slabs):
    x, total = weir.randn(slabs, 1024, 6), 0
    for slab in x:
        total = total + slab
    assert weir.equal(x.sum(0), total)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9])
def test_sums_of_short_complex_lines(n, dtype):
    draw = np.random.default_rng(n)
    x = (draw.integers(-99, 99, (70, 4, n)) + 1j * draw.integers(-99, 99, (70, 4, n))).astype(dtype)
    for view in (lambda t: t, lambda t: t[::2, :3], lambda t: t[:, 0], lambda t: t[0, 0], lambda t: t.swapaxes(0, 2), lambda t: t[..., ::-1] if isinstance(t, np.ndarray) else t.flip(-1)):
        for dim in (-1, 0):
            np.testing.assert_array_equal(weir.sum(view(weir.from_numpy(x)), dim).numpy(), view(x).sum(dim))
            pairs = view(weir.view_as_real(weir.from_numpy(x)).movedim(-1, 0))
            np.testing.assert_array_equal(pairs.sum(dim).numpy(), view(np.moveaxis(x.view(x.real.dtype).reshape(*x.shape, 2), -1, 0)).sum(dim))
