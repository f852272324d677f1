"""Products under the names of PyTorch's kernels against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

G = torch.Generator().manual_seed(0)
X, W, B = torch.randn(2, 4, 7, 5, generator=G, requires_grad=True), torch.randn(6, 2, 3, 2, generator=G, requires_grad=True), torch.randn(6, generator=G, requires_grad=True)
M = torch.randn(3, 3, generator=G)
CALLS = {
    "two axes": lambda t, x, w, b: t.convolution(x, w, b, [2, 1], [1, 0], [1, 2], False, [0, 0], 2),
    "one axis": lambda t, x, w, b: t.convolution(x[..., 0], w[..., 0], None, [1], [1], [1], False, [0], 2),
    "three axes": lambda t, x, w, b: t.convolution(x[None].repeat(1, 2, 1, 1, 1), w[None, :4], None, [1], [0], [1], False, [0], 1),
    "transposed": lambda t, x, w, b: t.convolution(x, w[:4], b[:4], [2], [1], [1], True, [1], 2), "flags": lambda t, x, w, b: t._convolution(x, w, b, [1], [0], [1], False, [0], 2, False, False, True),
}


@pytest.mark.parametrize("name", CALLS)
def test_convolution(name):
    assert_same(CALLS[name], X, W, B, order=1, what=name, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("call", [
    lambda t, x, w: t.convolution(x[0], w, None, [1], [0], [1], False, [0], 2), lambda t, x, w: t.convolution(x, w, None, [1], [-1], [1], False, [0], 2),
    lambda t, x, w: t.convolution(x, w, None, 1, 0, 1, False, 0, 2), lambda t, x, w: t.convolution(x[0, 0], w[0, 0], None, [1], [0], [1], False, [0], 1),
    lambda t, x, w: t._int_mm(x[0, 0], x[0, 0].mT), lambda t, x, w: t._int_mm(x.char()[0], x.char()[0]), lambda t, x, w: t._int_mm(x.char()[0, 0], x.char()[0, 0]),
    lambda t, x, w: t._int_mm(x.char()[0, 0], x.byte()[0, 0].mT), lambda t, x, w: t._int_mm(x.char()[0, 0], x.char()[0, 0].mT, out=t.empty(0, dtype=t.int32)),
    lambda t, x, w: t._int_mm(x.char()[0, 0], x.char()[0, 0].mT, out=t.empty(7, 7, dtype=t.int32).mT)])
def test_refusals(call):
    errors = []
    for t, x, w in ((torch, torch.ones(2, 4, 7, 5), torch.ones(6, 2, 3, 2)), (weir, weir.ones(2, 4, 7, 5), weir.ones(6, 2, 3, 2))):
        with pytest.raises((TypeError, RuntimeError)) as raised:
            call(t, x, w)
        errors.append(raised.type)
    assert errors[0] is errors[1]


@pytest.mark.parametrize("use_gelu", [False, True])
def test_addmm_with_its_activation(use_gelu):
    assert_same(lambda t, m: t._addmm_activation(m[0], m, m, beta=2, alpha=0.5, use_gelu=use_gelu), M)
    assert_same(lambda t, m: t._addmm_activation(m[0], m, m, use_gelu=use_gelu, out=t.empty(0)), M)
    with torch.autocast("cpu"), weir.autocast("cpu"):
        assert_same(lambda t, m: t._addmm_activation(m[0], m, m, use_gelu=use_gelu), M, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("left", [torch.int8, torch.uint8])
def test_product_of_bytes(left):
    a = torch.randint(0, 255, (5, 70000), generator=torch.Generator().manual_seed(1), dtype=torch.uint8).to(left)
    b = torch.randint(-128, 127, (4, 70000), generator=torch.Generator().manual_seed(2), dtype=torch.int8)
    assert_same(lambda t, a, b: t._int_mm(a, b.t()), a, b)
    assert_same(lambda t, a, b: t._int_mm(a, b.t(), out=t.empty(5, 4, dtype=t.int32)), a, b)
    assert_same(lambda t, a, b: t._int_mm(a[:, :0], b.t()[:0]), a, b)
