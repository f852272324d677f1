"""Scopes of autocast in every way that programs write them: what they take, refuse and warn of, as in PyTorch."""

import warnings

import numpy as np
import pytest
import torch
import weir


def inside(t, scope):
    with scope:
        return str((t.ones(2, 2) @ t.ones(2, 2)).dtype), t.is_autocast_enabled("cpu")


def dtype_inside(t, scope):
    with scope:
        return str(t.get_autocast_dtype("cpu"))


FORMS = {
    "plain": lambda t: inside(t, t.autocast("cpu")),
    "half": lambda t: inside(t, t.autocast("cpu", dtype=t.float16)),
    "single": lambda t: inside(t, t.autocast("cpu", dtype=t.float32)),
    "off": lambda t: inside(t, t.autocast("cpu", enabled=False)),
    "another device": lambda t: inside(t, t.autocast("cuda")),
    "old name": lambda t: inside(t, t.cpu.amp.autocast()),
    "old name off": lambda t: inside(t, t.cpu.amp.autocast(False)),
    "old name of a GPU": lambda t: inside(t, t.cuda.amp.autocast(enabled=False)),
    "old scaler": lambda t: t.cpu.amp.GradScaler().is_enabled(),
    "old scaler of a GPU": lambda t: t.cuda.amp.GradScaler(enabled=False).is_enabled(),
    "old forward": lambda t: t.cuda.amp.custom_fwd(lambda ctx: 3).__name__,
    "old backward": lambda t: t.cuda.amp.custom_bwd(lambda ctx: 3).__name__,
    "attributes": lambda t: (str(t.autocast("cpu").fast_dtype), t.autocast("cpu")._enabled, t.autocast("cpu", cache_enabled=False)._cache_enabled),
    "decorator": lambda t: str(t.autocast("cpu")(lambda x: x @ x)(t.ones(2, 2)).dtype),
    "no function": lambda t: t.autocast("cpu")(3),
    "no device": lambda t: t.autocast("not a real device"),
    "a device": lambda t: t.autocast(t.device("cpu")),
    "a device without": lambda t: t.autocast("meta"),
    "available": lambda t: [t.amp.is_autocast_available(d) for d in ("cpu", "cuda:1", "meta", "mps")],
    "not available": lambda t: t.amp.is_autocast_available("not a real device"),
    "dtype of a scope": lambda t: dtype_inside(t, t.autocast("cpu", t.float16, False)),
}


def seen(t, form):
    """Result or class of the error, and the warnings of a form."""
    before = t.is_autocast_enabled("cpu"), t.get_autocast_dtype("cpu")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = FORMS[form](t)
        except Exception as error:
            result = type(error).__name__
        finally:
            t.set_autocast_enabled("cpu", before[0])
            t.set_autocast_dtype("cpu", before[1])
    return result, [(w.category.__name__, str(w.message)[:40]) for w in said]


@pytest.mark.parametrize("form", FORMS)
def test_a_scope_does_what_pytorchs_does(form):
    assert seen(weir, form) == seen(torch, form)


LOWER = {
    "mm": [(4, 4)] * 2, "bmm": [(3, 4, 4)] * 2, "addmm": [(4, 4)] * 3, "baddbmm": [(3, 4, 4)] * 3, "addbmm": [(4, 4), (3, 4, 4), (3, 4, 4)],
    "matmul": [(4, 4)] * 2, "nn.functional.linear": [(4, 4), (4, 4), (4,)], "linalg.vecdot": [(4, 4)] * 2, "prelu": [(4, 4), (1,)],
    "conv1d": [(2, 3, 9), (4, 3, 3), (4,)], "conv_transpose2d": [(2, 3, 9, 9), (3, 4, 3, 3), (4,)], "conv_tbc": [(9, 2, 3), (3, 3, 4), (4,)],
    "nn.functional.scaled_dot_product_attention": [(2, 3, 5, 4)] * 3,
}


@pytest.mark.parametrize("name", LOWER)
def test_what_autocast_lowers_is_what_casts_before_would_give(name):
    """Every input is cast, so that not even a bit differs. Source: AT_FORALL_LOWER_PRECISION_FP and KERNEL_CPU of autocast_mode.cpp."""
    weir.manual_seed(0)
    x = [weir.randn(*shape) for shape in LOWER[name]]
    function = weir
    for part in name.split("."):
        function = getattr(function, part)
    with weir.autocast("cpu", dtype=weir.bfloat16):
        got = function(*x)
    expected = function(*(t.bfloat16() for t in x))
    assert got.dtype == weir.bfloat16 and weir.equal(got, expected)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_a_convolution_takes_what_another_one_gave(kind, n):
    """The input is of the lower precision there, weight and bias are not."""
    def run(t):
        t.manual_seed(0)
        layer, x = getattr(t.nn, f"{kind}{n}d")(2, 3, 2), t.ones(1, 2, *[3] * n).bfloat16()
        with t.autocast("cpu"):
            y = layer(x)
        y.sum().backward()
        return str(y.dtype), y.float().tolist(), str(layer.bias.grad.dtype), layer.bias.grad.tolist()
    (dtype, y, *bias), expected = run(weir), run(torch)
    assert [dtype, *bias] == [expected[0], *expected[2:]]
    np.testing.assert_allclose(y, expected[1], rtol=0.02, atol=0.02)


def test_decompositions_by_ldl_are_left_alone():
    def run(t, dtype):
        with t.autocast("cpu"):
            return str(t.linalg.ldl_solve(t.eye(2, dtype=getattr(t, dtype)), t.tensor([1, 2], dtype=t.int32), t.ones(2, 1)).dtype)
    assert run(weir, "float32") == run(torch, "float32")
    for t in (weir, torch):
        with pytest.raises(RuntimeError):
            run(t, "bfloat16")
