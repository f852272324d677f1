"""Windows against PyTorch's: lengths, periodic and symmetric, dtypes, options and errors."""

import pytest
import torch
import weir
from twins import assert_same

WINDOWS = ["bartlett_window", "blackman_window", "hann_window", "hamming_window", "kaiser_window"]


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("length", [0, 1, 2, 3, 16, 1025, 5000])
def test_points(name, length):
    for periodic in (True, False):
        assert_same(lambda t: getattr(t, name)(length, periodic, dtype=t.float64), rtol=1e-11, atol=1e-11)
        assert_same(lambda t: getattr(t, name)(length, periodic=periodic), rtol=1e-5, atol=1e-5)
    assert getattr(weir, name)(length, dtype=weir.float16).dtype == weir.float16


def test_parameters():
    assert_same(lambda t: t.hamming_window(9, True, 0.5, 0.4), rtol=1e-6)
    assert_same(lambda t: t.hamming_window(9, False, alpha=0.7), rtol=1e-6)
    assert_same(lambda t: t.kaiser_window(9, True, 3.5), rtol=1e-5)
    assert_same(lambda t: t.kaiser_window(9, True, -3.5), rtol=1e-5)
    assert_same(lambda t: t.kaiser_window(64, False, 60.0, dtype=t.float64), rtol=1e-9)


@pytest.mark.parametrize("a", [[0.5], [1, 2], [0.3, 0.4, 0.3], [0.1 * k for k in range(1, 12)]])
@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_sums_of_any_number_of_cosines(a, length):
    for sym in (True, False):
        assert_same(lambda t: t.signal.windows.general_cosine(length, a=a, sym=sym), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [0, 1, 2, 9, 1030])
@pytest.mark.parametrize("name, given", [("cosine", {}), ("exponential", {}), ("exponential", {"tau": 3.5}), ("exponential", {"tau": 2.0, "center": 3}),
                                         ("gaussian", {}), ("gaussian", {"std": 4.0}), ("exponential", {"tau": 0}), ("gaussian", {"std": -1.0})])
def test_windows_around_a_centre(name, given, length):
    for sym in (True, False):
        assert_same(lambda t: getattr(t.signal.windows, name)(length, sym=sym, dtype=t.float64, **given), rtol=1e-11, atol=1e-12)
        # Computed in double precision here, where PyTorch rounds the distances to single precision first.
        assert_same(lambda t: getattr(t.signal.windows, name)(length, sym=sym, dtype=t.float64 if t is torch else t.float32, **given).float(), rtol=1e-6, atol=1e-7)


def test_options_of_factories():
    assert weir.hann_window(4, requires_grad=True).requires_grad
    for t in (torch, weir):
        with pytest.raises(TypeError):
            t.hann_window(4, out=t.empty(4))


@pytest.mark.parametrize("name", WINDOWS)
def test_errors(name):
    for arguments in ({"window_length": -1}, {"window_length": 3, "dtype": "int64"}):
        for t in (torch, weir):
            given = {**arguments, **({"dtype": getattr(t, arguments["dtype"])} if "dtype" in arguments else {})}
            with pytest.raises(RuntimeError, match=f"{name} (requires non-negative window_length, got window_length=-1|expects floating point dtypes)"):
                getattr(t, name)(**given)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("beta", [80.0, 90.0, 200.0, 700.0, 720.0, 1e39, 1e300, float("inf")])
def test_a_kaiser_window_beyond_its_dtype(beta, dtype):
    assert_same(lambda t, dtype: t.kaiser_window(8, True, beta, dtype=dtype), dtype, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("name, given", [("general_cosine", {"a": [0.5, 0.25]}), ("cosine", {}), ("gaussian", {}), ("hann", {})])
def test_windows_on_the_device_of_a_scope(name, given):
    for t in (weir, torch):
        with t.device("meta"):
            assert getattr(t.signal.windows, name)(9, **given).device.type == "meta"
    a = weir.ones(2, dtype=weir.float64)
    for wrong in (a.to("meta"), a.float(), a[None]):
        with pytest.raises(RuntimeError):
            weir._C.ops["hidden"]["general_cosine_window"](wrong, 9, True, device="cpu")
