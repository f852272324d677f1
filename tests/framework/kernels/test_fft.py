"""Fourier transforms against PyTorch's. Sources: framework/ops/fft.cpp and framework/kernels/cpu/fft.cpp."""

import numpy as np
import pytest
import torch
import weir

REAL_INPUT = {"rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn"}
LINES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
GRIDS = [name + end for name in LINES for end in ("2", "n")]


def signal(name, shape=(3, 8, 5)):
    draw = np.random.default_rng(1)
    real = draw.standard_normal(shape)
    return real if name in REAL_INPUT else real + 1j * draw.standard_normal(shape)


def check(name, tolerance=1e-10, **options):
    """Values, gradients and gradients of gradients agree."""
    seen = []
    for F in (weir, torch):
        x = F.from_numpy(signal(name)).requires_grad_()
        y = getattr(F.fft, name)(x, **options)
        loss = (y * y.conj() * y.abs()).real.sum() if y.is_complex() else (y ** 3).sum()
        g, = F.autograd.grad(loss, x, create_graph=True)
        h, = F.autograd.grad((g * g.conj()).real.sum() if g.is_complex() else (g * g).sum(), x)
        seen.append([t.detach().resolve_conj().numpy() for t in (y, g, h)])
    for ours, theirs in zip(*seen):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(1, abs(theirs).max()))


@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
@pytest.mark.parametrize("name", LINES + GRIDS)
def test_a_transform_and_two_derivatives(name, norm):
    check(name, norm=norm)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("n, dim", [(4, 0), (11, 1), (7, -1), (1, 1)])
def test_sizes_and_axes_of_a_line(name, n, dim):
    check(name, n=n, dim=dim)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("s, dim", [((4, 6), (0, 2)), ((9, -1), (2, 1)), (None, (1,)), ((7,), (-2,))])
def test_sizes_and_axes_of_a_grid(name, s, dim):
    check(name, s=s, dim=dim)


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex64"])
@pytest.mark.parametrize("name", ["fft", "irfft"])
def test_dtypes_promote(name, dtype):
    x = np.arange(10)
    ours, theirs = (getattr(F.fft, name)(F.from_numpy(x).to(getattr(F, dtype))) for F in (weir, torch))
    assert str(ours.dtype) == str(theirs.dtype)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 3, 97, 4096, 300007])
def test_a_long_line_of_any_length(n):
    x = np.random.default_rng(2).standard_normal(n)
    np.testing.assert_allclose(weir.fft.fft(weir.from_numpy(x)).numpy(), np.fft.fft(x), rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(weir.fft.irfft(weir.fft.rfft(weir.from_numpy(x)), n=n).numpy(), x, rtol=1e-9, atol=1e-9)


def test_strided_input_and_out():
    x = np.random.default_rng(3).standard_normal((6, 4)) + 0j
    t = weir.from_numpy(x).t()
    out = weir.empty(0, dtype=weir.complex128)
    assert weir.fft.fft(t, dim=1, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.fft.fft(x.T, axis=1))
    np.testing.assert_allclose(weir.fft.fft2(t.conj()).numpy(), np.fft.fft2(x.T.conj()))


@pytest.mark.parametrize("call", [
    lambda F: F.fft.fft(F.zeros(0)), lambda F: F.fft.fft(F.zeros(3), n=0), lambda F: F.fft.fft(F.ones(())),
    lambda F: F.fft.rfft(F.zeros(3, dtype=F.complex64)), lambda F: F.fft.fft(F.zeros(3), norm="other"),
    lambda F: F.fft.fft(F.zeros(3), dim=1), lambda F: F.fft.fftn(F.zeros(3, 3), dim=(0, 0)),
    lambda F: F.fft.fftn(F.zeros(3, 3), s=(1, 2), dim=(0,)), lambda F: F.fft.fftn(F.zeros(3), s=(1, 2)),
    lambda F: F.fft.irfft(F.zeros(1)), lambda F: F.fft.rfftn(F.ones(())), lambda F: F.fft.fft(F.zeros(4).half()),
    lambda F: F.fft.fft(F.zeros(4).bfloat16()), lambda F: F.fft.fftfreq(4, dtype=F.int64)])
def test_what_is_refused(call):
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(theirs.type):
        call(weir)


@pytest.mark.parametrize("n", [1, 4, 7])
def test_frequencies_and_shifts(n):
    for name in ("fftfreq", "rfftfreq"):
        ours, theirs = getattr(weir.fft, name)(n, 0.5), getattr(torch.fft, name)(n, 0.5)
        assert ours.tolist() == theirs.tolist()
    x = np.arange(3 * n).reshape(3, n)
    for name in ("fftshift", "ifftshift"):
        for dim in (None, 1, (0, 1)):
            ours, theirs = (getattr(F.fft, name)(F.from_numpy(x), dim) for F in (weir, torch))
            assert ours.tolist() == theirs.tolist()
