"""framework/ops/grouped_product.h, framework/kernels/cpu/grouped_product.cpp: products group by group."""
import numpy as np
import pytest
import torch
import weir

#: name -> (shape of mat_a, shape of mat_b, ends of the groups)
KINDS = {"rows": ((8, 16), (3, 16, 32), [2, 2, 8]), "columns": ((3, 8, 16), (16, 32), [8, 24, 32]), "factors": ((8, 16), (16, 32), [8, 8, 16]),
         "batches": ((3, 8, 16), (3, 16, 32), None), "rows that no group has": ((8, 16), (3, 16, 32), [2, 4, 6]), "too far": ((8, 16), (3, 16, 32), [-6, 6, 99]),
         "backwards": ((8, 16), (3, 16, 32), [4, 2, 6]), "many": ((304, 64), (4, 64, 96), [70, 71, 200, 304])}


def operands(F, kind, dtype, transposed=()):
    a, b, ends = KINDS[kind]
    numbers = np.random.default_rng(0)
    tensors = []
    for i, shape in enumerate((a, b)):
        x = F.tensor(numbers.standard_normal(shape).astype(np.float32)).to(getattr(F, dtype))
        tensors.append((x.mT.contiguous().mT if i in transposed else x).requires_grad_())
    return *tensors, None if ends is None else F.tensor(ends, dtype=F.int32)


def told(x):
    return list(x.shape), x.stride(), x.detach().double().numpy()


def compare(ours, theirs, tolerance):
    for (shape, strides, values), (expected, lies, exact) in zip(map(told, ours), map(told, theirs), strict=True):
        assert shape == expected and strides == lies
        np.testing.assert_allclose(values, exact, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("bfloat16", 0.1), ("float16", 2e-2)])
@pytest.mark.parametrize("transposed", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("kind", list(KINDS))
def test_products_and_gradients(kind, transposed, dtype, tolerance):
    def run(F):
        a, b, offs = operands(F, kind, dtype, transposed)
        y = F.nn.functional.grouped_mm(a, b, offs=offs)
        covered = slice(6 if kind in ("rows that no group has", "backwards") else None)  # PyTorch leaves the rest unwritten
        da, db = F.autograd.grad(y, (a, b), F.ones_like(y))
        return y[covered], da[covered], db
    compare(run(weir), run(torch), tolerance * (4 if kind == "many" else 1))


def test_rows_of_no_group_are_zeros_and_have_no_gradient():
    a, b, offs = operands(weir, "rows that no group has", "float32")
    y = weir._grouped_mm(a, b, offs)
    y.sum().backward()
    assert not y[6:].any() and not a.grad[6:].any() and a.grad[:6].all()


def test_no_rows_at_all():
    for F in (weir, torch):
        y = F.nn.functional.grouped_mm(F.ones(0, 16), F.ones(3, 16, 32), offs=F.zeros(3, dtype=F.int32))
        assert y.shape == (0, 32)


def test_a_result_s_rows_begin_sixteen_bytes_apart():
    for F in (weir, torch):
        for dtype, width, step in ((F.bfloat16, 30, 32), (F.float32, 31, 32)):
            y = F.nn.functional.grouped_mm(F.ones(8, 16, dtype=dtype), F.ones(3, width, 16, dtype=dtype).mT, offs=F.tensor([2, 2, 8], dtype=F.int32))
            assert y.shape == (8, width) and y.stride() == (step, 1)


def test_gradients_of_gradients():
    a, b, offs = operands(weir, "rows", "float32")
    first, = weir.autograd.grad(weir._grouped_mm(a, b, offs).square().sum(), a, create_graph=True)
    second, = weir.autograd.grad(first.sum(), b)
    dense = [weir.autograd.grad((p @ q).square().sum(), p, create_graph=True)[0].sum() for p, q in ((a[:2], b[0]), (a[2:], b[2]))]
    expected, = weir.autograd.grad(sum(dense), b)
    np.testing.assert_allclose(second.numpy(), expected.numpy(), rtol=1e-3, atol=1e-3)


def test_other_operands_are_refused_as_pytorch_refuses_them():
    def refusals(F):
        f, x, w, offs = F.nn.functional.grouped_mm, F.ones(8, 16), F.ones(3, 16, 32), F.tensor([2, 2, 8], dtype=F.int32)
        for call in (lambda: f(x, w), lambda: f(x[0], w, offs=offs), lambda: f(x, w[None], offs=offs), lambda: f(x, F.ones(3, 12, 32), offs=offs),
                     lambda: f(x, w, offs=offs[None]), lambda: f(x, w, offs=offs.long()), lambda: f(w, w.mT, offs=offs), lambda: f(x, w, offs=offs[:2]),
                     lambda: f(F.ones(2, 8, 16), w), lambda: f(x, w, offs=offs, bias=F.ones(32)), lambda: f(F.ones(16, 32)[::2, ::2], w, offs=offs),
                     lambda: f(F.ones(8, 15), F.ones(3, 15, 32), offs=offs), lambda: f(x, w, offs=offs, out_dtype=F.float16)):
            with pytest.raises(RuntimeError) as error:
                call()
            yield str(error.value)
        for a, b in ((x.double(), w), (x, w.double()), (x.to(F.bfloat16), w)):
            with pytest.raises(RuntimeError, match="Expected mat_|same dtype"):
                f(a, b, offs=offs)
    assert list(refusals(weir)) == list(refusals(torch))
