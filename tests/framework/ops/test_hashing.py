"""Hashes of tensors against PyTorch's."""

import pytest
import torch
from twins import assert_same

X = torch.tensor([[1.5, -0.0, 3.0], [float("nan"), float("inf"), -7.25]])
CALLS = """hash_tensor(x)|hash_tensor(x, 0)|hash_tensor(x, -1, keepdim=True)|hash_tensor(x, (0, 1))|hash_tensor(x, ())|hash_tensor(x, mode=0)|x.hash_tensor(1)
hash_tensor(x[0, 0])|hash_tensor(x.t(), 1)|hash_tensor(x[:, ::2], 1)|hash_tensor(x[:, :0], 0)|hash_tensor(x, out=t.empty(0, dtype=t.uint64))
hash_tensor(x.requires_grad_())|hash_tensor(x, 2)|hash_tensor(x, mode=1)|hash_tensor(x[:0])|hash_tensor(x[:0], 0)|hash_tensor(x[:0], 0, mode=1)|hash_tensor(x, out=t.empty(0, dtype=t.int64))
hash_tensor(x, mode=1 << 32)|hash_tensor(x, mode=-1 << 63)|hash_tensor(x, mode=256)|hash_tensor(x, mode=1 << 31)
hash_tensor(x.to(t.complex64))|hash_tensor(x.to(t.uint16))|hash_tensor(3)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t, x: eval(text if text.startswith("x.") else f"t.{text}", {"t": t, "x": x}), X, what=text)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64])
def test_dtypes(dtype):
    assert_same(lambda t, x: [t.hash_tensor(x), t.hash_tensor(x, 0)], torch.arange(-5, 7).reshape(3, 4).to(dtype))


def test_layouts():
    x = torch.randn(3, 40, 5, generator=torch.manual_seed(0))
    for view in (lambda v: v.mT, lambda v: v.permute(2, 0, 1), lambda v: v[:, ::2], lambda v: v[:1].expand(4, 40, 5)):
        assert_same(lambda t, x: [t.hash_tensor(view(x)), t.hash_tensor(view(x), 1), t.hash_tensor(view(x), (0, 2))], x)
