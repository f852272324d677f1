"""Transforms of 2^k numbers, along dense lines and down columns, against NumPy's in double precision. Source: framework/kernels/cpu/fft_power.cpp."""

import numpy as np
import pytest
import weir

SIZES = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 32768, 65536]
TOLERANCE = {"complex64": 1e-6, "complex128": 1e-14}


def numbers(dtype, *shape):
    draw = np.random.default_rng(shape)
    return (draw.standard_normal(shape) + 1j * draw.standard_normal(shape)).astype(dtype)


def close(got, expected, dtype):
    assert np.abs(got.numpy() - expected).max() <= TOLERANCE[dtype] * np.abs(expected).max()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", SIZES)
def test_lines(n, dtype):
    x = numbers(dtype, 3, n)
    for name in ("fft", "ifft"):
        close(getattr(weir.fft, name)(weir.from_numpy(x)), getattr(np.fft, name)(x.astype(complex)), dtype)
        close(getattr(weir.fft, name)(weir.from_numpy(x.real.copy())), getattr(np.fft, name)(x.real.astype(float)), dtype)
    close(weir.fft.rfft(weir.from_numpy(x.imag.copy())), np.fft.rfft(x.imag.astype(float)), dtype)
    close(weir.fft.irfft(weir.from_numpy(x[:, :n // 2 + 1].copy())), np.fft.irfft(x[:, :n // 2 + 1].astype(complex)), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [64, 128, 256, 4096])
def test_real_lines_of_one_more_and_one_less(n, dtype):
    """Of which half the length, rounded, is a power as well."""
    for size in (n - 1, n + 1):
        x = numbers(dtype, 3, size)
        close(weir.fft.rfft(weir.from_numpy(x.real.copy())), np.fft.rfft(x.real.astype(float)), dtype)
        half = x[:, :size // 2 + 1].copy()
        close(weir.fft.irfft(weir.from_numpy(half), size), np.fft.irfft(half.astype(complex), size), dtype)
        close(weir.fft.fft(weir.from_numpy(x.real.copy())), np.fft.fft(x.real.astype(float)), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("lines", [1, 7, 16, 71, 130])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 15, 16, 17, 32, 64, 128, 256, 512])
def test_some_lines_at_once(n, lines, dtype):
    """Of each a register's lane, in groups which these numbers of lines do not fill."""
    x = numbers(dtype, lines, n)
    half = x[:, :n // 2 + 1].copy()
    for norm in ("forward", "backward", "ortho"):
        for name in ("fft", "ifft"):
            close(getattr(weir.fft, name)(weir.from_numpy(x), norm=norm), getattr(np.fft, name)(x.astype(complex), norm=norm), dtype)
            close(getattr(weir.fft, name)(weir.from_numpy(x.real.copy()), norm=norm), getattr(np.fft, name)(x.real.astype(float), norm=norm), dtype)
        close(weir.fft.rfft(weir.from_numpy(x.imag.copy()), norm=norm), np.fft.rfft(x.imag.astype(float), norm=norm), dtype)
        close(weir.fft.irfft(weir.from_numpy(half), n, norm=norm), np.fft.irfft(half.astype(complex), n, norm=norm), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [4, 32, 256])
def test_lines_of_spaced_repeated_and_permuted_numbers(n, dtype):
    x = numbers(dtype, 5, n, 2, 6)
    for y in (x, x.real.copy()):
        for view in (lambda t: t[:, ::2, 0], lambda t: t[:, :, 1, 3], lambda t: t[:, :, 0].swapaxes(1, 2), lambda t: t[..., :1].swapaxes(1, 3)):
            close(weir.fft.fft(view(weir.from_numpy(y))), np.fft.fft(view(y.astype("complex128"))), dtype)
            close(weir.fft.irfft(view(weir.from_numpy(y))), np.fft.irfft(view(y.astype("complex128"))), dtype)
        one = weir.from_numpy(y[0, :, :1, 0].copy()).expand(n, 12)
        close(weir.fft.fft(one, dim=0), np.fft.fft(one.numpy().astype("complex128"), axis=0), dtype)
        close(weir.fft.fft(one.mT.contiguous()[:, :1].expand(12, n)), np.fft.fft(np.broadcast_to(y[0, 0, 0, 0], (12, n)).astype("complex128")), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [4, 16, 64, 256])
def test_lines_do_not_depend_on_their_number(n, dtype):
    x = weir.from_numpy(numbers(dtype, 70, n))
    for of in (weir.fft.fft, weir.fft.ifft, lambda t: weir.fft.irfft(t, n), lambda t: weir.fft.rfft(t.real.contiguous()), lambda t: weir.fft.fft(t.imag.contiguous())):
        assert (of(x)[3:66] == of(x[3:66])).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("columns", [1, 4, 16, 21, 35])
@pytest.mark.parametrize("n", [2, 4, 8, 128, 256, 2048])
def test_columns(n, columns, dtype):
    x = numbers(dtype, 2, n, columns)
    close(weir.fft.fft(weir.from_numpy(x), dim=1), np.fft.fft(x.astype(complex), axis=1), dtype)
    close(weir.fft.ifft(weir.from_numpy(x)[:, :, 1:], dim=1) if columns > 1 else weir.fft.ifft(weir.from_numpy(x), dim=1),
          np.fft.ifft(x.astype(complex)[:, :, columns > 1:], axis=1), dtype)


@pytest.mark.parametrize("dim", [(0,), (1,), (0, 1), (1, 2), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(4, 128, 6), (3, 5, 7), (2, 16, 256), (1, 2, 128)])
def test_real_numbers_over_several_axes(shape, dim):
    x = numbers("complex128", *shape).real.copy()
    for name in ("fftn", "ifftn"):
        close(getattr(weir.fft, name)(weir.from_numpy(x), dim=dim), getattr(np.fft, name)(x, axes=dim), "complex128")
        close(getattr(weir.fft, name)(weir.from_numpy(x).mT, dim=dim), getattr(np.fft, name)(x.swapaxes(1, 2), axes=dim), "complex128")


def test_a_line_may_be_its_own_result():
    x = numbers("complex64", 256, 256)
    expected = np.fft.fft2(x.astype(complex))
    y = weir.from_numpy(x.copy())
    weir.fft.fft2(y, out=y)
    close(y, expected, "complex64")


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("dtype", [weir.float32, weir.float64])
def test_an_infinity_stays_one_in_the_shortest_real_lines(n, dtype):
    x = weir.arange(n, dtype=dtype).repeat(5, 1)
    finite = weir.fft.rfft(x)
    x[:, 0] = weir.inf
    y = weir.fft.rfft(x)
    assert (y.real == weir.inf).all() and (y.imag == finite.imag).all()
