"""Batch norm against PyTorch in float64: planes of any size, both layouts, large means. Rows of layer norm, which kernels/cpu/norm_rows.h sums."""

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir

LAYOUTS = {"row-major": torch.contiguous_format, "channels_last": torch.channels_last}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (4, 8), (5, 13), (40, 55)])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(layout, size, training):
    torch.manual_seed(0)
    x = (torch.randn(6, 3, *size) * torch.tensor([0.1, 1, 10])[:, None, None] + torch.tensor([50.0, 0, -3])[:, None, None]).contiguous(
        memory_format=LAYOUTS[layout])
    mean, var, weight, bias, cotangent = torch.randn(3), torch.rand(3) + 0.5, torch.randn(3), torch.randn(3), torch.randn(x.shape)
    ours = [to_weir(t).requires_grad_() for t in (x, weight, bias)]
    theirs = [t.double().requires_grad_() for t in (x, weight, bias)]
    y = weir.nn.functional.batch_norm(ours[0], to_weir(mean), to_weir(var), ours[1], ours[2], training)
    z = torch.nn.functional.batch_norm(theirs[0], mean.double(), var.double(), theirs[1], theirs[2], training)
    assert_close(y.double(), z, 1e-4, 1e-4)
    for a, b in zip(weir.autograd.grad(y, ours, to_weir(cotangent)), torch.autograd.grad(z, theirs, cotangent.double())):
        assert_close(a.double(), b, 1e-3, 1e-3)


def test_threads_do_not_show_in_sums():
    torch.manual_seed(0)
    x = to_weir(torch.randn(8, 16, 40, 40, dtype=torch.float64) * 10 + 3).contiguous(memory_format=weir.channels_last)
    rows, cotangent = to_weir(torch.randn(20000, 24, dtype=torch.float64)), to_weir(torch.randn(20000, 24, dtype=torch.float64))
    threads = weir.get_num_threads()
    weir.set_num_threads(8)
    try:
        def sums():
            _, mean, invstd = weir.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
            weight = weir.ones(24, dtype=weir.float64).requires_grad_()
            grad, = weir.autograd.grad(weir.nn.functional.layer_norm(rows, [24], weight), weight, cotangent)
            return weir.cat([mean, invstd, grad])

        first = sums()
        assert all(weir.equal(sums(), first) for _ in range(30))
    finally:
        weir.set_num_threads(threads)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("groups", [1, 3])
def test_groups_of_long_rows(dtype, groups):
    x = torch.randn(2, 6, 5003, generator=torch.manual_seed(0)).to(dtype)
    rtol = 2e-2 if dtype == torch.bfloat16 else 1e-5
    assert_close(weir.nn.functional.group_norm(to_weir(x), groups), torch.nn.functional.group_norm(x, groups), rtol, rtol)
    zero = weir.nn.functional.group_norm(weir.full((1, 2, 3), -0.0), 1)
    assert not weir.signbit(zero).any()


@pytest.mark.parametrize("shape, groups", [((2, 6, 5), 3), ((3, 4, 2), 4), ((2, 8, 9, 7), 2), ((1, 3, 5000), 1), ((2, 4), 2)])
def test_group_norm_and_its_derivatives(shape, groups):
    """Rows of a few numbers, of many, and of channels longer than a tile."""
    x, w, b = (torch.randn(s, dtype=torch.float64, generator=torch.manual_seed(i), requires_grad=True) for i, s in enumerate((shape, shape[1], shape[1])))
    for given in ((x, w, b), (x, w, None), (x, None, b), (x, None, None)):
        def call(t, x, *weights):
            weights = iter(weights)
            return t.nn.functional.group_norm(x, groups, *(None if g is None else next(weights) for g in given[1:]))
        assert_same(call, *(t for t in given if t is not None), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["group_norm", "native_group_norm"])
def test_an_infinite_weight_is_multiplied_before_the_mean_is_taken_off(name):
    x, w = torch.randn(2, 4, 3, generator=torch.manual_seed(0)), torch.tensor([1.0, float("inf"), 2.0, -float("inf")])
    call = {"group_norm": lambda t, x, w: t.nn.functional.group_norm(x, 2, w), "native_group_norm": lambda t, x, w: t.native_group_norm(x, w, None, 2, 4, 3, 2, 1e-5)[0]}[name]
    assert_close(call(weir, to_weir(x), to_weir(w)), call(torch, x, w), 1e-5, 1e-5)


@pytest.mark.parametrize("name", ["group_norm", "layer_norm", "batch_norm"])
def test_the_slope_of_a_weight_does_not_depend_on_the_weight_whatever_it_weighs(name):
    x = weir.randn(2, 4, 4)
    x[0, 0, 0] = float("inf")
    w = weir.ones(4).requires_grad_()
    y = {"group_norm": lambda f: f.group_norm(x, 2, w), "layer_norm": lambda f: f.layer_norm(x, (4,), w),
         "batch_norm": lambda f: f.batch_norm(x, None, None, w, training=True)}[name](weir.nn.functional)
    (slope,) = weir.autograd.grad(y, w, weir.ones_like(y), create_graph=True)
    assert not weir.autograd.grad(slope, w, weir.ones(4))[0].any()


def test_group_norm_of_halves_rounds_once():
    x, w, b = torch.randn(2, 8, 40, generator=torch.manual_seed(0)), torch.rand(8) + 0.5, torch.randn(8)
    for dtype in (torch.bfloat16, torch.float16):
        for weights in (dtype, torch.float32):
            given = x.to(dtype), 4, w.to(weights), b.to(weights)
            got = weir.nn.functional.group_norm(to_weir(given[0]), 4, *map(to_weir, given[2:]))
            assert_close(got, torch.nn.functional.group_norm(*given), 1e-2, 1e-2)
            exact = torch.nn.functional.group_norm(given[0].double(), 4, given[2].double(), given[3].double())
            assert_close(got.double(), exact.to(dtype).double(), 4e-3 if dtype == torch.bfloat16 else 6e-4, 1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("shape", [(3, 5), (70, 32), (5, 33), (2, 4100), (3, 2, 700)])
@pytest.mark.parametrize("given", ["nothing", "weight", "bias", "both"])
def test_rows_of_layer_norm_long_and_short(shape, given, dtype):
    torch.manual_seed(0)
    last = shape[1:]
    x = torch.randn(shape).to(dtype).requires_grad_()
    weight, bias = (torch.randn(last).to(dtype).requires_grad_() if given in (name, "both") else None for name in ("weight", "bias"))
    close = {"rtol": 2e-2, "atol": 3e-2} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-4}
    assert_same(lambda f, x, w, b: f.nn.functional.layer_norm(x, last, w, b), x, weight, bias, order=2 if dtype == torch.float64 else 1, **close)


@pytest.mark.parametrize("channels_last", [False, True])
def test_an_outlier_in_front_costs_batch_norm_no_digits(channels_last):
    x = torch.randn(1, 2, 8, 8, dtype=torch.float64, generator=torch.manual_seed(0))
    x[0, :, 0, 0] = 1e3
    if channels_last:
        x = x.contiguous(memory_format=torch.channels_last)
    seen = [t.nn.functional.batch_norm(y, None, None, training=True, eps=1e-30) for t, y in ((torch, x), (weir, to_weir(x)))]
    torch.testing.assert_close(torch.from_numpy(seen[1].numpy()), seen[0], rtol=0, atol=1e-15 * 8)


@pytest.mark.parametrize("channels, groups", [(8, 4), (6, 6), (300, 3), (4, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("size, layout", [((5, 7), "channels_last"), ((3, 4, 5), "channels_last_3d"), ((1, 2), "channels_last")])
def test_group_norm_stays_channels_last(channels, groups, dtype, size, layout):
    """Values and gradients by framework/kernels/cpu/channel_planes.h, in the layout that PyTorch's have."""
    torch.manual_seed(0)
    x = torch.randn(2, channels, *size).to(dtype).contiguous(memory_format=getattr(torch, layout)).requires_grad_()
    w, b = (torch.randn(channels).to(dtype).requires_grad_() for _ in range(2))
    ours = [to_weir(x).contiguous(memory_format=getattr(weir, layout)).requires_grad_(), *(to_weir(t).requires_grad_() for t in (w, b))]
    theirs = [t.detach().double().requires_grad_() for t in (x, w, b)]
    y, z = weir.nn.functional.group_norm(ours[0], groups, *ours[1:]), torch.nn.functional.group_norm(theirs[0], groups, *theirs[1:])
    cotangent = torch.randn(x.shape).to(dtype)
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 0.05}[dtype]
    assert_close(y.double(), z, tolerance, tolerance)
    gradients = weir.autograd.grad(y, ours, to_weir(cotangent))
    assert y.stride() == gradients[0].stride() == torch.nn.functional.group_norm(x, groups).stride()
    if channels // groups * size[-1] > 2 or dtype != torch.bfloat16:  # of two numbers it is what rounding leaves
        for a, g in zip(gradients, torch.autograd.grad(z, theirs, cotangent.double())):
            assert_close(a.double(), g, 20 * tolerance, 20 * tolerance)


def test_group_norm_of_infinities_channels_last():
    x, w = torch.randn(2, 4, 3, 3), torch.tensor([1.0, float("inf"), 2, 3])
    x[0, 1, 1, 1] = float("inf")
    for t in (x, x[1:]):
        assert_same(lambda f, x, w: f.nn.functional.group_norm(x.contiguous(memory_format=f.channels_last), 2, w, w), t, w, order=0, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("shape, groups", [((2, 6, 3), 3), ((1, 300, 3), 1), ((3, 4), 2), ((2, 8, 1), 8), ((2, 4, 5, 7), 2), ((2, 5, 40), 5)])
def test_groups_without_weights(shape, groups, dtype):
    x = torch.randn(shape, dtype=dtype)
    x[0, 0] = float("inf")
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 2e-2}[dtype]
    assert_close(weir.nn.functional.group_norm(to_weir(x), groups), torch.nn.functional.group_norm(x, groups), rtol=tolerance, atol=tolerance)
