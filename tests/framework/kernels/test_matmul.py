"""Products with a vector in every layout of the matrix, against PyTorch in float64; products where a size is nothing."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
import weir
from twins import assert_close, to_weir


def check(ours, theirs):
    assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n, m", [(300, 257), (130, 1100), (1100, 130), (20000, 1), (3, 9001)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_matrix_times_vector(n, m, layout, dtype):
    torch.manual_seed(0)
    a, x, y = torch.randn(n, m, dtype=dtype), torch.randn(m, dtype=dtype), torch.randn(n, dtype=dtype)
    ours = to_weir(a)
    if layout == "columns":
        ours = to_weir(a.t()).t()
    elif layout == "strided":
        ours = to_weir(torch.stack([a, a], 2).flatten(1))[:, ::2]
    wide = a.double()
    check(ours @ to_weir(x), wide @ x.double())
    check(to_weir(y) @ ours, y.double() @ wide)
    check(to_weir(y)[None] @ ours, y.double()[None] @ wide)
    check(ours @ to_weir(torch.stack([x, x], 1))[:, 1:], wide @ x.double()[:, None])


@pytest.mark.parametrize("n, m, p", [(24, 25, 32), (6, 64, 40), (8, 80, 33), (64, 64, 64), (65, 63, 66), (71, 40, 70), (90, 30, 100), (9, 200, 32)])
def test_products_within_the_first_cache(n, m, p):
    torch.manual_seed(n)
    a, w, b = torch.randn(3, n, m), torch.randn(3, m, p), torch.randn(p)
    expected = a.double() @ w.double()
    for x in (to_weir(a), to_weir(a.mT.contiguous()).mT):
        for y in (to_weir(w), to_weir(w.mT.contiguous()).mT):
            check(x @ y, expected)
            check(x[1] @ y[2], a[1].double() @ w[2].double())
            check(weir.nn.functional.linear(x[1], y[2].T, to_weir(b)), a[1].double() @ w[2].double() + b.double())


@pytest.mark.parametrize("rows, outputs", [(1, 300), (400, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_linear_with_a_vector(rows, outputs, dtype):
    x, w, b = torch.randn(rows, 200, dtype=dtype), torch.randn(outputs, 200, dtype=dtype), torch.randn(outputs, dtype=dtype)
    check(weir.nn.functional.linear(to_weir(x), to_weir(w), to_weir(b)), x.double() @ w.double().t() + b.double())


@pytest.mark.parametrize("bias", ["whole", "double", "row", "number"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3), (2, 3, 4), (2, 0, 3), (2, 2, 4, 3)])
def test_linear_adds_a_bias_of_another_dtype_where_that_is_a_step_of_its_own(shape, bias):
    torch.manual_seed(0)
    x, w = torch.randn(shape), torch.randn(5, 3)
    b = {"whole": torch.arange(5), "double": torch.randn(5, dtype=torch.float64), "row": torch.ones(1, 5, dtype=torch.int64), "number": torch.tensor(2)}[bias]

    def result(t, x, w, b):
        x = x.transpose(-1, -2) if shape[-1] != 3 else x
        w.requires_grad_()
        try:
            y = t.nn.functional.linear(x, w, b)
        except RuntimeError:
            return "refused"
        return y, *t.autograd.grad(y.sum(), [w])
    ours, theirs = result(weir, *to_weir((x, w, b))), result(torch, x, w, b)
    assert ours == theirs if "refused" in (ours, theirs) else not assert_close(ours, theirs)


@pytest.mark.parametrize("shape", [(3, 0), (0,), (2, 3, 0), (0, 0)])
def test_linear_of_no_features_has_gradients(shape):
    def gradients(t):
        x, w = t.ones(*shape, requires_grad=True), t.ones(3, 0, requires_grad=True)
        y = t.nn.functional.linear(x, w)
        return [tuple(g.shape) for g in t.autograd.grad(y, [x, w], t.ones_like(y))]
    assert gradients(weir) == gradients(torch)


def test_bfloat16_on_a_cpu_that_has_no_kernels_of_it():
    program = """
import random
import weir as torch
torch.manual_seed(0)
x, w, image, kernel = (torch.randn(s) for s in ((64, 96), (96, 48), (2, 8, 16, 16), (8, 8, 3, 3)))
for f, a, b in ((torch.matmul, x, w), (torch.nn.functional.conv2d, image, kernel)):
    a, b = a.bfloat16().requires_grad_(), b.bfloat16().requires_grad_()
    y = f(a, b)
    y.sum().backward()
    assert y.dtype == a.grad.dtype == torch.bfloat16
    assert torch.allclose(y.float(), f(a.float(), b.float()), rtol=1e-2, atol=0.1)
"""
    result = subprocess.run([sys.executable, "-c", program], env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("expanded", ["first", "second", "both"])
def test_one_matrix_for_a_whole_batch(dtype, expanded):
    a = torch.randn(64, 192) if expanded != "second" else torch.randn(3, 64, 192)
    b = torch.randn(192, 36) if expanded != "first" else torch.randn(3, 192, 36)
    ours, theirs = ([t.expand(3, *t.shape[-2:]) for t in pair] for pair in ((to_weir(a.to(dtype)), to_weir(b.to(dtype))), (a, b)))
    assert_close(weir.bmm(*ours).float(), torch.bmm(*theirs), rtol=2e-2 if dtype == torch.bfloat16 else 1e-4, atol=0.5 if dtype == torch.bfloat16 else 1e-4)


def test_no_everyday_product_or_convolution_runs_the_reference_of_a_library():
    """oneDNN takes nearly any strides, and multiplies those that it has no kernel for one number at a time: a thousand times as slow."""
    program = """
import random
import weir as torch
F = torch.nn.functional
for dtype in (torch.float32, torch.bfloat16):
    def run(f, *shapes):
        inputs = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
        f(*inputs).float().sum().backward()
    run(lambda a, b: a.expand(2, 64, 192) @ b, (64, 192), (2, 192, 36))
    run(lambda a, b: a @ b.expand(4, 100, 80), (4, 60, 100), (100, 80))
    run(lambda a, b: a.expand(3, 64, 70) @ b.expand(3, 70, 90), (64, 70), (70, 90))
    run(lambda a, b: torch.einsum("oi,bis->bos", a, b), (64, 192), (2, 192, 36))
    run(lambda a, b: a.transpose(1, 2) @ b.transpose(1, 2).transpose(-1, -2), (2, 50, 4, 40), (2, 60, 4, 40))
    run(lambda a, b: a[:, ::2] @ b[::2], (64, 192), (192, 80))
    for layout in (torch.contiguous_format, torch.channels_last):
        for i, o, side, kernel, stride, pad, groups in ((192, 64, 6, 1, 1, 0, 1), (32, 192, 12, 1, 1, 0, 1), (16, 96, 28, 1, 2, 0, 1), (64, 64, 14, 3, 2, 1, 1), (96, 96, 20, 3, 2, 1, 96),
                                                        (64, 128, 14, 3, 1, 1, 4), (3, 64, 32, 4, 4, 0, 1), (240, 240, 12, 5, 2, 2, 240)):
            run(lambda x, w: F.conv2d(x.contiguous(memory_format=layout), w, None, stride, pad, 1, groups), (2, i, side, side), (o, i // groups, kernel, kernel))
            run(lambda x, w: F.conv_transpose2d(x.contiguous(memory_format=layout), w, None, stride, pad, 0, groups), (2, i, side, side), (i, o // groups, kernel, kernel))
        for of_weights in (torch.contiguous_format, torch.channels_last):  # windows as large as the image, and of one row of it
            for i, side, kernel in ((32, 8, 8), (64, 4, 4), (160, 2, 2)):
                run(lambda x, w: F.conv2d(x.contiguous(memory_format=layout), w.contiguous(memory_format=of_weights), None, kernel), (2, i, side, side), (i, i, kernel, kernel))
            run(lambda x, w: F.conv2d(x.contiguous(memory_format=layout), w.contiguous(memory_format=of_weights), None, 3, 1), (2, 64, 1, 1), (64, 64, 3, 3))
    run(lambda x, w: F.conv1d(x, w), (2, 80, 100), (256, 80, 1))
    run(lambda x, w: F.conv1d(x, w, None, 5), (2, 1, 1000), (64, 1, 10))
    run(lambda x, w: F.conv1d(x.transpose(1, 2), w, None, 1, 64, 1, 16), (2, 49, 128), (128, 8, 128))  # where a speech model's words stand
    run(lambda x, w: F.conv1d(x.transpose(1, 2), w, None, 1, 15, 1, 32), (2, 60, 32), (32, 1, 31))
draw = random.Random(0).choice
for _ in range(60):  # of any kind
    axes, groups = draw((1, 2, 3)), draw((1, 1, 2, 8))
    kernel, stride = [draw((1, 2, 3, 5, 8)) for _ in range(axes)], draw((1, 2, 3))
    sides = [k + draw((0, 5, 12)) for k in kernel]
    def laid(t):
        return draw((t, t.transpose(0, 1).contiguous().transpose(0, 1), t.movedim(1, -1).contiguous().movedim(-1, 1)))
    f = getattr(F, draw(("conv%dd", "conv_transpose%dd")) % axes)
    x, w = (laid(torch.randn(*s)).requires_grad_() for s in ((2, 16 * groups, *sides), (16 * groups, 16, *kernel)))
    f(x, w, None, stride, groups=groups).sum().backward()
"""
    result = subprocess.run([sys.executable, "-c", program], env={**os.environ, "ONEDNN_VERBOSE": "1"}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    runs = [line.split(",") for line in result.stdout.splitlines() if line.startswith("onednn_verbose,exec")]
    assert runs and not [run for run in runs if run[3] in ("matmul", "convolution", "deconvolution") and "ref" in run[4]]


@pytest.mark.parametrize("n, p", [(300, 200), (20000, 1), (1, 20000), (20000, 3), (3, 20000)])
def test_column_times_row(n, p):
    torch.manual_seed(0)
    a, w = torch.randn(n, 3)[:, :1], torch.randn(2, p)[:1]
    for left, right in ((a, w), (a.contiguous(), torch.randn(p, 2).t()[:1])):
        check(to_weir(left) @ to_weir(right), left.double() @ right.double())
    out = weir.empty(p, n).t()
    weir.mm(to_weir(a), to_weir(w), out=out)
    check(out, a.double() @ w.double())


@pytest.mark.parametrize("n, m", [(2, 2), (4, 16), (3, 5), (4, 1)])
def test_few_rows_of_few_factors(n, m):
    torch.manual_seed(0)
    a, w, b = torch.randn(m, n).t(), torch.randn(m, 9001), torch.randn(9001)
    check(to_weir(a) @ to_weir(w), a.double() @ w.double())
    check(weir.addmm(to_weir(b), to_weir(a), to_weir(w)), torch.addmm(b, a, w).double())
    check(weir.nn.functional.linear(to_weir(a), to_weir(w.t()), to_weir(b)), torch.nn.functional.linear(a, w.t(), b).double())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "expanded", "permuted batch"])
def test_products_of_halves_in_any_layout(dtype, layout):
    """On a CPU without kernels of them they are cast first, in the layout that they have."""
    torch.manual_seed(0)
    views = {"rows": lambda x: x, "columns": lambda x: x.mT.contiguous().mT, "strided": lambda x: type(x).repeat_interleave(x, 2, -1)[..., ::2],
             "expanded": lambda x: x[:1].expand(x.shape), "permuted batch": lambda x: x.permute(1, 2, 0).contiguous().permute(2, 0, 1)}
    given = [torch.randn(shape).to(getattr(torch, dtype)) for shape in ((3, 40, 50), (3, 50, 60))]
    (a, b), (ours_a, ours_b) = ([views[layout](move(x)) for x in given] for move in (lambda x: x, to_weir))
    assert ours_a.stride() == a.stride() and weir.equal(ours_a, to_weir(a))
    wide = a.double() @ b.double()
    for product in (ours_a @ ours_b, weir.stack([weir.mm(x, y) for x, y in zip(ours_a, ours_b)])):
        assert_close(product.double(), wide, rtol=1e-2, atol=0.1)
    assert_close(weir.nn.functional.linear(ours_a[0], ours_b[0].t()).double(), wide[0], rtol=1e-2, atol=0.1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64], ids=str)
def test_vector_times_vector(dtype):
    a, b = (torch.randn(1031, generator=torch.manual_seed(s)).mul(5).to(dtype) for s in (0, 1))
    for x, y in ((a, b), (a[::3], b[1::3][:344]), (a[:0], b[:0])):
        assert_close(weir.matmul(to_weir(x), to_weir(y)), torch.matmul(x, y), 2e-2 if dtype == torch.bfloat16 else 1e-4, 1e-3)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        weir.matmul(to_weir(a), to_weir(b[:5]))


def test_vector_times_vector_is_a_product_to_autocast():
    with weir.autocast("cpu", dtype=weir.bfloat16), torch.autocast("cpu", dtype=torch.bfloat16):
        assert str(weir.matmul(weir.ones(3), weir.ones(3)).dtype) == str(torch.matmul(torch.ones(3), torch.ones(3)).dtype)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("n, m, p", [(3, 4, 5), (20, 30, 25), (70, 90, 65), (9, 200, 1), (1, 200, 9)])
def test_whole_numbers_in_every_layout(n, m, p, dtype):
    draw = torch.manual_seed(0)
    a, b = (torch.randint(-(2**31), 2**31, sizes, generator=draw).to(dtype) for sizes in ((2, n, m), (2, m, p)))
    for x in (a, a.mT.contiguous().mT, a.repeat_interleave(2, -1)[..., ::2]):
        for y in (b, b.mT.contiguous().mT, b[:1]):
            ours = weir.matmul(laid(x), laid(y))
            np.testing.assert_array_equal(ours.numpy(), torch.matmul(x, y).numpy())


def laid(t):
    """A torch tensor's numbers in weir, in the strides it has."""
    memory = torch.empty(t.untyped_storage().nbytes() // t.element_size(), dtype=t.dtype)
    memory.set_(t.untyped_storage(), 0, memory.shape, memory.stride())
    return to_weir(memory).as_strided(t.shape, t.stride(), t.storage_offset())


@pytest.mark.parametrize("beta, alpha", [(1, 1), (0, 1), (1, 0), (2, -3), (0, 0), (True, 4), (2, False)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_factors_of_a_sum_with_a_product(dtype, beta, alpha):
    draw = torch.Generator().manual_seed(0)
    given, a, b = ((torch.randn(s, generator=draw) * 4).to(dtype) for s in ((3, 5), (3, 2), (2, 5)))
    for call in (lambda t, x, a, b: t.addmm(x, a, b, beta=beta, alpha=alpha), lambda t, x, a, b: t.baddbmm(x[None], a[None], b[None], beta=beta, alpha=alpha)):
        assert_close(call(weir, *map(to_weir, (given, a, b))), call(torch, given, a, b))
    assert_close(to_weir(given), given)
