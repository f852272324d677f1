"""Interpolation and padding against PyTorch: every mode, rank and argument form; values, strides, two derivatives, errors."""

import itertools
import warnings

import numpy as np
import pytest
import torch
import weir
from twins import assert_same

SHAPES = {1: (2, 3, 7), 2: (2, 3, 5, 7), 3: (1, 2, 3, 4, 5)}


def outcome(framework, call, array, weights):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = framework.from_numpy(array.copy()).requires_grad_()
        try:
            y = call(framework.nn.functional, x)
        except Exception as error:
            return type(error).__name__
        y.backward(framework.from_numpy(np.resize(weights, tuple(y.shape))))
    return y.stride(), y.detach().numpy(), x.grad.numpy()


def check(call, shape, dtype="float64"):
    rng = np.random.default_rng(1)
    array, weights = rng.standard_normal(shape).astype(dtype), rng.standard_normal(200).astype(dtype)
    ours, theirs = (outcome(f, call, array, weights) for f in (weir, torch))
    if isinstance(theirs, str):
        assert ours == theirs
        return
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1:], theirs[1:]):
        np.testing.assert_allclose(a, b, rtol=1e-4 if dtype == "float32" else 1e-10, atol=1e-5 if dtype == "float32" else 1e-12)


TARGETS = [dict(size=11), dict(scale_factor=2), dict(scale_factor=1.7), dict(scale_factor=0.6), dict(scale_factor=0.5, recompute_scale_factor=True)]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"])
def test_interpolate(mode):
    for rank, aligned, target, dtype in itertools.product(SHAPES, (None, False, True), TARGETS, ("float32", "float64")):
        check(lambda F, x: F.interpolate(x, mode=mode, align_corners=aligned, **target), SHAPES[rank], dtype)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_interpolate_antialiased(mode):
    for size, aligned in itertools.product(([3, 2], [9, 12], [5, 7]), (False, True)):
        check(lambda F, x: F.interpolate(x, size, mode=mode, align_corners=aligned, antialias=True), SHAPES[2])
    check(lambda F, x: F.interpolate(x, 3, mode="linear", antialias=True), SHAPES[1])


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular", "constant", "foo"])
def test_pad(mode):
    for shape in [(3, 7), *SHAPES.values()]:
        for pad in [(1, 2), (2, 1, 0, 3), (-1, 2), (1, -2, 2, 1), (1, 1, 1, 1, 1, 1), (7, 0), (0, 6), (0, 0), (1,)]:
            check(lambda F, x: F.pad(x, pad, mode=mode), shape)


@pytest.mark.parametrize("call", [lambda F, x: F.pad(x, (2, 1), mode="reflect"), lambda F, x: F.interpolate(x, 9, mode="linear"),
                                  lambda F, x: F.interpolate(x, 4, mode="nearest")])
def test_second_derivatives(call):
    seen = []
    for framework in (weir, torch):
        x = framework.from_numpy(np.linspace(-1, 1, 14).reshape(1, 2, 7)).requires_grad_()
        (g,) = framework.autograd.grad((call(framework.nn.functional, x) ** 3).sum(), x, create_graph=True)
        (h,) = framework.autograd.grad((g * g).sum(), x)
        seen.append(h.numpy())
    np.testing.assert_allclose(*seen, rtol=1e-10)


def test_whole_numbers_and_halves():
    pixels = np.arange(72, dtype=np.uint8).reshape(1, 2, 6, 6)
    for mode in ("nearest", "reflect"):
        pair = [f.nn.functional.interpolate(f.from_numpy(pixels), 9, mode=mode) if mode == "nearest" else
                f.nn.functional.pad(f.from_numpy(pixels), (2, 1, 1, 2), mode) for f in (weir, torch)]
        assert pair[0].tolist() == pair[1].tolist()
    half = weir.arange(12.0).reshape(1, 1, 12).to(weir.bfloat16).requires_grad_()
    out = weir.nn.functional.interpolate(half, 24, mode="linear")
    out.sum().backward()
    assert out.dtype is weir.bfloat16 and half.grad.float().sum().item() == 24


@pytest.mark.parametrize("mode, antialias", [("bilinear", False), ("bilinear", True), ("bicubic", False), ("bicubic", True), ("lanczos", True)])
@pytest.mark.parametrize("shape, size", [((2, 3, 20, 22), (16, 16)), ((1, 1, 8, 9), (13, 20)), ((1, 5, 31, 17), (7, 30)), ((1, 3, 6, 6), (6, 4))])
@pytest.mark.parametrize("align_corners", [False, True])
def test_pictures_of_bytes_are_pytorchs_to_the_last_level(mode, antialias, shape, size, align_corners):
    if mode == "lanczos" and align_corners:
        return
    given = torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    for layout in (torch.contiguous_format, torch.channels_last):
        x = given.contiguous(memory_format=layout)
        ours = weir.from_numpy(given.numpy()).contiguous(memory_format=getattr(weir, str(layout).split(".")[1]))
        want, got = (t.nn.functional.interpolate(v, size, mode=mode, antialias=antialias, align_corners=align_corners) for t, v in ((torch, x), (weir, ours)))
        np.testing.assert_array_equal(got.numpy(), want.numpy())
        assert got.stride() == want.stride()


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "trilinear"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint8"])
def test_channels_last_stay_last(mode, dtype):
    volumes = mode == "trilinear"
    if volumes and dtype == "uint8":
        dtype = "float64"
    layout = "channels_last_3d" if volumes else "channels_last"
    x = torch.randn(2, 5, *([3] if volumes else []), 6, 7, generator=torch.manual_seed(0)).mul(40).to(getattr(torch, dtype))
    results = []
    for F, x in ((torch, x), (weir, weir.from_dlpack(x))):
        x = x.contiguous(memory_format=getattr(F, layout))
        same = F.nn.functional.interpolate(x, size=x.shape[2:], mode=mode)
        assert same.data_ptr() != x.data_ptr()
        x.requires_grad_(dtype != "uint8")
        y = F.nn.functional.interpolate(x, scale_factor=2, mode=mode)
        if x.requires_grad:
            y.square().sum().backward()
        results.append([same, y] + ([x.grad] if x.requires_grad else []))
    for expected, got in zip(*results):
        assert got.stride() == expected.stride() and not got._is_view()
        np.testing.assert_allclose(got.detach().double().numpy(), expected.detach().double().numpy(), rtol=2e-2 if dtype == "bfloat16" else 1e-4, atol=1e-3)


@pytest.mark.parametrize("mode", ["linear", "nearest", "nearest-exact"])
@pytest.mark.parametrize("lines", [2, 9])  # few are added to their places, many are summed by place
@pytest.mark.parametrize("old, made", [(400, 300), (300, 800), (3, 500), (500, 3), (7, 7)])
def test_gradients_of_long_lines(mode, lines, old, made):
    check(lambda F, x: F.interpolate(x, size=made, mode=mode), (1, lines, old))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("options", [{"size": [4, 3]}, {"size": [4, 7]}, {"size": [3, 7]}, {"scale_factor": 1.05}, {"scale_factor": (0.5, 1.0)}, {"size": [8, 13], "align_corners": True},
                                     {"size": [4, 5], "align_corners": True}, {"size": [4, 7], "antialias": True}, {"size": [2, 7], "antialias": True, "align_corners": True}])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_weight_of_zero_beside_an_infinite_number(mode, options, dtype):
    """PyTorch multiplies by it, of axes of the same size too, but with antialias leaves these alone."""
    x = torch.randn(1, 2, 4, 7, generator=torch.manual_seed(0)).to(dtype)
    x[0, 0, 1, 3] = float("inf")
    assert_same(lambda t, x: t.nn.functional.interpolate(x, mode=mode, **options), x, rtol=2e-3 if dtype == torch.float16 else 1e-4, atol=1e-3 if dtype == torch.float16 else 1e-5)


@pytest.mark.parametrize("pad", [(-2, 2), (-1, 2), (3, -1), (2, -1), (3, -2), (-1, 1), (-3, 3), (1, -2), (3, 3, 3, -1), (1, 2, -1, 2), (-1, 1, 1, 2)])
@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 1, 2, 3), (1, 1, 3, 3), (1, 1, 1)])
def test_circular_pads_of_more_than_a_crop_leaves(pad, shape):
    """PyTorch refuses to copy over what it reads, and leaves what has nothing to be taken from as memory was."""
    if len(pad) != 2 * (len(shape) - 2):
        return
    left = [n + min(pad[2 * i], 0) + min(pad[2 * i + 1], 0) for i, n in enumerate(shape[:1:-1])]
    if any(n == 0 < max(pad[2 * i:2 * i + 2]) for i, n in enumerate(left)):
        with pytest.raises(RuntimeError):
            weir.nn.functional.pad(weir.ones(shape), pad, mode="circular")
    else:
        check(lambda F, x: F.pad(x, pad, mode="circular"), shape)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "area"])
def test_few_places_of_what_is_not_dense(mode):
    """They are read where they lie."""
    def everything(t, x):
        f = t.nn.functional.interpolate
        found = [f(y, size=n, mode=mode) for y in (x.transpose(1, 2)[:, :, :500], x.transpose(0, 2).transpose(0, 1), x[..., ::2]) for n in (1, 5, 20)]
        return found + [f(x.transpose(1, 2), size=7, mode=mode, align_corners=True) for _ in range(mode == "linear")]
    assert_same(everything, torch.randn(2, 600, 3, generator=torch.manual_seed(0)).requires_grad_(), order=1)
