"""Numbers of one dtype as numbers of another, in runs of every length and in transposed squares."""

import numpy as np
import pytest
import torch
import weir
from twins import to_weir

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.complex64, torch.complex128]


def bits(t):
    """A tensor's numbers as bytes, of either framework."""
    return np.frombuffer(bytes(t.contiguous().view(torch.uint8 if isinstance(t, torch.Tensor) else weir.uint8).numpy()), np.uint8)


@pytest.mark.parametrize("source", DTYPES)
def test_every_dtype_to_every_other(source):
    x = torch.arange(0, 77).reshape(7, 11).to(source)
    for target in DTYPES:
        there = getattr(weir, str(target).removeprefix("torch."))
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(UserWarning)
            np.testing.assert_array_equal(bits(to_weir(x).to(there)), bits(x.to(target)))
            np.testing.assert_array_equal(bits(to_weir(x).t().to(there).contiguous()), bits(x.t().to(target).contiguous()))


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_halves_of_every_size(half):
    x = torch.randn(700, generator=torch.manual_seed(0)).mul(50).to(half)
    x[::9], x[1::9] = torch.inf, torch.nan
    for target in DTYPES:
        there = getattr(weir, str(target).removeprefix("torch."))
        of = x if target.is_floating_point or target.is_complex or target == torch.bool else x[x.isfinite()].abs()
        np.testing.assert_array_equal(bits(to_weir(of).to(there)), bits(of.to(target)))
        back = of.nan_to_num(3, 4, 5).to(target)
        np.testing.assert_array_equal(bits(to_weir(back).to(to_weir(half))), bits(back.to(half)))


def test_whole_numbers_of_every_size_to_floats_and_back():
    near = [s * (1 << e) + d for e in range(64) for d in (-2, -1, 0, 1, 2) for s in (1, -1)]
    near += [(1 << 53) + (1 << 29) + 1, (1 << 62) + (1 << 38) + 1]  # which a double on the way would round twice
    whole = np.array([n for n in near if -(1 << 63) <= n < 1 << 63], np.int64)
    for name in ("float32", "float64", "bfloat16", "float16"):
        for n in (len(whole), 7):
            given = torch.from_numpy(whole[-n:].copy())
            np.testing.assert_array_equal(bits(to_weir(given).to(getattr(weir, name))), bits(given.to(getattr(torch, name))))
    fractions = np.concatenate([whole.astype(np.float64) + d for d in (-0.75, -0.5, 0, 0.25)] + [[np.inf, -np.inf, np.nan, 0.1, -0.9]])
    for name in ("float32", "float64", "bfloat16"):
        given = torch.from_numpy(fractions).to(getattr(torch, name))
        np.testing.assert_array_equal(bits(to_weir(given).long()), bits(given.long()))


def test_rounding_to_half_precision():
    pattern = np.arange(0, 1 << 32, 65_521, dtype=np.uint32)
    ties = (np.arange(0, 1 << 16, 7, dtype=np.uint32) << 16) | 0x8000
    x = np.concatenate([pattern, ties, ties + 1, ties - 1]).view(np.float32)
    for name in ("bfloat16", "float16"):
        for n in (len(x), 15, 17):
            found = weir.from_numpy(x[:n]).to(getattr(weir, name)).float().numpy()
            np.testing.assert_array_equal(found, torch.from_numpy(x[:n]).to(getattr(torch, name)).float().numpy())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.int64, torch.complex128])
@pytest.mark.parametrize("shape", [(32, 32), (33, 70), (4, 5), (64, 7), (3, 41, 38), (2, 40, 3, 35), (9, 5, 4), (9, 12, 7), (3, 6, 8, 9), (5, 32, 32), (6, 17, 33)])
def test_transposed_copies(dtype, shape):
    x = torch.arange(int(np.prod(shape))).reshape(shape).to(dtype)
    for turned, ours in ((x.transpose(-1, -2), to_weir(x).transpose(-1, -2)), (x.transpose(0, -1), to_weir(x).transpose(0, -1))):
        np.testing.assert_array_equal(bits(ours.contiguous()), bits(turned.contiguous()))
        if x.dim() > 2:  # cut on all sides, so that nothing lies dense
            np.testing.assert_array_equal(bits(ours[:, 1:, :-1].contiguous()), bits(turned[:, 1:, :-1].contiguous()))


@pytest.mark.parametrize("kept", [0xFFFFFFFF, 0x80FFFFFF, 0xFFFF0000], ids=["any", "denormal", "halfway"])
def test_floats_of_all_bits_round_to_bfloat16(kept):
    of = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, dtype=np.uint64).astype(np.uint32) & np.uint32(kept)
    of |= np.uint32(0x8000 if kept == 0xFFFF0000 else 0)
    nan = np.isnan(of.view(np.float32))
    nearest = ((of + (0x7FFF + (of >> 16 & 1)).astype(np.uint64)) >> 16) & 0xFFFF
    there = weir.from_numpy(of.view(np.float32)).bfloat16().view(weir.int16).numpy().astype(np.uint16)
    np.testing.assert_array_equal(there, np.where(nan, 0x7FC0, nearest))
