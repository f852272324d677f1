"""Powers averaged over windows against PyTorch: values, strides, gradients and refusals."""

import numpy as np
import pytest
import torch
import weir
from twins import assert_same

X = (torch.arange(24.0).reshape(2, 3, 4) + 0.5).requires_grad_()
CALLS = """local_response_norm(x, 3)|local_response_norm(x, 2, 0.5, 0.5, 2)|local_response_norm(x[0], 3)|local_response_norm(x[:0], 3)|local_response_norm(x, 0)
local_response_norm(x[..., None], 3)|local_response_norm(x[..., None].bfloat16(), 3)|local_response_norm(x[..., None, None], 5)|local_response_norm(x.long(), 3)
local_response_norm(x[..., None].expand(2, 3, 4, 5).contiguous(memory_format=t.channels_last), 4)|local_response_norm(x.transpose(0, 2), 3)
lp_pool1d(x, 2, 2)|lp_pool1d(x, 2.5, 2, 1)|lp_pool1d(x[0], 2, 3)|lp_pool1d(x[0, 0], 2, 3)|lp_pool1d(x, 2, 2, ceil_mode=True)|lp_pool1d(x, 2, (1, 2))|lp_pool1d(x, 2, 2, [])
lp_pool2d(x, 2, 2)|lp_pool2d(x, 2, (1, 2), 1, True)|lp_pool2d(x, 1.5, 2, stride=(2, 1))|lp_pool2d(x, 2, (1, 2, 3))|lp_pool2d(x[0, 0], 2, 2)|lp_pool2d(x.long(), 2, 2)
lp_pool2d(-x, 3, 2)|lp_pool2d(x[None].contiguous(memory_format=t.channels_last), 2, 2)|lp_pool3d(x[None], 2, 2)|lp_pool3d(x[None], 2, (2, 1, 2), 1)
lp_pool1d(x, t.inf, 2)|lp_pool2d(-x, t.inf, 2, 1, True)|lp_pool2d(x, -t.inf, (1, 2))|lp_pool3d(x[None], t.inf, 2)|lp_pool2d(x, t.tensor(2.0), 2)
lp_pool1d(x, t.tensor([2]), 2)|lp_pool2d(x, t.tensor([[2.5]]), 2)|lp_pool3d(x[None], t.tensor([3.0]), 2)|lp_pool1d(x, t.tensor([1, 2]), 2)|lp_pool2d(x, t.tensor(t.inf), 2)
lp_pool1d(x, 0, 2)|lp_pool2d(x, 0.0, 2)|lp_pool2d(x, 2, [2])|lp_pool3d(x[None], 2, (2,))|lp_pool2d(x[0, 0], 2, [2])
avg_pool3d(x[None], 2)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t, x: eval(f"t.nn.functional.{text}", {"t": t, "x": x}), X, what=text)


@pytest.mark.parametrize("text", ["lp_pool2d(x, 2, 2)", "lp_pool3d(x[None], 2, 2)", "avg_pool3d(x[None], 2)", "local_response_norm(x, 2)"])
def test_under_autocast(text):
    def call(t, x):
        with t.autocast("cpu", t.bfloat16):
            return eval(f"t.nn.functional.{text}", {"t": t, "x": x.bfloat16()})

    assert_same(call, X, order=1, rtol=1e-2, what=text)


@pytest.mark.parametrize("norm", [3, -1.5, 2.5])
@pytest.mark.parametrize("size", [1e-8, 3.0, 1e12])
def test_roots_of_large_powers_keep_their_digits(norm, size):
    # Against the truth: PyTorch's roots lose digits without AVX-512.
    pooled = weir.nn.functional.lp_pool2d(weir.full((1, 4, 4), size), norm, [1, 1])
    np.testing.assert_allclose(pooled.numpy(), np.full((1, 4, 4), size), 2.5e-7)
