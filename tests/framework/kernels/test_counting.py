"""Ops whose result's shape depends on values, against PyTorch: values, order, dtypes, strides, errors."""

import numpy as np
import pytest
import torch
import weir

DTYPES = ["float32", "int64", "bool", "uint8"]
SHAPES = [(0,), (7,), (3, 4), (4, 3, 2), ()]


def outcome(framework, call, array):
    try:
        r = call(framework, framework.from_numpy(array.copy()))
    except Exception as error:
        return type(error).__name__
    results = r if isinstance(r, (tuple, list)) else (r,)
    return [(str(x.dtype), list(x.shape), x.stride(), np.asarray(x.numpy()).tolist()) for x in results]


CALLS = {"nonzero": lambda t, x: t.nonzero(x), "bincount": lambda t, x: t.bincount(x, minlength=5), "weighted": lambda t, x: t.bincount(x, weights=x),
         "repeats": lambda t, x: t.repeat_interleave(x), "repeat by one": lambda t, x: x.repeat_interleave(t.tensor(2)),
         "vander": lambda t, x: t.vander(x, N=4), "masked": lambda t, x: t.masked_select(x, x > 0), "index": lambda t, x: x[x > 0]}
for inverse in (False, True):
    for counts in (False, True):
        for dim in (None, 0, 1):
            options = dict(return_inverse=inverse, return_counts=counts, dim=dim)
            CALLS[f"unique {options}"] = lambda t, x, o=options: t.unique(x, **o)
            CALLS[f"unique_consecutive {options}"] = lambda t, x, o=options: t.unique_consecutive(x, **o)
for dim in (None, 0, -1, 3):
    for repeats in (0, 2, -1):
        CALLS[f"repeat {repeats} along {dim}"] = lambda t, x, r=repeats, d=dim: t.repeat_interleave(x, r, dim=d)
    CALLS[f"repeat by tensor along {dim}"] = lambda t, x, d=dim: t.repeat_interleave(x, t.tensor([1, 0, 2]), dim=d)


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        for shape in SHAPES:
            array = (rng.random(shape) * 3).astype(dtype)
            assert outcome(weir, CALLS[name], array) == outcome(torch, CALLS[name], array), (dtype, shape)


def test_nan_is_like_nothing_and_last():
    x = weir.tensor([float("nan"), 1.0, float("nan"), -1.0])
    values, counts = weir.unique(x, return_counts=True)
    assert values[:2].tolist() == [-1, 1] and values.isnan().tolist() == [False, False, True, True] and counts.tolist() == [1, 1, 1, 1]


def test_the_schema_says_that_shapes_depend_on_values():
    dynamic = {op["name"] for op in weir.schema() if op["dynamic_shape"]}
    assert {"nonzero_rows", "unique_rows", "repeat_interleave.Tensor", "bincount"} <= dynamic
    with pytest.raises(NotImplementedError, match="meta device"):
        weir.bincount(weir.ones(3, dtype=weir.int64, device="meta"))


@pytest.mark.parametrize("n, most", [(0, 1), (7, 3), (40, 10), (65536, 10), (65537, 5000), (100003, 4095)])
def test_counts_of_many_numbers(n, most):
    x = torch.randint(0, most, (n,), generator=torch.manual_seed(0))
    assert weir.bincount(weir.tensor(x.tolist(), dtype=weir.int64)).tolist() == torch.bincount(x).tolist()
    with pytest.raises(RuntimeError, match="non-negative"):
        weir.bincount(weir.tensor([*x.tolist(), -2]))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64", "bool"])
@pytest.mark.parametrize("shape", [(9,), (5, 1), (4, 7, 33), (2, 3, 4, 5)])
def test_coordinates_of_what_is_not_zero(dtype, shape):
    x = torch.randn(shape, generator=torch.manual_seed(0)).to(getattr(torch, dtype))
    for part in (0.0, 0.5, 0.95, 1.0):
        y = x * (torch.rand(shape, generator=torch.manual_seed(1)) >= part)
        ours = weir.tensor((y.cfloat() if y.is_complex() else y.float()).tolist()).to(getattr(weir, dtype))
        for a, b in ((ours, y), (ours.transpose(0, -1), y.transpose(0, -1)), (ours != 0, y != 0)):
            assert a.nonzero().tolist() == b.nonzero().tolist() and a.nonzero().stride() == b.nonzero().stride()
    assert weir.tensor([float("nan"), -0.0, 0.0]).to(getattr(weir, dtype)).nonzero().tolist() == [[0]]


@pytest.mark.parametrize("n", [1, 2, 40_000, 100_000])
@pytest.mark.parametrize("runs", [1, 5, 30_000])
def test_runs_over_the_parts_of_a_long_line(n, runs):
    x = torch.randint(0, 3, (min(n, runs),), generator=torch.manual_seed(0)).repeat_interleave(max(1, n // runs))
    x[-1:] = 7
    ours = weir.tensor(x.tolist())
    for inverse in (False, True):
        for counts in (False, True):
            a, b = (t.unique_consecutive(y, return_inverse=inverse, return_counts=counts) for t, y in ((weir, ours), (torch, x)))
            assert [r.tolist() for r in (a if inverse or counts else [a])] == [r.tolist() for r in (b if inverse or counts else [b])]
