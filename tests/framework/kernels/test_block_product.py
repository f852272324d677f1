"""framework/kernels/cpu/block_product.h: small products and products of integers, whose blocks overlap at the edges, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_close, to_weir


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32])
@pytest.mark.parametrize("n, m, p", [(8, 5, 16), (1, 7, 33), (3, 9, 16), (5, 1, 40), (9, 30, 31), (24, 24, 24), (70, 3, 50), (8, 0, 16)])
def test_blocks_cover_every_size(n, m, p, dtype):
    torch.manual_seed(0)
    a, b, c = ((torch.randn(shape) * 9).to(dtype) for shape in ((n, m), (m, p), (p,)))
    ours = to_weir((a, b, c))
    expected = (a.double() @ b.double()).to(dtype)
    assert_close(ours[0] @ ours[1], expected, rtol=1e-5, atol=1e-4)
    assert_close(weir.addmm(ours[2], ours[0], ours[1]), expected + c, rtol=1e-5, atol=1e-4)
    assert_close(to_weir(b.t()) @ ours[0].t() if n > 1 else ours[0] @ to_weir(b.t()).t(), expected.t() if n > 1 else expected, rtol=1e-5, atol=1e-4)
    many = to_weir(torch.stack([a, a + 1]))
    assert_close(many @ ours[1], torch.stack([a, a + 1]).double().matmul(b.double()).to(dtype), rtol=1e-5, atol=1e-4)


def test_integers_wrap_around():
    a = torch.full((8, 4), 2**62)
    assert (weir.full((8, 4), 2**62) @ weir.full((4, 16), 3)).tolist() == (a @ torch.full((4, 16), 3)).tolist()
