"""Where the largest and the smallest numbers stand, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_close, to_weir


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape, dim", [((5, 3), 1), ((70, 37), 0), ((70, 37), 1), ((3, 130, 65), 1), ((3, 5000), 1), ((4, 6, 9, 33), 2), ((9,), 0)])
def test_places_of_extremes(dtype, shape, dim):
    torch.manual_seed(0)
    x = torch.randint(-9, 9, shape).to(dtype)  # ties: the first of them counts
    if dtype.is_floating_point:
        x.view(-1)[torch.randperm(x.numel())[:3]] = float("nan")
        x.view(-1)[-1] = -float("inf")
    for laid_out in (x, x.transpose(0, -1).contiguous().transpose(0, -1), torch.stack([x, x], -1)[..., 0]):
        ours = weir.empty_strided(laid_out.shape, laid_out.stride(), dtype=to_weir(x).dtype).copy_(to_weir(x))
        for name in ("max", "min"):
            found, expected = getattr(weir, name)(ours, dim), getattr(torch, name)(laid_out, dim)
            assert_close(found[0], expected[0])
            assert_close(found[1], expected[1])
        assert_close(weir.argmax(ours, dim), torch.argmax(laid_out, dim))
