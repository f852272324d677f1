"""Formulas over other ops, element by element, against PyTorch's. Kernel: framework/kernels/cpu/elementwise.cpp."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

A, B = torch.randn(3, 4), torch.randn(4)
INTS = torch.arange(-2, 4)
WILD = torch.tensor([0.0, -0.0, 1.0, -0.75, 2.0**-140, 3e38, float("inf"), float("-inf"), float("nan")])

CALLS = {
    "clamp_min": (lambda t, a: t.clamp_min(a, 0.1), A), "clamp_min by a tensor": (lambda t, a, b: t.clamp_min(a, b), A, B), "clamp_min_": (lambda t, a: (a * 1).clamp_min_(0), A),
    "clamp_max": (lambda t, a: a.clamp_max(0.1), A), "clamp_max_ by a tensor": (lambda t, a, b: (a * 1).clamp_max_(b), A, B), "clamp_max of integers": (lambda t, a: a.clamp_max(1.5), INTS),
    "clamp_min of nothing": (lambda t, a: a.clamp_min(), A),
    "rsub": (lambda t, a, b: t.rsub(a, b, alpha=2), A, B), "rsub of a number": (lambda t, a: t.rsub(a, 3), A), "rsub of bools": (lambda t, a: t.rsub(a > 0, True), INTS),
    "float_power": (lambda t, a: t.float_power(a.abs(), 1.5), A), "float_power of integers": (lambda t, a: t.float_power(a, 2), INTS), "float_power of a number": (lambda t, a: t.float_power(2, a), A),
    "float_power of complex": (lambda t, a: t.float_power(a, 1j), A.abs()), "float_power_": (lambda t, a: (a.double() * 1).float_power_(2), A),
    "ldexp": (lambda t, a, b: t.ldexp(a, b), A, torch.tensor([1, 0, 3, 5])), "ldexp_": (lambda t, a, b: (a * 1).ldexp_(b), A, B), "ldexp by truths": (lambda t, a: t.ldexp(a, a > 0), INTS), "ldexp of fractions by truths": (lambda t, a: t.ldexp(a, a > 0), A),
    "ldexp by a number": (lambda t, a: t.ldexp(a, 2), A),
    "frexp": (lambda t, a: t.frexp(a), A), "frexp turned": (lambda t, a: t.frexp(a.t()), A), "frexp of gaps": (lambda t, a: t.frexp(a[:, ::2]), A), "frexp of wild ones": (lambda t, a: t.frexp(a), WILD),
    "frexp of halves": (lambda t, a: t.frexp(a.half()), A.detach()), "frexp of integers": (lambda t, a: t.frexp(a), INTS),
    "frexp of small ones": (lambda t, a: [y for d, s in ((t.float32, 1e-40), (t.float64, 1e-310), (t.float16, 1e-6), (t.bfloat16, 1e-39)) for y in t.frexp(a.to(d) * s)], A.detach()),
    "frexp of wild doubles and halves": (lambda t, a: [*t.frexp(a.double()), *t.frexp(a.half()), *t.frexp(a.bfloat16())], WILD),
    "multigammaln": (lambda t, a: t.special.multigammaln(a.abs() + 2, 3), A), "mvlgamma_": (lambda t, a: (a.abs() + 2).mvlgamma_(2), A), "mvlgamma of none": (lambda t, a: t.mvlgamma(a, 0), A),
    "isclose": (lambda t, a, b: t.isclose(a, b + 1e-6, rtol=1e-3), A, B), "isclose of wild ones": (lambda t, a: t.isclose(a, a), WILD), "isclose of NaN": (lambda t, a: t.isclose(a, a, equal_nan=True), WILD),
    "isclose exactly": (lambda t, a: t.isclose(a, a + 1, 0, 0), INTS), "isclose of integers": (lambda t, a: t.isclose(a, a + 1, atol=1.0), INTS), "isclose of other dtypes": (lambda t, a: t.isclose(a, a.double()), A),
    "isclose within less than nothing": (lambda t, a: t.isclose(a, a, rtol=-1.0), A),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(call, *(x.clone().requires_grad_() if x.is_floating_point() and "wild" not in name else x for x in inputs), order=1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_ldexp_moves_by_whole_exponents_beyond_its_dtype(dtype):
    x = torch.tensor([1.0, -1.5, 0.0, 3e-5, float("inf")], dtype=dtype)
    for exponent in (-1000, -140, -20, 0, 3, 15, 127, 128, 200, 1023, 1024, 2000):
        assert_same(lambda t, x: t.ldexp(x, t.tensor([exponent])), x, rtol=0, atol=0, what=f"{dtype} {exponent}")
    assert_same(lambda t, x: t.ldexp(t.ldexp(x, t.tensor(-120)), t.tensor([200])), x.float(), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("exponent", [0.5, -0.5, torch.tensor(0.5), torch.tensor([-0.5])])
def test_a_power_to_the_number_one_half_is_a_root(dtype, exponent):
    x = torch.tensor([0.0, -0.0, 4.0, -2.0, float("inf"), float("nan"), *([] if dtype.is_complex else [float("-inf")])], dtype=dtype)
    assert_same(lambda t, x, e: [t.pow(x, e), x ** e, t.float_power(x, e), x.clone().pow_(e), 1 / t.pow(x, e)], x, exponent, atol=0, what=f"{dtype} {exponent}")


def test_a_traced_power_to_one_half_is_a_root_too():
    class Roots(weir.nn.Graph):
        def build(self, x):
            return (x * 2) ** 0.5 + 1, (x - 1) ** -0.5 * 3

    x = weir.tensor([0.0, -0.0, 4.0, float("-inf"), -3.0])
    for made, wanted in zip(Roots()(x), (weir.sqrt(x * 2) + 1, weir.rsqrt(x - 1) * 3)):
        assert weir.equal(weir.isnan(made), weir.isnan(wanted)) and weir.equal(weir.nan_to_num(made), weir.nan_to_num(wanted))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize("base", [2, 4, 0.3, -2, 0])
def test_the_logarithm_of_a_number_has_the_digits_of_double_precision(dtype, base):
    e = torch.tensor([3.0, 1.0, -0.5, 0.7], dtype=dtype, requires_grad=True)
    digits = {"rtol": 1e-13, "atol": 0} if dtype == torch.float64 else {}
    assert_same(lambda t, e: [t.pow(base, e), t.float_power(base, e)], e, **digits)


@pytest.mark.parametrize("call", [lambda t, x: t.pow(x, 128), lambda t, x: x ** -129, lambda t, x: t.pow(x, 127), lambda t, x: t.pow(300, x)])
def test_an_exponent_of_whole_numbers_fits_their_dtype(call):
    assert_same(call, torch.ones(3, dtype=torch.int8))


@pytest.mark.parametrize("exponent", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
@pytest.mark.parametrize("base", [torch.complex64, torch.complex128, torch.bfloat16, torch.float64, torch.int64])
@pytest.mark.parametrize("axes", [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_ldexp_has_powers_of_its_first_operands_dtype(base, exponent, axes):
    x, e = torch.tensor([3.0]).to(base), torch.tensor([0.3]).to(exponent)
    assert_same(lambda t, x, e: t.ldexp(x, e), x if axes[0] else x[0], e if axes[1] else e[0], rtol=1e-6)


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float32), (torch.int64, torch.int64), (torch.float32, torch.int64), (torch.bool, torch.bool)])
def test_strides_of_ldexp(dtypes):
    layouts = [((2, 3), (3, 1)), ((2, 3), (1, 2)), ((2, 3), (0, 1)), ((1, 3), (3, 1)), ((3,), (2,)), ((), ())]
    made = lambda t, layout, dtype: t.ones(12).to(dtype).as_strided(*layout)  # noqa: E731
    for one in layouts:
        for other in layouts:
            strides = []
            for t in (torch, weir):
                try:
                    strides.append(t.ldexp(*(made(t, at, getattr(t, str(d).split(".")[1])) for at, d in zip((one, other), dtypes))).stride())
                except NotImplementedError:
                    strides.append("refused")
            assert strides[0] == strides[1], (one, other)


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (float("nan"), 1.0), (-1.0, float("nan")), (float("nan"), float("nan"))])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_bound_of_hardtanh_that_is_nan(bounds, dtype):
    assert_same(lambda t, x: t.nn.functional.hardtanh(x, *bounds), torch.tensor([-2.0, 0.5, 3.0, float("nan"), float("inf")], dtype=dtype, requires_grad=True), order=1)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64"])
@pytest.mark.parametrize("bounds", [(-0.5, 2.5), (-0.9, -0.1), (-1.5, 1.5), (0.5, 300), (-128.5, 127.5)])
def test_hardtanh_of_whole_numbers_takes_whole_bounds(bounds, dtype):
    assert_same(lambda t, x: t.nn.functional.hardtanh(x, *bounds), torch.tensor([0, 1, 2, 100], dtype=getattr(torch, dtype)), what=f"{bounds}")


@pytest.mark.parametrize("sizes, strides", [((2, 2, 1), (2, 1, 1)), ((2, 1), (1, 1)), ((2, 3), (3, 1)), ((2, 3), (1, 2)), ((2, 3), (6, 2)), ((3, 2), (0, 1)), ((), ()), ((0, 2), (2, 1))])
def test_strides_of_isinf_of_complex_numbers(sizes, strides):
    made = [t.isinf(t.ones(12, dtype=t.complex64).as_strided(sizes, strides)) for t in (torch, weir)]
    assert made[0].stride() == made[1].stride() and not made[1].any()


@pytest.mark.parametrize("number", [False, True, 0, 2, 2**63, 2**64 - 1, 0.5, 1j])
def test_numbers_of_float_power_have_a_fraction(number):
    for x in (torch.tensor([0, 1, 2], dtype=torch.uint8), torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([0.0, 1.0, float("inf"), float("nan")], dtype=torch.float16, requires_grad=True)):
        assert_same(lambda t, x: t.float_power(x, number), x, order=1, what=f"{x} {number}")
        assert_same(lambda t, x: t.float_power(number, x.detach()), x, what=f"{number} {x}")


@pytest.mark.parametrize("alpha", [-1, 0, 1, 3, True, -2**63])
def test_a_sum_of_truths_is_one(alpha):
    one, other = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    assert_same(lambda t, a, b: t.add(a, b, alpha=alpha), one, other)
    assert_same(lambda t, a: t.add(a, True, alpha=alpha), one)
    for dtype in ("bool", "uint8", "int64", "float32"):
        assert_same(lambda t, a, b: t.add(a, b, alpha=alpha, out=t.zeros(4, dtype=getattr(t, dtype))), one, other, what=dtype)


@pytest.mark.parametrize("bounds", [(-1, 4), (-255, 4), (3, -2), (-1, -1), (2, 250)])
def test_a_threshold_below_zero_wraps_around_beside_bytes(bounds):
    x = torch.tensor([0, 1, 5, 200, 255], dtype=torch.uint8)
    assert_same(lambda t, x: t.threshold(x, *bounds), x)
    assert_same(lambda t, x: t.threshold(x, *bounds, out=t.zeros(5, dtype=t.int64)), x)
    assert_same(lambda t, x: t.threshold(x.to(t.int32), *bounds), x)


@pytest.mark.parametrize("bound", [2**53, 2**53 + 1, -2**63, 2**63 - 1, 2.5])
@pytest.mark.parametrize("value", [2**53 + 3, -2**63, 2**63 - 1, 3])
def test_a_threshold_of_whole_numbers_is_exact(bound, value):
    x = torch.tensor([0, 2**53, 2**53 + 1, 2**53 + 2, -2**63, 2**63 - 1])
    assert_same(lambda t, x: t.threshold(x, bound, value), x)
    assert_same(lambda t, x: t.threshold_(x.clone(), bound, value), x)
    assert_same(lambda t, x: t.threshold(x.double(), bound, value), x)


@pytest.mark.parametrize("bounds", [(-1.0, 4), (4, -2.0), (256, 0), (0, 300), (2**63, 0), (float("nan"), 0), (True, False)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_a_threshold_beyond_the_dtype_is_refused(bounds, dtype):
    assert_same(lambda t, x: t.threshold(x, *bounds), torch.tensor([0, 1, 5, 100], dtype=dtype))


def test_bounds_of_clamp_that_are_nan_have_no_gradient():
    values = [0.0, 1.0, 2.0, float("inf"), float("-inf"), float("nan")]
    x, low, high = (v.contiguous().double().requires_grad_() for v in torch.cartesian_prod(*[torch.tensor(values)] * 3).unbind(1))
    assert_same(lambda t, *v: t.clamp(*v), x, low, high, order=1)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_second_derivatives_of_a_length_cancel_as_theirs(dtype):
    found = []
    for t in (torch, weir):
        x = t.tensor([0.93, 0.235, -2.0, 0.0112, 5.5]).to(getattr(t, dtype)).requires_grad_()
        slope, = t.autograd.grad(t.hypot(x, x), x, t.tensor([-0.5, 1.25, 0.75, -1.0, 2.0]).to(x.dtype), create_graph=True)
        found.append(t.autograd.grad(slope, x, t.ones_like(x))[0].tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "fmax", "fmin", "clamp_min", "clamp_max", "clamp", "add"])
@pytest.mark.parametrize("number", [258, -4, 250])
def test_a_tensor_without_axes_wraps_around_to_the_dtype_of_one_with(name, number):
    for x in (torch.tensor([2, 3, 250], dtype=torch.uint8), torch.tensor([2, -6, 100], dtype=torch.int8)):
        for dtype in (torch.int16, torch.int64):
            assert_same(lambda t, x, n: getattr(t, name)(x, n), x, torch.tensor(number, dtype=dtype), what=name)
            assert_same(lambda t, x, n: getattr(t, name)(n, x), x, torch.tensor(number, dtype=dtype), what=name)
        assert_same(lambda t, x: getattr(t, "lt" if name.startswith(("max", "min", "fm")) else name)(x, number if name != "add" else 1), x, what=name)


def test_a_byte_wraps_around_to_a_signed_one():
    assert_same(lambda t, x, n: t.maximum(x, n), torch.tensor([2, -128], dtype=torch.int8), torch.tensor(250, dtype=torch.uint8))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_ldexp_reads_exponents_as_int32(dtype):
    assert_same(lambda t, x, e: t.ldexp(x, e), torch.ones(5, dtype=dtype), torch.tensor([2**40, 300, 2**31, -(2**63), 2]))


def test_ldexp_of_nothing_keeps_its_dtype_beside_an_exponent_without_axes():
    assert_same(lambda t, x, e: t.ldexp(x, e), torch.ones(0, 2), torch.tensor(3.0, dtype=torch.float64))


@pytest.mark.parametrize("axes", [(), (6,)])
def test_the_gradient_of_an_exponent_of_halves_is_rounded_once(axes):
    """Powers are rounded to the exponents' dtype, as in PyTorch (framework/ops/straight_through.cpp and its kernel framework/kernels/cpu/straight_through.cpp); their gradient, and its derivative, are double precision's but for one rounding."""
    rng = torch.manual_seed(0)
    x, e = torch.randn(6, generator=rng), torch.randn(axes, generator=rng).bfloat16()
    assert weir.equal(weir.ldexp(to_weir(x), to_weir(e)), to_weir(torch.ldexp(x, e)))

    def derivatives(t, x, e):
        x, e = x.requires_grad_(), e.requires_grad_()
        grads = t.autograd.grad(t.ldexp(x, e), [x, e], t.arange(1, 7).to(x.dtype), create_graph=True)
        return [torch.tensor(g.tolist(), dtype=torch.float64) for g in (grads[1], t.autograd.grad(grads, [x, e], [t.ones_like(g) for g in grads])[1])]

    for found, exact in zip(derivatives(weir, to_weir(x), to_weir(e)), derivatives(torch, x.double(), e.double())):
        assert ((found - exact).abs() <= 2**-8 * exact.abs()).all()
