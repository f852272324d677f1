"""What is computed in the lanes of registers: accuracy of the functions, and every way a remainder or a division can round."""

import numpy as np
import pytest
import torch
import weir
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import assert_same, to_weir


def every_so_many_floats(step=40_013):
    """Floats of all sizes, by their bits: both signs, subnormal ones, infinities and NaN."""
    return np.concatenate([np.arange(0, 1 << 32, step, dtype=np.uint32).view(np.float32), np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], np.float32)])


def ulps(actual, exact):
    """The distance from the exact value in units of its last place; where that is no number, 0 for the same and infinity for another."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.exp2(np.maximum(np.frexp(np.abs(exact))[1], -125) - 24.0)
        distance = np.abs(actual.astype(np.float64) - exact) / unit
        special = ~np.isfinite(rounded)
        same = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
        return np.where(special, np.where(same, 0, np.inf), distance)


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "erf", "tanh"])
def test_functions_are_within_one_and_a_half_units_of_the_last_place(name):
    x = every_so_many_floats()
    exact = getattr(torch, name)(torch.from_numpy(x.astype(np.float64))).numpy()
    actual = getattr(weir, name)(weir.from_numpy(x)).numpy()
    # The largest results round to infinity a little early or late.
    near_overflow = np.isinf(exact.astype(np.float32)) != np.isinf(actual)
    error = np.where(near_overflow, 0, ulps(actual, exact))
    assert error.max() <= 1.5, (name, x[error.argmax()], actual[error.argmax()], exact[error.argmax()])
    assert near_overflow.sum() <= 1


@pytest.mark.parametrize("name", ["exp", "exp2"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_results_too_small_for_normal_numbers(name, dtype):
    """In registers where some lanes, all or none are so small."""
    least = {torch.float32: 149, torch.float64: 1074}[dtype] * (1 if name == "exp2" else np.log(2))
    x = torch.linspace(-least * 1.02, -least * 0.8, 30_011, dtype=dtype)
    x[::7], x[3::11] = -np.inf, 0.5
    exact = getattr(np, name)(x.numpy().astype(np.longdouble))
    unit = np.maximum(np.ldexp(np.longdouble(1), np.frexp(exact)[1] - (24 if dtype == torch.float32 else 53)), np.exp2(np.longdouble(-149 if dtype == torch.float32 else -1074)))
    error = np.abs(getattr(weir, name)(to_weir(x)).numpy().astype(np.longdouble) - exact) / unit
    assert error.max() <= (1.5 if dtype == torch.float32 else 4), (x[int(error.argmax())], error.max())


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_what_levels_off_is_one_from_there_on(name):
    """What is left in 1 - f(x) is multiplied by x in gradients."""
    x = np.array([9.1, 10, 60_000, 3e38, np.inf], np.float32)
    both = np.concatenate([x, -x])
    assert getattr(weir, name)(weir.from_numpy(both)).tolist() == np.sign(both).tolist()


SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 1e-45, 3e38, 16777216.0, -7.5, 0.1]
numbers = st.one_of(st.sampled_from(SPECIAL), st.floats(width=32), st.integers(-50, 50).map(float))


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "nextafter"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40))
def test_remainders_floored_quotients_and_neighbours_are_pytorchs(name, dtype, pairs):
    a, b = (torch.tensor(column, dtype=dtype) for column in zip(*pairs))
    # One by one: PyTorch's vector code has NaN for quotients beyond the digits of the type.
    expected = torch.cat([getattr(torch, name)(x, y) for x, y in zip(a.split(1), b.split(1))])
    actual = getattr(weir, name)(to_weir(a), to_weir(b)).numpy()
    np.testing.assert_array_equal(actual, expected.numpy())
    np.testing.assert_array_equal(np.signbit(actual[~np.isnan(actual)]), np.signbit(expected.numpy()[~np.isnan(actual)]))


SMALL = [torch.uint8, torch.int8, torch.int16, torch.bool]
OPS = ["add", "sub", "mul", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "ne", "lt", "le", "gt", "ge",
       "logical_and", "logical_or", "logical_xor", "fmax", "fmin"]


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("name", OPS)
def test_small_integers_wrap_and_compare_as_pytorchs(name, dtype):
    a = torch.arange(0, 3 * 257).to(dtype)
    b = torch.arange(0, 3 * 257).mul(37).sub(100).to(dtype)
    for x, y in ((a, b), (a[::2], b[1::2]), (a.reshape(3, 257), b[:257]), (a, b[5])):
        assert_same(lambda f, x, y: getattr(f, name)(x, y), x, y, order=0)
    if dtype != torch.bool and name not in ("logical_and", "logical_or", "logical_xor"):
        for number in (3, -2, 200, 300, 70_000):
            assert_same(lambda f, x: getattr(x, name)(number), a, order=0)
    if name in ("add", "sub") and dtype != torch.bool:
        assert_same(lambda f, x, y: getattr(f, name)(x, y, alpha=3), a, b, order=0)


@pytest.mark.parametrize("name", ["neg", "abs", "sign", "sgn", "square", "logical_not", "bitwise_not", "relu", "floor", "ceil", "trunc", "round", "isnan",
                                  "isinf", "isfinite", "signbit"])
@pytest.mark.parametrize("dtype", SMALL[:3] + [torch.int32])
def test_small_integers_one_by_one(name, dtype):
    assert_same(lambda f, x: getattr(f, name)(x), torch.cat([torch.arange(-300, 300), torch.tensor([2**31 - 1, -(2**31)])]).to(dtype), order=0)


@pytest.mark.parametrize("dtype", SMALL[:3] + [torch.int32])
def test_small_integers_within_bounds_and_in_sums_of_products(dtype):
    a, b = torch.arange(-300, 300).to(dtype), torch.arange(0, 600).mul(37).to(dtype)
    assert_same(lambda f, x: (x.clamp(3, 90), x.clamp(min=5), x.clamp(max=7), x[::2].clamp(9, 4)), a, order=0)
    assert_same(lambda f, x, y: (x.clamp(y), x.clamp(max=y), x.clamp(y, x + 9), x.clamp(y[3], y[4])), a, b, order=0)
    assert_same(lambda f, x, y: (f.addcmul(x, y, x), f.addcmul(x, y, x, value=3), f.addcmul(x, y, y[5])), a, b, order=0)
    for wrong in (300, -1.5, 2**40):
        assert_same(lambda f, x: f.add(x.clamp(min=wrong) if wrong != 300 or dtype != torch.int32 else x, 0), a, order=0)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 40, 1029])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "lt", "exp", "neg", "abs", "relu", "floor", "round", "trunc", "signbit", "isfinite", "sqrt"])
def test_half_precision_of_any_length(name, dtype, n):
    a = torch.linspace(-5, 5, n).to(dtype)
    a[n // 3], a[-1] = float("nan"), float("inf")
    assert_same(lambda f, x: getattr(f, name)(x, *[x.flip(0)][: name in ("add", "mul", "div", "maximum", "lt")]), a, order=0, rtol=1e-3)
    if name == "add":
        assert_same(lambda f, x: (x + 2.5, 3 - x, x.clamp(-1, 2), f.lerp(x, x.flip(0), 0.25)), a, order=0, rtol=1e-2)


def test_doubles_are_rounded_to_even():
    x = torch.cat([torch.arange(-9, 9, 0.25, dtype=torch.float64), torch.tensor([2.0**52 - 0.5, -(2.0**52) + 0.5, 2.0**53 + 2, 1e300, -0.0, -0.3, float("inf"), float("nan")], dtype=torch.float64)])
    ours = weir.round(to_weir(x)).numpy()
    np.testing.assert_array_equal(ours, torch.round(x).numpy())
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(torch.round(x).numpy()))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 17])
def test_inverse_error_function_and_normal_quantile(n):
    x = torch.linspace(-1.0, 1.0, 2001, dtype=torch.float64).reshape(-1)[: 100 * n]
    exact = torch.erfinv(x)
    np.testing.assert_allclose(weir.erfinv(to_weir(x)).numpy(), exact.numpy(), rtol=4e-15)
    np.testing.assert_allclose(weir.erfinv(to_weir(x.float())).numpy(), torch.erfinv(x.float().double()).numpy(), rtol=6e-7)
    p = torch.tensor([0.0, 1e-30, 1e-5, 0.02, 0.5, 0.97, 1.0, -0.1, float("nan")], dtype=torch.float64)
    np.testing.assert_allclose(weir.special.ndtri(to_weir(p)).numpy(), torch.special.ndtri(p).numpy(), rtol=1e-14)


def test_the_slope_of_hardsigmoid_is_single_in_every_dtype():
    for t in (torch, weir):
        x = t.zeros(9, dtype=t.float64, requires_grad=True)
        t.nn.functional.hardsigmoid(x).sum().backward()
        assert x.grad.tolist() == [0.1666666716337204] * 9


def test_trigamma():
    x = torch.tensor([-7.3, -0.5, 0.2, 0.5, 1.0, 3.7, 50.0, 1e6, float("inf"), float("nan")], dtype=torch.float64)
    for dtype, rtol in ((torch.float64, 1e-14), (torch.float32, 2e-6)):
        np.testing.assert_allclose(weir.polygamma(1, to_weir(x.to(dtype))).numpy()[2:], torch.polygamma(1, x.to(dtype)).numpy()[2:], rtol=rtol)
        np.testing.assert_allclose(weir.polygamma(1, to_weir(x.to(dtype))).numpy()[:2], torch.polygamma(1, x.to(dtype)).numpy()[:2], rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log1p_at_its_ends(dtype):
    x = torch.tensor([-1.0, -1.5, -0.0, 0.0, 1e-30, float("inf"), float("-inf"), float("nan")] * 9, dtype=dtype)
    assert_same(lambda t, x: t.log1p(x), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_powers_of_any_sign(dtype):
    base = torch.tensor([-float("inf"), -3.5, -2.0, -1.0, -1e-40, -0.0, 0.0, 0.5, 2.0, 7.0, float("inf"), float("nan")], dtype=dtype)
    power = torch.tensor([-float("inf"), -3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 17.0, 2.5e9, 1e30, float("inf"), float("nan")], dtype=dtype)
    assert_same(lambda t, a, b: t.pow(a, b), base.repeat_interleave(len(power)), power.repeat(len(base)), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_whole_powers_are_products_whatever_stands_beside_them(dtype):
    x = np.array([0.0, -0.0, 1.5, -1.5, 1e-20, -3e25, np.inf, -np.inf, np.nan, 7.1, -0.3], dtype)
    with np.errstate(all="ignore"):
        products = {1: x, 2: x * x, 3: x * x * x, -1: 1 / x, -2: 1 / (x * x)}
    for power, product in products.items():
        np.testing.assert_array_equal(weir.from_numpy(x).pow(power).numpy(), product)
        assert_same(to_weir(torch.from_numpy(x)) ** power, torch.from_numpy(x) ** power)
    powers = np.repeat(np.array([*products, 0.5, 2.5, -3], dtype), len(x))
    mixed = weir.from_numpy(np.tile(x, len(powers) // len(x))).pow(weir.from_numpy(powers)).numpy().reshape(-1, len(x))
    for row, (power, product) in enumerate(products.items()):
        np.testing.assert_array_equal(mixed[row], product, err_msg=str(power))
    np.testing.assert_array_equal(mixed[-2], weir.from_numpy(x).pow(weir.tensor(2.5, dtype=weir.from_numpy(x).dtype)).numpy())


def test_log_gamma_of_floats():
    x = torch.cat([torch.linspace(-30, 30, 4001), torch.tensor([0.0, -0.0, 1.0, 2.0, 1 + 2**-20, 2 - 2**-20, -1.0, 1e-30, -1e-30, 1e30, 3e38, float("inf"), float("-inf"), float("nan")])])
    assert_same(lambda t, x: t.lgamma(x.double()).float() if t is torch else t.lgamma(x), x, rtol=3e-7, atol=0)


def test_log_gamma_of_doubles():
    x = torch.cat([torch.linspace(-30, 30, 4001, dtype=torch.float64), torch.logspace(-300, 300, 400, dtype=torch.float64),
                   torch.tensor([1.0, 2.0, 1 + 2**-50, 2 - 2**-50, 2 + 2**-50, 0.5, 1.5, 2.5, 7.5, float("inf"), float("-inf"), float("nan"), -0.0], dtype=torch.float64)])
    assert_same(lambda t, x: t.lgamma(x), x, rtol=2e-15, atol=0)
    alone = [weir.lgamma(weir.tensor([v], dtype=weir.float64)).item() for v in x[::50].tolist()]
    assert alone == weir.lgamma(to_weir(x[::50])).tolist()  # whatever stands beside it


DIVIDING = {"floor": lambda f, x, y: f.div(x, y, rounding_mode="floor"), "trunc": lambda f, x, y: f.div(x, y, rounding_mode="trunc"),
            "floor_divide": lambda f, x, y: f.floor_divide(x, y), "remainder": lambda f, x, y: f.remainder(x, y), "fmod": lambda f, x, y: f.fmod(x, y),
            "gcd": lambda f, x, y: f.gcd(x, y), "lcm": lambda f, x, y: f.lcm(x, y)}


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("name", DIVIDING)
def test_whole_quotients(name, dtype):
    """Of all bytes, and of wider numbers near every power of two. Quotients of the least number by -1 trap in PyTorch, or wrap around."""
    bits = torch.iinfo(dtype)
    if bits.bits == 8:
        numbers = range(bits.min, bits.max + 1)
    else:
        numbers = sorted({n for e in range(bits.bits) for d in (-1, 0, 1) for n in ((1 << e) + d, -(1 << e) + d) if bits.min <= n <= bits.max})
    numbers = torch.tensor(list(numbers), dtype=dtype)
    x, y = (t.flatten().contiguous() for t in torch.meshgrid(numbers, numbers, indexing="ij"))
    if dtype != torch.uint8:
        trap = (x == bits.min) if name == "lcm" else (x == bits.min) & (y == -1)
        x, y = x[~trap], y[~trap]
    if name not in ("gcd", "lcm"):
        x, y = x[y != 0], y[y != 0]
    ours, theirs = DIVIDING[name](weir, to_weir(x), to_weir(y)).numpy(), DIVIDING[name](torch, x, y).numpy()
    differ = ours != theirs
    assert not differ.any(), (name, x[differ][:5], y[differ][:5], ours[differ][:5], theirs[differ][:5])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_a_zero_among_divisors_is_refused_wherever_it_stands(dtype):
    for at in (0, 5, 99):
        x, y = weir.ones(100, dtype=getattr(weir, dtype)), weir.ones(100, dtype=getattr(weir, dtype))
        y[at] = 0
        for call in (weir.floor_divide, weir.remainder, weir.fmod):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                call(x, y)
    least = weir.full((40,), weir.iinfo(getattr(weir, dtype)).min, dtype=getattr(weir, dtype))
    if dtype != "uint8":
        assert (least // -1 == least).all() and (least % -1 == 0).all()
