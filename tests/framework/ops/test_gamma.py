"""The incomplete gamma functions against PyTorch."""

import numpy as np
import pytest
import torch
import weir
from twins import assert_same

INF = float("inf")


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_as_pytorch(name):
    a = torch.rand(200, generator=torch.manual_seed(0), dtype=torch.float64) * 20 + 0.01
    x = torch.rand(200, generator=torch.manual_seed(1), dtype=torch.float64) * 30
    big = torch.tensor([500.0, 500, 500, 1e-3, 3]), torch.tensor([450.0, 500, 560, 1e-4, 200])
    edges = torch.tensor([0.0, 0, 1, -1, INF, INF, 1, 2, 1]), torch.tensor([0.0, 1, 0, 1, 1, INF, INF, -1, float("nan")])
    call = lambda t, a, x: getattr(t, name)(a, x)  # noqa: E731
    assert_same(call, a, x.requires_grad_(), order=2, rtol=1e-8)
    for pair in (big, edges, (a.float(), x.detach().float()), (a.half(), x.detach().half()), (a.long(), x.detach().long())):
        assert_same(call, *pair, rtol=1e-3 if pair[0].dtype == torch.float16 else 1e-4)
    assert_same(lambda t, a, x: getattr(t.special, {"igamma": "gammainc", "igammac": "gammaincc"}[name])(a, x), a, x.detach())
    assert_same(lambda t, a, x: getattr(a, name + "_")(x), a, x.detach())


def test_the_upper_function_keeps_its_digits_where_the_lower_one_is_nearly_all(a=(1e-12, 2.5e-8, 1e-5, 1e-3, 0.05, 0.3, 0.8)):
    special = pytest.importorskip("scipy.special")
    x = np.array([1e-3, 0.1, 0.4, 0.6, 0.9, 1.0, 1.09, 1.2])
    expected = special.gammaincc(np.array(a)[:, None], x)
    given = weir.igammac(weir.tensor(a, dtype=weir.float64)[:, None], weir.tensor(x))
    np.testing.assert_allclose(given.numpy(), expected, rtol=2e-14)
