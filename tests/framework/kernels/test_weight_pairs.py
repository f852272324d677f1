"""framework/kernels/cpu/weight_pairs.h, weight_tiles.h and weight_products.h: gradients of weights in bfloat16, where the CPU multiplies such numbers in pairs or by tiles;
elsewhere oneDNN's."""

import pytest
import torch
import weir
from twins import CPU, to_weir

CASES = {  # input, weight, keywords
    "3x3": ((4, 64, 14, 14), (70, 64, 3, 3), dict(padding=1)),
    "odd rows": ((9, 96, 7, 7), (64, 96, 3, 3), dict(padding=1)),
    "strided": ((3, 64, 21, 30), (64, 64, 3, 3), dict(stride=(2, 3), padding=1)),
    "spread": ((3, 32, 17, 16), (53, 32, 3, 5), dict(dilation=(2, 3), padding=(1, 4))),
    "1x1": ((3, 384, 28, 28), (400, 384, 1, 1), {}),
    "1x1 of odd pictures": ((17, 512, 7, 7), (330, 512, 1, 1), {}),
    "1x1, more channels out": ((3, 64, 29, 28), (256, 64, 1, 1), {}),
    "1x1, a few channels out": ((5, 320, 9, 9), (20, 320, 1, 1), {}),
    "1x1, strided": ((3, 512, 15, 28), (400, 512, 1, 1), dict(stride=2)),
    "1x1, padded": ((3, 512, 11, 12), (400, 512, 1, 1), dict(padding=2)),
    "a column": ((3, 64, 40, 40), (64, 64, 7, 1), dict(padding=(3, 0))),
    "large pictures": ((2, 64, 130, 97), (33, 64, 3, 3), dict(padding=(0, 1))),
    "large pictures, strided": ((1, 96, 130, 97), (64, 96, 5, 3), dict(stride=(3, 2), padding=2)),
    "few channels": ((2, 32, 30, 30), (17, 32, 3, 3), {}),
    "1x1 of many channels": ((5, 1024, 7, 7), (1040, 1024, 1, 1), {}),
}


def gradient(module, x, w, dy, keywords):
    w = w.requires_grad_()
    module.nn.functional.conv2d(x, w, **keywords).backward(dy)
    return w.grad


def sides(name):
    shape, weight, keywords = CASES[name]
    torch.manual_seed(0)
    x, w = torch.randn(shape).bfloat16(), torch.randn(weight).bfloat16()
    dy = torch.randn_like(torch.nn.functional.conv2d(x, w, **keywords))
    return (x, w, dy), keywords


def ours(given):
    return [to_weir(t).contiguous(memory_format=weir.channels_last) for t in given]


@pytest.mark.parametrize("name", CASES)
def test_equals_the_sum_in_float64(name):
    given, keywords = sides(name)
    exact = gradient(torch, *(t.double() for t in given), keywords)
    got = gradient(weir, *ours(given), keywords)
    x, w, dy = ours(given)
    rows = gradient(weir, x, w.contiguous(), dy, keywords)
    assert (got.float().numpy() == rows.float().numpy()).all() or weir.backends.cpu.get_cpu_capability() == "DEFAULT"
    assert got.dtype == weir.bfloat16 and got.shape == tuple(exact.shape)
    error = (torch.tensor(got.float().numpy()).double() - exact).abs()
    assert (error <= exact.abs() * 2**-8 + 2**-14 * given[2].numel() ** 0.5).all()


# oneDNN's, elsewhere, are neither the same for all numbers of threads nor finite beside an infinity.
by_pairs = pytest.mark.skipif("avx512_bf16" not in CPU or weir.backends.cpu.get_cpu_capability() != "AVX512",
                              reason="needs a CPU that multiplies bfloat16 in pairs, and kernels that are let use it")


@by_pairs
@pytest.mark.parametrize("name", ["3x3", "1x1", "1x1, more channels out", "1x1 of many channels"])
def test_is_the_same_for_any_number_of_threads(name):
    given, keywords = sides(name)
    threads, found = weir.get_num_threads(), []
    try:
        for n in (1, 2, 3):
            weir.set_num_threads(n)
            found.append(gradient(weir, *ours(given), keywords).float().numpy())
    finally:
        weir.set_num_threads(threads)
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


@by_pairs
@pytest.mark.parametrize("name", ["odd rows", "1x1, more channels out", "1x1, a few channels out", "1x1, strided"])
def test_an_infinite_number_reaches_no_window_that_does_not_cover_it(name):
    (x, w, dy), keywords = sides(name)
    x[0, 5, 3, 6] = float("inf")
    got = gradient(weir, *ours((x, w, dy)), keywords).float().numpy()
    exact = gradient(torch, x.double(), w.double(), dy.double(), keywords)
    assert (torch.isnan(torch.tensor(got)) == torch.isnan(exact)).all()
