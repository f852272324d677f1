"""Steps of fused groups that run as stages (framework/kernels/cpu/stages.h) leave the bits that eager mode leaves: random programs of short formulas, alone
and among others, with numbers on either side, broadcast operands, half precision, and counts of elements that fill no whole block."""

import random

import pytest
import weir
from weir.nn import functional as F

SHORT = [weir.neg, weir.abs, weir.square, weir.sqrt, weir.rsqrt, weir.reciprocal, weir.relu, weir.sign, weir.floor, weir.frac, F.hardswish, F.hardsigmoid,
         F.leaky_relu, weir.nan_to_num, weir.deg2rad, lambda x: x.clamp(-0.5, 2), lambda x: x.clamp(min=-1), lambda x: F.threshold(x, 0.1, 3.0), weir.isinf]
LONG = [weir.exp, weir.tanh, weir.sigmoid, F.gelu, lambda x: x ** 2.5]
WITH_NUMBER = [lambda x, n: x + n, lambda x, n: x * n, lambda x, n: n - x, lambda x, n: n / x, lambda x, n: x / n, lambda x, n: weir.add(x, n, alpha=3),
               lambda x, n: x > n]
OF_TWO = [weir.add, weir.sub, weir.mul, weir.div, weir.maximum, weir.minimum, weir.copysign, lambda x, y: x * x, lambda x, y: weir.sub(x, y, alpha=0.3),
          lambda x, y: weir.where(x > y, x, y), lambda x, y: (y - x) / y, lambda x, y: weir.atan2(x, y)]
TO_OTHERS = [lambda x: x.bfloat16(), lambda x: x.half(), lambda x: x.float(), lambda x: x.double()]
SHAPES = [(64,), (65,), (127,), (1000,), (5000,), (33, 65), (3, 700), (40, 64), (2, 9, 130), (260, 8)]


class Program:
    """Steps that a seed chooses, so that every call does the same."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, *given):
        rng = random.Random(self.seed)
        pool = list(given)
        whole = given[0].shape
        newest = pool[0]
        for _ in range(rng.randint(2, 16)):
            x = newest if rng.random() < 0.7 else rng.choice(pool)
            newest = self.step(rng, x, rng.choice(pool))
            if newest.dtype == weir.bool:
                newest = newest.float()
            pool.append(newest)
        made = pool[len(given):]
        return [t for t in {id(t): t for t in [newest, rng.choice(made), rng.choice(made)]}.values() if t.shape == whole] or [newest + given[0]]

    def step(self, rng, x, y):
        kind = rng.random()
        if kind < 0.35:
            return rng.choice(SHORT)(x)
        if kind < 0.45:
            return rng.choice(LONG)(x)
        if kind < 0.65:
            return rng.choice(WITH_NUMBER)(x, rng.choice([0.75, -2, 3.0]))
        if kind < 0.92:
            return rng.choice(OF_TWO)(x, y)
        return rng.choice(TO_OTHERS)(x)


def operands(seed):
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    weir.manual_seed(seed)
    kinds = [weir.float32, weir.float32, weir.float32, weir.bfloat16, weir.float16]
    broadcast = [shape, shape, shape[-1:], (*shape[:-1], 1), ()]
    return [weir.randn(shape).to(rng.choice(kinds)), *(weir.randn(rng.choice(broadcast)).to(rng.choice(kinds)) for _ in range(3))]


def assert_same(got, expected):
    assert got.dtype == expected.dtype and got.stride() == expected.stride()
    whole_numbers = {1: weir.uint8, 2: weir.int16, 4: weir.int32, 8: weir.int64}[got.element_size()]
    assert ((got.view(whole_numbers) == expected.view(whole_numbers)) | (got.isnan() & expected.isnan())).all()


@pytest.mark.parametrize("seed", range(600))
def test_random_program(seed):
    program, given = Program(seed), operands(seed)
    with weir._trace.tracing() as trace:
        plan = weir._C._Plan(trace.finish(program(*trace.arguments(given))))
    plan.graph.check()
    for got, expected in zip(plan.run(given), program(*given), strict=True):
        assert_same(got, expected)


@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16])
@pytest.mark.parametrize("shape", [(4_500_003,), (1024, 4160)])
def test_results_past_the_caches(shape, dtype):
    """Results so large go from registers to memory, those that a step reads again and halves by way of a tile."""
    def f(x, row):
        y = (x * 1.5 + row).relu()
        z = y.square() - 1
        return z.abs() + y, z
    x, row = weir.randn(shape).to(dtype), weir.randn(shape[-1:]).to(dtype)
    with weir._trace.tracing() as trace:
        plan = weir._C._Plan(trace.finish(list(f(*trace.arguments([x, row])))))
    assert [plan.graph.node(i)["op"] for i in range(len(plan.graph))] == ["fused"]
    for got, expected in zip(plan.run([x, row]), f(x, row), strict=True):
        assert_same(got, expected)


def test_every_byte_but_zero_is_a_truth():
    truths = weir.arange(1000).remainder(3).to(weir.uint8).view(weir.bool)
    x = weir.randn(1000)

    def f(truths, x):
        return weir.where(truths, x * 2, x.abs()) * truths
    with weir._trace.tracing() as trace:
        plan = weir._C._Plan(trace.finish([f(*trace.arguments([truths, x]))]))
    assert_same(plan.run([truths, x])[0], f(weir.arange(1000).remainder(3) > 0, x))


@pytest.mark.parametrize("dtype", [weir.bfloat16, weir.float16])
def test_roundings(dtype):
    """Numbers of every exponent, beside the middle between two of `dtype`, infinities and NaN."""
    upper = weir.arange(1 << 16).unsqueeze(1) << 16
    x = (upper + weir.tensor([0, 1, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF])).int().view(weir.float32)

    def f(x):
        return x.neg().to(dtype).float().neg()
    with weir._trace.tracing() as trace:
        plan = weir._C._Plan(trace.finish([f(*trace.arguments([x]))]))
    assert_same(plan.run([x])[0], x.to(dtype).float())
