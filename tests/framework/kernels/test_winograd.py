"""framework/kernels/cpu/winograd.h: convolutions of 3 x 3 places by minimal filtering, with AVX2 and AVX-512; elsewhere oneDNN's."""

import pytest
import torch
import weir
from twins import CPU, to_weir

# Input, weight, padding: more places than what either dtype leaves to oneDNN, but for those of a line.
CASES = {
    "even": ((17, 64, 12, 16), (64, 64, 3, 3), 1),
    "odd": ((22, 32, 13, 11), (48, 32, 3, 3), 1),
    "one image": ((1, 48, 75, 45), (80, 48, 3, 3), 0),
    "wide border": ((24, 128, 9, 10), (32, 128, 3, 3), 2),
    "two paddings": ((16, 32, 14, 15), (112, 32, 3, 3), (0, 2)),
    "many channels": ((66, 144, 7, 7), (160, 144, 3, 3), 1),
    "a line": ((1, 32, 1, 300), (32, 32, 3, 3), 1),
}
# Where the CPU has a matrix unit, oneDNN convolves bfloat16, which is neither the same for all numbers of threads nor leaves padding alone.
BFLOAT16 = pytest.param(torch.bfloat16, marks=pytest.mark.skipif("amx_bf16" in CPU, reason="a CPU that multiplies bfloat16 by tiles"))


def sides(name):
    shape, weight, padding = CASES[name]
    torch.manual_seed(0)
    x, w, b = torch.randn(shape), torch.randn(weight) / 20, torch.randn(weight[0])
    return [x, w, b, torch.randn_like(torch.conv2d(x, w, b, padding=padding))], padding


def results(module, given, padding, transposed=False):
    """A convolution, and the gradients of its input, weight and bias."""
    x, w, b, dy = given
    x, w, b = (t.detach().requires_grad_() for t in (x, w, b))
    y = (module.conv_transpose2d if transposed else module.conv2d)(x, w, b, padding=padding)
    y.backward(dy)
    return [y.detach(), x.grad, w.grad, b.grad]


def ours(given, format):
    return [to_weir(t).contiguous(memory_format=format) if t.ndim == 4 else to_weir(t) for t in given]


def check(got, exact, dtype):
    """Each number is the true one, rounded once; what the method itself loses is small beside the largest of them."""
    rounding = {weir.float32: 0, weir.bfloat16: 2.0 ** -8}[dtype]
    for g, want in zip(got, exact):
        assert g.dtype == dtype and g.shape == tuple(want.shape)
        assert ((torch.tensor(g.float().numpy()).double() - want).abs() <= 1.01 * rounding * want.abs() + 1e-5 * want.abs().max()).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("format", [weir.channels_last, weir.contiguous_format])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_sum_in_float64(name, format, dtype):
    given, padding = sides(name)
    given = [t.to(dtype) for t in given]
    got = results(weir, ours(given, format), padding)
    assert all(g.is_contiguous(memory_format=format if g.ndim == 4 else weir.contiguous_format) for g in got)
    check(got, results(torch, [t.double() for t in given], padding), getattr(weir, str(dtype).removeprefix("torch.")))


def test_transposed():
    w, b = sides("odd")[0][1], torch.randn(32)
    y = torch.conv_transpose2d(torch.randn(22, 48, 13, 11), w, b, padding=1)
    given = [torch.randn(22, 48, 13, 11), w, b, torch.randn_like(y)]
    exact = results(torch, [t.double() for t in given], 1, transposed=True)
    check(results(weir, ours(given, weir.channels_last), 1, transposed=True), exact, weir.float32)


# oneDNN's, elsewhere, may not be.
@pytest.mark.skipif(weir.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"), reason="needs AVX2, and kernels that are let use it")
@pytest.mark.parametrize("dtype", [torch.float32, BFLOAT16])
@pytest.mark.parametrize("name", ["even", "odd", "many channels"])
def test_is_the_same_for_any_number_of_threads(name, dtype):
    given, padding = sides(name)
    given = [t.to(dtype) for t in given]
    threads, found = weir.get_num_threads(), []
    try:
        for n in (1, 2, 3):
            weir.set_num_threads(n)
            found.append(results(weir, ours(given, weir.channels_last), padding))
    finally:
        weir.set_num_threads(threads)
    assert all(weir.equal(a, b) for other in found[1:] for a, b in zip(found[0], other))


@pytest.mark.parametrize("dtype", [torch.float32, BFLOAT16])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("operand", [0, 1, 3])
def test_what_is_not_finite_reaches_no_result_that_does_not_meet_it(operand, value, dtype):
    given, padding = sides("odd")
    given[operand][1, 2, 0, 1] = value
    given = [t.to(dtype) for t in given]
    # What is met is as PyTorch's float32 has it: its other dtypes multiply padding too. The numbers are near those of float64.
    theirs = (results(torch, [t.to(wide) for t in given], padding) for wide in (torch.float32, torch.float64))
    for got, want, true in zip(results(weir, ours(given, weir.channels_last), padding), *theirs):
        got = torch.tensor(got.float().numpy()).double()
        assert torch.equal(got.isfinite(), want.isfinite()) and torch.equal(got.isnan(), want.isnan())
        finite = want.isfinite() & true.isfinite()
        near = 1e-4 if dtype == torch.float32 else 2.0 ** -7
        assert torch.allclose(got[finite], true[finite], rtol=near, atol=max(near, 1e-5 * true[finite].abs().max()))


def test_what_overflows_in_a_tile_alone_is_summed_product_by_product():
    given, padding = sides("odd")
    given[0][1, 2, 0, 1], given[0][1, 2, 0, 3] = 3e38, -3e38
    given[1] /= 1e3
    got, want = weir.conv2d(*ours(given[:3], weir.channels_last), padding=padding), torch.conv2d(*given[:3], padding=padding)
    assert want.isfinite().all() and torch.allclose(torch.tensor(got.numpy()), want, rtol=1e-4, atol=1e-4)


def test_the_backend_says_whether_it_is_there():
    assert weir.backends.nnpack.is_available() == (weir.backends.cpu.get_cpu_capability() != "DEFAULT")


def test_switched_off_every_result_rounds_for_itself():
    given, padding = sides("odd")
    given[0][1, :, 3, 3] = 1e12  # of a tile
    far = torch.conv2d(*given[:3], padding=padding)[1, :, 5]
    with weir.backends.nnpack.flags(False):
        got = weir.conv2d(*ours(given[:3], weir.channels_last), padding=padding)
        assert torch.allclose(torch.tensor(got.numpy())[1, :, 5], far, rtol=1e-4, atol=1e-4)
    assert weir._C._minimal_filtering()
