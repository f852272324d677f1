"""What numbers beside halves are to a kernel, against PyTorch: comparisons cast them first, sums round their factor."""

import operator

import pytest
import torch
import weir
from twins import to_numpy, to_weir

HALVES = ("float16", "bfloat16")
#: Halves, and numbers that are none, or lie beyond them.
PAIRS = [(0.1, 0.1), (float("inf"), 1e5), (65504.0, 65510.0), (1.0, 1.0001), (2048.0, 2049), (1.0, True), (float("nan"), 0.1), (0.5, 0.5)]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("half, number", PAIRS)
def test_a_comparison_casts_first(dtype, half, number):
    def answers(t):
        x = t.tensor([half] * 3, dtype=getattr(t, dtype))
        others = (number, t.tensor(number), t.tensor(number).double(), t.tensor([number]).to(t.int64 if isinstance(number, int) else x.dtype))
        names = ("eq", "ne", "lt", "le", "gt", "ge")
        signs = [getattr(operator, name)(a, b).tolist() for name in names for other in others for a, b in ((x, other), (x[0], other), (other, x))]
        return signs, [getattr(x * 1, f"{name}_")(number).tolist() for name in names], t.logical_and(x, t.tensor(1e-30)).tolist()
    assert answers(weir) == answers(torch)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_plan_compares_alike(dtype):
    x = weir.tensor([0.1, 0.2, 0.5], dtype=getattr(weir, dtype))
    assert weir.compile(lambda x: (x == 0.1) | (x >= 0.2))(x).tolist() == [True, True, True]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("alpha", [0.1, -1.7, 3, 1e-3])
def test_a_sum_rounds_its_factor_and_nothing_else_on_the_way(dtype, alpha):
    x, y = (torch.randn(4096, generator=torch.manual_seed(i)).to(getattr(torch, dtype)) for i in range(2))
    for name in ("add", "sub"):
        expected = getattr(x, name)(y, alpha=alpha)
        for got in (getattr(to_weir(x), name)(to_weir(y), alpha=alpha), weir.compile(lambda x, y: getattr(x * 1, name)(y, alpha=alpha) * 1)(to_weir(x), to_weir(y))):
            assert (to_numpy(got) == to_numpy(expected)).all()


def test_the_gradient_of_a_sum_keeps_the_factor():
    for t in (torch, weir):
        y = t.ones(64, dtype=t.float16, requires_grad=True)
        t.zeros(64, dtype=t.float16).add(y, alpha=0.1).backward(t.full((64,), 1000.0, dtype=t.float16))
        assert set(y.grad.tolist()) == {100.0}


NUMBERS = (2.0039, 0.1, 1 / 3, -1.7, 1000.7, 2057)
#: Sums, rests and powers of a number beside halves see it as a half; behind the sign of a product or quotient it keeps its digits.
TWO_SIDED = {name: (lambda t, a, b, name=name: getattr(t, name)(a, b)) for name in ("add", "sub", "mul", "div", "floor_divide", "remainder", "pow")}
SIGNS = {name: (lambda t, a, b, name=name: getattr(operator, name)(a, b)) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")}
ONE_SIDED = {name: (lambda t, a, b, name=name: getattr(t, name)(a, b)) for name in ("fmod", "rsub")}
ROUNDED = {f"div {mode}": (lambda t, a, b, mode=mode: t.div(a, b, rounding_mode=mode)) for mode in ("trunc", "floor")}
OF_TENSORS = {name: (lambda t, a, b, name=name: getattr(t, name)(*(x if isinstance(x, t.Tensor) else t.tensor(x) for x in (a, b))))
              for name in ("atan2", "hypot", "logaddexp", "maximum", "fmin", "nextafter", "copysign", "mul", "div", "sub")}
THREE = {"addcmul": lambda t, a, b: t.addcmul(a, a, t.tensor(b)), "lerp": lambda t, a, b: t.lerp(a, a + 1, b),
         "lerp tensor": lambda t, a, b: t.lerp(a, a + 1, t.tensor(b)), "addcmul value": lambda t, a, b: t.addcmul(a, a, a, value=b)}


def halves(t, dtype):
    return t.tensor([0.2001953125, 0.5, 1.0, 1.50390625, 2.0, 2.015625, 3.140625, 5.03125, 7.9, 0.0029, 100.0, -1.5, -2.25, 300.0], dtype=getattr(t, dtype))


def bits(x):
    return repr(x.float().tolist())


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("number", NUMBERS)
def test_arithmetic_beside_halves(dtype, number):
    def answers(t):
        x, found = halves(t, dtype), {}
        for kind, calls in (("by name", TWO_SIDED), ("sign", SIGNS), ("one side", ONE_SIDED), ("rounded", ROUNDED), ("tensors", OF_TENSORS), ("three", THREE)):
            for name, f in calls.items():
                found[kind, name] = bits(f(t, x, number))
                if kind not in ("one side", "rounded", "three"):
                    found[kind, name, "first"] = bits(f(t, number, x))
        return found
    expected, got = answers(torch), answers(weir)
    assert {key: (got[key], answer) for key, answer in expected.items() if got[key] != answer} == {}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("number", NUMBERS)
def test_arithmetic_into_memory_that_is_given(dtype, number):
    def answers(t):
        found = {}
        for name in ("add", "sub", "mul", "div", "floor_divide", "fmod", "remainder", "pow"):
            found[name, "in place"] = bits(getattr(halves(t, dtype), f"{name}_")(number))
            for out in (dtype, "float32"):  # also a wider one gets the halves
                found[name, out] = bits(getattr(t, name)(halves(t, dtype), number, out=t.empty(14, dtype=getattr(t, out))))
        return found
    assert answers(weir) == answers(torch)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_wider_out_gets_what_halves_hold(dtype):
    def answers(t):
        x, out = halves(t, dtype), t.empty(14, dtype=t.float64)
        return [bits(f(x, out=out)) for f in (t.sqrt, t.reciprocal, lambda x, out: t.mul(x, x, out=out), lambda x, out: t.addcmul(x, x, x, out=out))]
    assert answers(weir) == answers(torch)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("number", NUMBERS)
def test_gradients_beside_halves(dtype, number):
    def answers(t):
        found = {}
        for name, f in (SIGNS | ONE_SIDED | {name: THREE[name] for name in ("addcmul value", "lerp")}).items():
            if name == "floordiv":
                continue
            x = halves(t, dtype).abs().requires_grad_()
            f(t, x, number).sum().backward()
            found[name] = bits(x.grad)
        for name in ("add", "sub", "mul", "truediv", "pow"):
            x = halves(t, dtype).abs().requires_grad_()
            SIGNS[name](t, abs(number), x).sum().backward()
            found[name, "first"] = bits(x.grad)
        return found
    expected, got = answers(torch), answers(weir)
    assert {key: (got[key], answer) for key, answer in expected.items() if got[key] != answer} == {}


@pytest.mark.parametrize("dtype", HALVES)
def test_a_plan_computes_alike(dtype):
    x = halves(weir, dtype)
    for f in (*SIGNS.values(), *ONE_SIDED.values()):
        for step in (lambda x: f(weir, x * 1, 2.0039) * 1, lambda x: f(weir, x, 1 / 3)):
            assert bits(weir.compile(step)(x)) == bits(step(x))


ODD = (0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 65504.0, -65504.0, 6e-8, -6e-8, 0.001, 300.0)


@pytest.mark.parametrize("dtype", HALVES)
def test_steps_and_whole_quotients_of_halves(dtype):
    def answers(t):
        odd = t.tensor(ODD, dtype=getattr(t, dtype))
        x, y = (t.sin(t.arange(0.0, 3000.0) * by).mul(size).to(getattr(t, dtype)) for by, size in ((1.75, 10), (0.75, 1)))
        found = {}
        for name, f in (("nextafter", t.nextafter), ("floor_divide", t.floor_divide), *((mode, lambda a, b, mode=mode, **out: t.div(a, b, rounding_mode=mode, **out)) for mode in ("trunc", "floor"))):
            found[name] = [bits(r) for r in (f(odd[:, None].expand(13, 13), odd.expand(13, 13)), f(odd, odd[2:3]), f(odd[2:3], odd), f(x, y), f(x[::3], y[1::3]))]
            found[name, "out"] = bits(f(x, y, out=t.empty(3000)))
            found[name, "kinds"] = bits(f(x, t.arange(1, 3001))) if name != "nextafter" else bits(t.nextafter(x, t.tensor(0.3)))
        found["in place"] = [bits(getattr(odd.clone(), name)(odd.flip(0))) for name in ("nextafter_", "floor_divide_")]
        return found
    assert answers(weir) == answers(torch)


@pytest.mark.parametrize("dtype", HALVES)
def test_plans_divide_and_step_alike(dtype):
    odd = weir.tensor(ODD, dtype=getattr(weir, dtype))
    for f in (weir.nextafter, weir.floor_divide, lambda a, b: weir.div(a, b, rounding_mode="trunc")):
        step = lambda a, b: f(a * 1, b * 1)  # noqa: E731
        assert bits(weir.compile(step)(odd, odd.flip(0))) == bits(step(odd, odd.flip(0)))


@pytest.mark.parametrize("lambd", [0.3, 0.1, 0.7001, 1e-9])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_hardshrink_compares_with_a_half(dtype, lambd):
    def answers(t, call):
        x = (t.tensor([lambd, -lambd, lambd * 1.01, 0.0, float("nan")], dtype=t.float64).to(getattr(t, dtype))).repeat(7).requires_grad_()
        y = call(x)
        y[x.isfinite()].sum().backward()
        return bits(y), bits(x.grad)

    class Plan(weir.nn.Graph):
        def build(self, x):
            return weir.hardshrink(x * 1, lambd) * 1

    expected = answers(torch, lambda x: torch.hardshrink(x, lambd))
    assert answers(weir, lambda x: weir.hardshrink(x, lambd)) == expected
    with weir.no_grad():
        x = weir.tensor([lambd, -lambd, lambd * 1.01, 0.0], dtype=weir.float64).to(getattr(weir, dtype))
        assert bits(Plan()(x)) == bits(weir.hardshrink(x, lambd))
