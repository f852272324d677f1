"""Memory that nobody has written: filled where a program asks for deterministic algorithms, as PyTorch fills it."""

import pytest
import torch
import weir

DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32 complex64 complex128
    float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz""".split()
CALLS = {
    "empty": lambda t, d: t.empty(10, 9, dtype=d),
    "empty channels last": lambda t, d: t.empty(2, 3, 4, 5, dtype=d, memory_format=t.channels_last),
    "out": lambda t, d: t.empty(10, 9, out=t.zeros(1, dtype=d)),
    "empty_like": lambda t, d: t.empty_like(t.zeros(10, 9, dtype=d).t()),
    "new_empty": lambda t, d: t.zeros(1, dtype=d).new_empty(3, 4),
    "empty_strided": lambda t, d: t.empty_strided((10, 9), (1, 5), dtype=d),
    "empty_permuted": lambda t, d: t.empty_permuted((2, 3, 5), (1, 0, 2), dtype=d),
    "resize_": lambda t, d: t.zeros(2, 3, dtype=d).resize_(4, 5),
    "resize_ to fewer": lambda t, d: t.zeros(2, 3, dtype=d).resize_(1, 2),
    "resize_as_": lambda t, d: t.zeros(2, 3, dtype=d).resize_as_(t.zeros(7, dtype=d)),
    "nothing": lambda t, d: t.empty(0, 3, dtype=d),
}


@pytest.fixture(params=[weir, torch], ids=["weir", "torch"])
def deterministic(request):
    t = request.param
    t.use_deterministic_algorithms(True)
    yield t
    t.use_deterministic_algorithms(False)
    t.utils.deterministic.fill_uninitialized_memory = True


def numbers(x, t):
    """What no dtype cannot say: bytes would tell one NaN from another."""
    if x.is_complex():
        x = t.view_as_real(x)
    if x.is_floating_point():
        return [n != n for n in x.float().flatten().tolist()]
    return [int(n) for n in x.flatten().tolist()]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_new_memory_holds_what_pytorchs_holds(dtype, call):
    found = []
    for t in (weir, torch):
        t.use_deterministic_algorithms(True)
        try:
            found.append(numbers(CALLS[call](t, getattr(t, dtype)), t))
        finally:
            t.use_deterministic_algorithms(False)
    assert found[0] == found[1]


def test_can_be_left_alone(deterministic):
    t = deterministic
    assert t.utils.deterministic.fill_uninitialized_memory is True
    t.utils.deterministic.fill_uninitialized_memory = False
    assert t._C._get_deterministic_fill_uninitialized_memory() is False
    x = t.zeros(4).resize_(2).resize_(4)  # the memory is there: nothing new
    assert x.tolist() == [0.0] * 4
    with pytest.raises((TypeError, RuntimeError)):
        t.utils.deterministic.fill_uninitialized_memory = 1
