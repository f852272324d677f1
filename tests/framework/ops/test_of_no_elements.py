"""Kernels that PyTorch has in a few dtypes only: where it does not come to them, for want of elements or axes, every dtype passes."""

import pytest
import torch
import weir


def of(t, dtype, *sizes):
    return t.ones(*sizes, dtype=getattr(t, dtype))


def put(x, index):
    x[index] = -1
    return x


COMPLEX, HALF = "complex64", "bfloat16"
CALLS = {
    "addr of whole numbers": lambda t: t.addr(of(t, "int64", 0), of(t, "int64", 0), of(t, "int64", 3), beta=2, alpha=3),
    "addmm of whole numbers": lambda t: t.addmm(of(t, "int64", 0, 2), of(t, "int64", 0, 3), of(t, "int64", 3, 2), beta=2),
    **{op: lambda t, op=op: getattr(t, op)(of(t, COMPLEX, 0, 3), 1) for op in ("amax", "amin", "cummax", "mode", "softmax", "log_softmax", "hash_tensor")},
    **{f"{op} of a number": lambda t, op=op, at=at: getattr(t, op)(t.tensor(2 + 3j), *at) for op, at in (("cummin", [0]), ("mode", []), ("kthvalue", [1]))},
    "kthvalue of a truth": lambda t: t.kthvalue(t.tensor(True), 1), "kthvalue of lines": lambda t: t.kthvalue(of(t, COMPLEX, 0, 3), 1),
    **{f"{op} {dtype}": lambda t, op=op, dtype=dtype: getattr(t, op)(of(t, dtype, 0)) for op in ("median", "nanmedian") for dtype in (COMPLEX, "bool")},
    "median of lines": lambda t: t.median(of(t, COMPLEX, 0, 3), 1),
    **{f"cdist of {x} and {y} p={p}": lambda t, x=x, y=y, p=p: t.cdist(of(t, HALF, *x), of(t, HALF, *y), p)
       for x, y in (((0, 3), (2, 3)), ((2, 0), (3, 0)), ((1, 3), (2, 3))) for p in (0.0, 1.0, 2.0)},
    **{f"pdist of {n}": lambda t, n=n: t.pdist(of(t, HALF, *n)) for n in ((1, 3), (2, 0), (2, 3))},
    "histogram": lambda t: t.histogram(of(t, HALF, 0), 2), "histogram of a range": lambda t: t.histogram(of(t, "float16", 0), 3, range=(-1.0, 2.0)),
    "histogram by edges": lambda t: t.histogram(of(t, HALF, 0), t.arange(3).bfloat16(), density=True), "histogram of one": lambda t: t.histogram(of(t, HALF, 1), 2),
    "histogram of one by edges": lambda t: t.histogram(t.arange(4).bfloat16(), t.arange(3).bfloat16(), weight=t.arange(4).bfloat16()),
    "histogram of one in a range": lambda t: t.histogram(t.arange(4).half(), 2, range=(0.0, 3.0)),
    **{f"{draw} {at} {n}": lambda t, draw=draw, at=at, n=n: getattr(of(t, COMPLEX, n), draw)(*at) for draw, at in (("random_", (3,)), ("random_", (1, 3))) for n in (0, 1)},
    **{f"{op} into {dtype}": lambda t, op=op, dtype=dtype: getattr(t, op)(t.ones(2, 0), 0, dtype=getattr(t, dtype))
       for op in ("softmax", "log_softmax") for dtype in ("int64", "bool")},
    **{f"{op} of {n} into truths": lambda t, op=op, n=n: getattr(t, op)(t.full(n, 2, dtype=t.int32), 0, dtype=t.bool)
       for op in ("cumsum", "cumprod") for n in ((), (0,), (3, 0), (1,), (3,))},
    **{f"{op} of {n} into an out= of truths": lambda t, op=op, n=n: getattr(t, op)(t.full(n, 2), 0, out=of(t, "bool", n))
       for op in ("cumsum", "cumprod") for n in ((), (3, 0), (3,))},
    **{f"{op}_ of {n} truths": lambda t, op=op, n=n: getattr(of(t, "bool", n), f"{op}_")(0) for op in ("cumsum", "cumprod") for n in ((), (3, 0), (3,))},
    "masked.cumprod": lambda t: t.masked.cumprod(of(t, "bool", 3, 0), 1, dtype=t.bool), "masked.cumsum": lambda t: t.masked.cumsum(of(t, "bool", 0), 0),
    "fractional pool into nothing": lambda t: t.nn.functional.fractional_max_pool2d(of(t, COMPLEX, 1, 2, 3, 3), 2, 0),
    "histogramdd": lambda t: t.histogramdd(of(t, HALF, 0, 2), [2, 3])[0], "histogram of a bad range": lambda t: t.histogram(of(t, HALF, 0), 2, range=(2.0, 1.0)),
    **{f"{loss} {dtype}": lambda t, loss=loss, dtype=dtype, n=n: getattr(t.nn.functional, loss)(
        of(t, dtype, 0, 3), t.ones(*n, dtype=t.int64), reduction="none")
       for loss, n in (("multi_margin_loss", [0]), ("multilabel_margin_loss", [0, 3])) for dtype in (HALF, COMPLEX, "int64")},
    **{f"{draw} {n}": lambda t, draw=draw, n=n: getattr(of(t, COMPLEX, n), draw)() for draw in ("exponential_", "log_normal_", "random_") for n in (0, 1)},
    "geometric_": lambda t: of(t, COMPLEX, 0).geometric_(0.5),
    **{f"pool {n}": lambda t, n=n: t.nn.functional.adaptive_avg_pool2d(of(t, "int64", n, 2, 3, 3), 2) for n in (0, 1)},
    "unpool": lambda t: t.nn.functional.max_unpool2d(of(t, COMPLEX, 0, 2, 3, 3), of(t, "int64", 0, 2, 3, 3), 2),
    "searchsorted": lambda t: t.searchsorted(of(t, COMPLEX, 2), of(t, COMPLEX, 0)), "whole softmax": lambda t: t.softmax(of(t, "int64", 0), 0),
    **{f"conv{n}d of {dtype} {x}": lambda t, n=n, dtype=dtype, x=x: getattr(t, f"conv{n}d")(of(t, dtype, *x, *[3] * n), of(t, dtype, 1, x[1], *[1] * n))
       for n in (1, 2, 3) for dtype in ("bool", "uint8", COMPLEX) for x in ((0, 2), (2, 0))},
    **{f"conv_transpose{n}d of {dtype}": lambda t, n=n, dtype=dtype: getattr(t, f"conv_transpose{n}d")(of(t, dtype, 0, 2, *[3] * n), of(t, dtype, 2, 1, *[1] * n))
       for n in (1, 2, 3) for dtype in ("bool", "uint8", "int32")},
    **{f"conv{n}d of {x} by {k}, dilation {d}": lambda t, n=n, x=x, k=k, d=d: getattr(t, f"conv{n}d")(t.ones(*x, *[3] * n), t.ones(1, x[1], *[k] * n), dilation=d)
       for n in (1, 2) for x in ((0, 2), (2, 0), (0, 0), (1, 2)) for k in (0, 2) for d in (0, 1, -1)},
    **{f"conv_transpose2d of {n}, dilation {d}": lambda t, n=n, d=d: t.conv_transpose2d(t.ones(n, 2, 3, 3), t.ones(2, 1, 2, 2), dilation=d)
       for n in (0, 1) for d in (0, -1)},
    **{f"bincount weighed by {n}": lambda t, n=n: t.bincount(of(t, "int32", 0), of(t, "float64", *n), minlength=2) for n in ([0], [3], [3, 0])},
    **{f"cholesky of {dtype} {n}": lambda t, n=n, dtype=dtype: t.cholesky(of(t, dtype, *n)) for n in ([0], [0, 2], [2, 0, 3], [2, 3]) for dtype in ("float64", "uint8")},
    **{f"fractional pool of {n} by {k}": lambda t, n=n, k=k: t.nn.functional.fractional_max_pool2d(t.ones(1, 2, n, n), k, 0, _random_samples=t.ones(1, 2, 2))
       for n, k in ((1, 2), (2, 3), (2, 4))},
    **{f"put at a mask and {index}": lambda t, index=index: put(t.ones(4, 0, 3), (of(t, "bool", 4, 0), index)) for index in (True, False, 0, slice(1))},
    **{f"bmm of {a} by {b}": lambda t, a=a, b=b: t.bmm(of(t, "int64", *a), of(t, "uint8", *b))
       for a, b in (((2, 3, 0), (2, 0, 2)), ((0, 2, 3), (0, 3, 2)), ((1, 2, 0), (1, 0, 0)), ((1, 2, 3), (1, 3, 2)))},
    "argmax of truths": lambda t: t.argmax(of(t, "bool", 3)), "argmin of truths": lambda t: t.argmin(of(t, "bool", 0, 3), 1),
}


def answer(t, call):
    try:
        r = call(t)
    except Exception as e:
        return type(e).__name__
    return [(str(x.dtype), tuple(x.shape), repr(x.tolist())) for x in (r if isinstance(r, (tuple, list)) else [r])]


@pytest.mark.parametrize("call", CALLS)
def test_answers_as_pytorch(call):
    expected = answer(torch, CALLS[call])
    actual = answer(weir, CALLS[call])
    assert actual == expected or (expected == "RuntimeError" and actual == "NotImplementedError")


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_gradients_of_no_distances(p):
    for t in (torch, weir):
        x, y = (of(t, HALF, n, 3).requires_grad_() for n in (2, 0))
        t.cdist(x, y, p).sum().backward()
        assert x.grad.tolist() == [[0.0] * 3] * 2 and tuple(y.grad.shape) == (0, 3)


@pytest.mark.parametrize("op", ["amax", "cummax", "mode", "softmax", "log_softmax"])
def test_a_complex_one_has_no_gradient(op):
    for t in (torch, weir):
        with pytest.raises(RuntimeError, match="does not support automatic differentiation for outputs with complex dtype"):
            getattr(t, op)(of(t, COMPLEX, 0, 3).requires_grad_(), 1)


@pytest.mark.parametrize("name", ["add", "minimum", "lt", "logical_or", "bitwise_and", "pow"])
def test_strides_beside_another_shape(name):
    for made in (lambda t: (t.ones(2, 0).int(), t.ones(2, 1).int()), lambda t: (t.ones(2, 0, 2).int()[..., :0].mT, t.ones(1, 1).int()), lambda t: (t.ones(2, 0).int()[:, ::2], t.tensor(2)),
                 lambda t: (t.ones(2, 1, 0).int()[..., ::2], t.ones(3, 1).int()), lambda t: (t.ones(2, 0).int()[:, ::2], t.ones(2, 0).int())):
        results = [getattr(t, name)(*made(t)) for t in (torch, weir)]
        assert (tuple(results[1].shape), results[1].stride()) == (tuple(results[0].shape), results[0].stride())
