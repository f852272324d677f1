"""Calls in which the full tier of autotest, with its ten dtypes, found other answers than PyTorch's."""

import pytest
import torch
import weir

NAN = float("nan")


def answer(t, call):
    try:
        r = call(t)
    except Exception as e:
        return type(e).__name__
    return str(r.dtype), tuple(r.shape), str(r.tolist())


def ones(t, dtype, *sizes):
    return t.ones(*sizes, dtype=getattr(t, dtype))


def full(t, dtype, *sizes):
    return t.full(sizes, NAN, dtype=getattr(t, dtype))


CALLS = {
    # a second ellipsis stands for no more axes
    "ellipses": lambda t: ones(t, "int32", 1, 5)[..., ...], "ellipses around a number": lambda t: ones(t, "uint8", 4, 2)[..., 0, ...],
    "ellipses around an axis": lambda t: ones(t, "uint8", 4, 2)[..., None, ...], "an axis behind ellipses": lambda t: ones(t, "uint8", 4, 2)[..., 0, ..., 0],
    "select of nothing": lambda t: t.index_select(ones(t, "complex128", 1, 0), -2, t.tensor([3])),
    "select along nothing": lambda t: t.index_select(ones(t, "float32", 0, 3), 1, t.tensor([-1])),
    "far triangle": lambda t: t.tril_indices(2, 1, offset=-2**63), "far upper triangle": lambda t: t.triu_indices(2, 3, offset=-2**63),
    "a whole triangle": lambda t: t.tril_indices(2, 3, offset=2**63 - 1),
    "randint by Python's int": lambda t: t.randint(1, [3], dtype=int, out=t.ones(3).long()), "a spread of NaN": lambda t: t.normal(t.ones(2), NAN),
    **{f"dilated convolution of {dtype}": lambda t, dtype=dtype: t.conv1d(ones(t, dtype, 1, 1, 7), ones(t, dtype, 2, 1, 2), dilation=2)
       for dtype in ("uint8", "int32", "int64", "float32")},
    **{f"convolution padded by {p}": lambda t, p=p: t.convolution(ones(t, "float32", 1, 2, 4, 5), ones(t, "float32", 2, 2, 2, 2), None, [1], [0], [1], False, p, 1)
       for p in ([0], [3, 3], [1, 0, 2], [-1, 0], [])},
    # factors of products
    **{f"{op} {dtype} of {k} by {alpha}": lambda t, op=op, dtype=dtype, k=k, alpha=alpha: getattr(t, op)(
        ones(t, dtype, 8, 8), full(t, dtype, *([1] if op == "addbmm" else []), 8, k), ones(t, dtype, *([1] if op == "addbmm" else []), k, 8), alpha=alpha)
       for op in ("addmm", "addbmm") for dtype in ("float32", "complex64", "bfloat16") for k, alpha in ((0, NAN), (3, 0.0))},
    **{f"baddbmm of {n} by {alpha}": lambda t, n=n, alpha=alpha: t.baddbmm(ones(t, "float64", 1, n, n), full(t, "float64", 1, n, n), ones(t, "float64", 1, n, n), alpha=alpha)
       for n in (2, 8) for alpha in (0.0, 1.0)},
    **{f"addmv {dtype}": lambda t, dtype=dtype: t.addmv(ones(t, dtype, 3), full(t, dtype, 3, 2), ones(t, dtype, 2), alpha=0.0) for dtype in ("float32", "float16", "complex64")},
}


@pytest.mark.parametrize("call", CALLS)
def test_answers_as_pytorch(call):
    assert answer(weir, CALLS[call]) == answer(torch, CALLS[call])


@pytest.mark.parametrize("number", [-1, 3, 256, 300, -300, 2**40])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
@pytest.mark.parametrize("op", ["floor_divide", "remainder", "fmod", "gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift", "trunc", "reversed"])
def test_numbers_wrap_around_before_they_divide_and_shift(op, dtype, number):
    def call(t, other):
        x = t.tensor([100, 3], dtype=getattr(t, dtype))
        if op == "trunc":
            return t.div(x, other, rounding_mode="trunc")
        return t.floor_divide(other, x) if op == "reversed" else getattr(t, op)(x, other)
    assert answer(weir, lambda t: call(t, t.tensor(number))) == answer(torch, lambda t: call(t, t.tensor(number)))
    if op not in ("gcd", "lcm"):
        assert answer(weir, lambda t: call(t, number)) == answer(torch, lambda t: call(t, number))


def test_a_factor_of_zero_keeps_the_products_history():
    for t in (torch, weir):
        a = t.ones(2, 3, requires_grad=True)
        t.addmm(t.ones(2, 2), a, t.ones(3, 2), alpha=0).sum().backward()
        assert a.grad.tolist() == [[0.0] * 3] * 2


def test_factors_that_whole_numbers_cut_to_zero():
    for t in (torch, weir):
        a = t.ones(2, 2, dtype=t.int64)
        assert t.addmv(a[0], a, a[0], beta=0.2, alpha=0.6).dtype == t.int64
        assert t.addbmm(a, a[None], a[None], alpha=0.4).tolist() == [[1, 1], [1, 1]]
