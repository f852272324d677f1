"""Calls that generated cases found different from PyTorch for their dtypes, for what they refuse, or for numbers that are not finite."""

import pytest
import torch
from twins import assert_same

INF, NAN = float("inf"), float("nan")
V, M = torch.tensor([0.5, -1.0, 2.0]), torch.arange(12.0).reshape(3, 4)


def normed(x, weight, stats, training=True):
    """A call of native_batch_norm on these dtypes; None leaves an argument out."""
    def call(t, v, m):
        x_, w, s = (n and getattr(t, n) for n in (x, weight, stats))
        given = [None if n is None else t.ones(4, dtype=n) for n in (w, w, s, s)]
        return t.native_batch_norm(m.to(x_), *given, training, 0.1, 1e-5)
    return call


NORMS = {f"{x}, {weight}, {stats}, {training}": normed(x, weight, stats, training) for x in ("bfloat16", "float32")
         for weight in (None, "bfloat16", "float32") for stats in (None, "bfloat16", "float32") for training in (True, False) if stats or training}
CALLS = {
    "statistics that require grad": lambda t, v, m: t.native_batch_norm(m, None, None, m[0].clone().requires_grad_(), None, True, 0.1, 1e-5),
    # bools
    "squared": lambda t, v, m: t.square(m > 3), "squared in place": lambda t, v, m: (m > 3).square_(),
    "squared into": lambda t, v, m: t.square(m > 3, out=t.empty(3, 4, dtype=t.int64)),
    **{f"outer product by {a} and {b}": lambda t, v, m, a=a, b=b: t.addr(m > 3, v > 0, m[0] > 1, beta=a, alpha=b) for a in (0, 1, 2) for b in (0, 1, 3)},
    # biases
    **{f"bias of {dtype}, padding {padding} of {kernel}": lambda t, v, m, dtype=dtype, padding=padding, kernel=kernel: t.nn.functional.conv2d(
        m.reshape(1, 1, 3, 4), t.ones(1, 1, *kernel), t.ones(1, dtype=getattr(t, dtype)), padding=padding)
       for dtype in ("float64", "bfloat16", "uint8") for padding in ("same", "valid", 0) for kernel in ((3, 3), (2, 3))},
    # refusals
    **{f"written twice at {key}": lambda t, v, m, key=key: v[:1].expand(3).__setitem__(key, 1.0) for key in ((), ..., slice(None))},
    "written twice by a tensor": lambda t, v, m: v[:1].expand(2, 3).__setitem__(0, v[0]),
    "written once": lambda t, v, m: (m[:, :1].expand(3, 2)[:, :1].__setitem__(..., 5.0), m)[1],
    "kron of a transposed matrix": lambda t, v, m: t.kron(m.t(), t.ones(2, 2)), "kron": lambda t, v, m: t.kron(m[:, :2], m),
    # values
    **{f"zeta of {s}": lambda t, v, m, s=s: t.special.zeta(t.full((6,), s), t.tensor([0.0, -1.0, -1.5, 2.0, NAN, 1.0])) for s in (INF, NAN, 1.0, 0.5, 2.0)},
    "windows of nothing": lambda t, v, m: t.nn.functional.fractional_max_pool2d(m.reshape(1, 1, 3, 4), 0, 2, _random_samples=v[:1].expand(1, 1, 2)),
    "no windows": lambda t, v, m: t.nn.functional.fractional_max_pool2d(m.reshape(1, 1, 3, 4), 2, 0, _random_samples=v[:1].expand(1, 1, 2)),
    "einsum of bytes": lambda t, v, m: t.einsum("ik, j -> ij", m.byte(), m[0].byte()), "response of whole numbers": lambda t, v, m: (
        t.nn.functional.local_response_norm(m.long().reshape(1, 4, 3), 2, alpha=0.1)),
    # gradients
    "renormed beside NaN": lambda t, v, m: t.renorm(v.requires_grad_() + t.tensor([[0.0], [NAN]]), 1, 0, 1.0).nan_to_num(),
    **{f"{name} of {dtype}": lambda t, v, m, name=name, dtype=dtype: getattr(t.nn.functional, name)(
        (v.requires_grad_() * 0 + t.tensor([0.1, -0.1, INF])).to(getattr(t, dtype)), 0.1) for name in ("softshrink", "hardshrink")
       for dtype in ("float32", "bfloat16", "float16") if (name, dtype) != ("hardshrink", "bfloat16")},
    "distance of equal halves": lambda t, v, m: t.nn.functional.pairwise_distance(v.requires_grad_().half()[None], v.detach().half()[None]) + 1,
}


@pytest.mark.parametrize("name", NORMS)
def test_batch_norm_as_pytorch(name):
    assert_same(NORMS[name], V, M, order=0, rtol=1e-2, what=name)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(name):
    assert_same(CALLS[name], V, M, rtol=1e-6, order=1, what=name)
