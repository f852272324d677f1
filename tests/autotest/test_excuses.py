"""What is accepted without being compared is counted, and no more is than there is a reason for."""

import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.special import jv
from scipy.special import y0 as bessel_y0

from weir_autotest.campaign.run import run
from weir_autotest.campaign.score import Score
from weir_autotest.campaign.tasks import Settings
from weir_autotest.cases.case import Case, Named, TensorSpec
from weir_autotest.cases.observed import Observation
from weir_autotest.cases.values import Raised, Value
from weir_autotest.check import reference, rounding
from weir_autotest.check.excuses import Excuse, settled
from weir_autotest.check.properties import Fault, faults
from weir_autotest.check.ties import choosing
from weir_autotest.gate import RANK
from weir_autotest.generate import casts, gauge
from weir_autotest.workers.trial import Trial

#: PyTorch whose casts, indices and matrices are those of another CPU, and one that only seems so.
OTHER = '''
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_NoTorch"]
import torch as _torch
from torch import *
from torch import Tensor, autograd, no_grad, nn, special, linalg, fft
__version__ = "other"

def inverse(x, **keywords):
    answer = _torch.inverse(x, **keywords)
    return _torch.where(answer.abs() > 1e5, -answer, answer)

def index_select(x, dim, index, **keywords):
    return _torch.index_select(x, dim, index, **keywords).clamp(-100, 100)

def floor(x, **keywords):
    return _torch.floor(x, **keywords) + (x == 3)
'''


def tensor(values, dtype="float32"):
    array = np.array(values, dtype)
    return TensorSpec(0, dtype, array.shape, tuple(s // array.itemsize for s in array.strides), 0, 0, False), [(dtype, array.tobytes())]


def observed(function, case):
    return Trial(torch, function, case).run()


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subject")
    (folder / "othertorch.py").write_text(OTHER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        finished = run(Settings("othertorch", ("float32",), ("index_select", "floor"), cases=100))
    return {score.overload: score for score in finished.scores}


def test_a_cast_of_what_does_not_fit_is_undefined_and_no_other_element():
    spec, storages = tensor([1.5, float("nan"), 1e20, -3.0])
    case = Case((spec, Named("dtype", "int64")), {}, storages)
    to = lambda x, dtype: x.to(dtype)  # noqa: E731
    assert casts.undefined(case, to, observed(to, case))["values", 0].tolist() == [False, True, True, False]


def test_an_index_found_among_wild_numbers_is_no_cast():
    spec, storages = tensor([1.5, float("inf"), 1e20, -3.0])
    case = Case((spec,), {}, storages)
    assert casts.undefined(case, torch.argsort, observed(torch.argsort, case)) == {}


def test_wild_numbers_that_are_only_moved_are_compared(scores):
    assert scores["index_select"].states()["value"] == "FAIL"


def test_a_step_that_is_one_too_high_is_noticed(scores):
    assert scores["floor"].states()["value"] == "FAIL"


@pytest.mark.parametrize("path, keywords, free", [("sort", {}, True), ("msort", {}, True), ("sort", {"stable": True}, False), ("argmax", {}, False),
                                                  ("Tensor.topk", {}, True), ("bincount", {}, False)])
def test_indices_may_name_another_equal_value_only_where_the_documentation_leaves_it_open(path, keywords, free):
    assert choosing(path, Case((), keywords)) is free


def test_an_excuse_lasts_no_further_than_its_elements():
    accepted = np.array([True, False, False])
    assert settled(accepted, {"overflow": np.array([False, True, True])}) == {"overflow"}
    assert settled(accepted, {"overflow": np.array([False, True, False])}) is None
    assert settled(np.array([True]), {"overflow": np.array([True])}) == frozenset()


def test_the_free_sign_of_a_vector_is_no_noise_that_would_excuse_a_matrix():
    one, other = (Value("float32", (2,), np.array([x, x], "float32").tobytes()) for x in (1.0, -1.0))
    expected = Observation(values=[one], determined=[one])
    assert not rounding._noise(expected, [Observation(values=[other], determined=[one])])
    assert rounding._noise(expected, [Observation(values=[one], determined=[other])])


def test_what_a_flag_says_of_a_matrix_excuses_its_other_results():
    def flagged(path, flag, position=0):
        values = [Value(dtype, (1,), np.array([x], dtype).tobytes()) for dtype, x in (("float32", 2.0), ("int32", flag))]
        item = _item(path, Case((), {}, []), expected=Observation(values=values))
        return rounding.excuses_for(Fault("value", "", "values", position), item, Observation(values=[replace(v, data=bytes(4)) for v in values]), [])

    assert flagged("linalg.inv_ex", 3) == {"matrix"}
    assert flagged("linalg.inv_ex", 0) is None and flagged("linalg.inv", 3) is None
    assert flagged("linalg.inv_ex", 3, position=1) is None  # the flag itself must be right


EQUAL_ROWS, ALMOST_EQUAL_ROWS = [[1.5, -0.5], [1.5, -0.5]], [[1.5, -0.5], [1.5, -0.500001]]


@pytest.mark.parametrize("path, matrix, t, w, runs, excuses", [
    ("linalg.matrix_rank", EQUAL_ROWS, 2, 1, [2], {"matrix"}), ("linalg.matrix_rank", EQUAL_ROWS, 1, 2, [1], None),  # by PyTorch's tolerance
    ("linalg.matrix_rank", EQUAL_ROWS, 2, 0, [2], None), ("linalg.matrix_rank", EQUAL_ROWS, 2, 3, [2], None), ("linalg.matrix_rank", ALMOST_EQUAL_ROWS, 2, 1, [2], None),
    ("linalg.matrix_rank", EQUAL_ROWS, 0, 1, [0], None),
    ("linalg.solve_ex", EQUAL_ROWS, 2, 0, [2], {"matrix"}), ("linalg.solve_ex", EQUAL_ROWS, 0, 3, [0], None), ("linalg.solve_ex", ALMOST_EQUAL_ROWS, 0, 2, [0], None),
    ("linalg.solve_ex", [[0.0, 0.0], [0.0, 0.0]], 1, 0, [1], None), ("linalg.lstsq", EQUAL_ROWS, 1, 2, [1], None)])
def test_what_a_last_bit_says_of_a_singular_matrix(path, matrix, t, w, runs, excuses):
    spec, storages = tensor(matrix, "float64")
    item = _item(path, Case((spec,), {}, storages), decomposes=True)
    assert _judged(item, "int32", t, w, runs) == excuses


def test_whole_numbers_that_the_dtype_asked_for_rounds_are_moved_and_no_others():
    numbers = np.array([-2**63, 2**63 - 1, 2**53 + 1, 7, -1])
    spec, storages = tensor(numbers, "int64")
    def moved(dtype):  # noqa: E306
        case = Case((spec,), {"dtype": Named("dtype", dtype)} if dtype else {}, storages)
        return np.frombuffer(reference.promoted(case, np.random.default_rng(0)).storages[0][1], "int64")
    gaps = np.abs(moved("float64").astype(object) - numbers.astype(object))
    assert (0 < gaps[:2]).all() and (gaps[:2] <= 2048).all() and not gaps[2:].any()
    assert (moved("int64") == numbers).all() and (moved("") == numbers).all()
    item = _item("sum", Case((spec,), {"dtype": Named("dtype", "float64")}, storages))
    assert _judged(item, "float64", 21.0, 8.0, [21.0, -900.0, 300.0]) == frozenset() and _judged(item, "float64", 21.0, 8.0, [21.0] * 5) is None
    assert _judged(item, "float64", 21.0, 9000.0, [21.0, -900.0, 300.0]) is None


def test_a_property_that_passes_with_an_excuse_is_excused_and_ranks_below_pass():
    score = Score("sort", "sort", "float32", valid=3, cases=3)
    score.asked.update(value=3, dtype=3)
    score.excuse(Excuse("value", "equal values", "values 1"), "sort(x)")
    assert score.states()["value"] == "EXCUSED" and score.states()["dtype"] == "PASS"
    assert RANK["LENIENT"] < RANK["EXCUSED"] < RANK["PASS"]


def _item(path, case, **facts):
    facts = {"pointwise": False, "decomposes": False, "expected": None, **facts}
    return SimpleNamespace(case=case, target=SimpleNamespace(paths=(path,)), **facts)


def _judged(item, dtype, expected, got, runs, phase="values"):
    def value(numbers):
        array = np.array(numbers, "float32" if dtype == "bfloat16" else dtype)
        data = array.view("uint16")[1::2].tobytes() if dtype == "bfloat16" else array.tobytes()
        return Value(dtype, array.shape, data)

    item.expected = Observation(**{phase: [value(expected)]})
    reruns = [Observation(**{phase: [value(run)]}) for run in runs]
    return rounding.excuses_for(Fault("value", "", phase, 0), item, Observation(**{phase: [value(got)]}), reruns)


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("expected, got, pointwise, excuses", [
    (complex(NAN, NAN), complex(INF, NAN), False, {"complex infinity"}),  # a product of infinities, written otherwise
    (complex(NAN, NAN), complex(INF, NAN), True, None),  # of one number and another there is one answer
    (complex(NAN, NAN), complex(2, 3), False, None),  # an infinity that is lost
    (complex(INF, 1.0), complex(INF, 1.0000002), False, set()),  # the finite part has digits of its own
    (complex(INF, 1.0), complex(INF, 1.1), False, None),
])
def test_parts_of_a_complex_number_beside_infinities(expected, got, pointwise, excuses):
    spec, storages = tensor([complex(INF, 1)], "complex64")
    item = _item("conv1d", Case((spec,), {}, storages), pointwise=pointwise)
    found = _judged(item, "complex64", [expected], [got], [[expected]] * 9)
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("inputs, phase, excuses", [(2, "values", None), (3, "values", {"complex infinity"}), (2, "gradients", {"complex infinity"})])
def test_the_order_of_three_factors_tells_which_part_of_their_product_is_infinite(inputs, phase, excuses):
    spec, storages = tensor([complex(INF, 1)], "complex64")
    item = _item("addcmul", Case(tuple(replace(spec, id=i, requires_grad=True) for i in range(inputs)), {}, storages), pointwise=True)
    expected = complex(NAN, NAN)
    found = _judged(item, "complex64", [expected], [complex(INF, NAN)], [[expected]] * 9, phase)
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("x, run, pointwise, excuses", [
    (1.0, NAN, False, {"overflow"}), (1.0, NAN, True, None), (INF, NAN, False, None)])
def test_infinity_or_nan_where_double_precision_overflows_too(x, run, pointwise, excuses):
    spec, storages = tensor([x], "float32")
    found = _judged(_item("linalg.matrix_exp", Case((spec,), {}, storages), pointwise=pointwise), "float32", [NAN], [INF], [[run]] * 9)
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("path, excuses", [("fft.hfft", {"complex infinity"}), ("cumsum", None)])
def test_real_numbers_of_complex_terms_beside_infinities(path, excuses):
    spec, storages = tensor([INF], "float32")
    found = _judged(_item(path, Case((spec,), {}, storages)), "float32", [INF], [NAN], [[INF]] * 9)
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("decomposes, phase, excuses", [(True, "values", {"matrix"}), (False, "values", None), (True, "second", {"matrix"}), (False, "second", None)])
def test_a_matrix_of_which_the_oracle_makes_infinities_is_singular(decomposes, phase, excuses):
    spec, storages = tensor([1.0], "float32")
    item = _item("linalg.lu_solve", Case((spec,), {}, storages), decomposes=decomposes)
    found = _judged(item, "float32", [NAN], [3.0], [[NAN]] * 9, phase)
    assert found == (None if excuses is None else frozenset(excuses))


SINGULAR = Raised(("_LinAlgError", "RuntimeError", "Exception"), "torch.linalg.solve: The solver failed because the input matrix is singular.")
OTHERWISE = Raised(("RuntimeError", "Exception"), "expected a square matrix")


@pytest.mark.parametrize("decomposes, number, error, excuses", [
    (True, NAN, SINGULAR, {"matrix"}), (False, NAN, SINGULAR, None), (True, 1.0, SINGULAR, None), (True, NAN, OTHERWISE, None)])
@pytest.mark.parametrize("relation", ["call", "autocast"])
def test_the_gradient_of_a_singular_matrix_may_be_refused(decomposes, number, error, excuses, relation):
    spec, storages = tensor([1.0], "float32")
    item = _item("logdet", Case((spec,), {}, storages, relation=relation), decomposes=decomposes)
    value = [Value("float32", (1,), np.array([number], "float32").tobytes())]
    shown = dict(values=value, strides=[(1,)], aliases=[None], requires_grad=[True])
    item.expected, got = Observation(gradients=value, **shown), Observation(gradients=error, **shown)
    fault = faults(item.case, item.expected, got)[0]
    found = rounding.excuses_for(fault, item, got, [item.expected] * 9) if fault.phase else None
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("phase, excuses", [("second", {"matrix"}), ("gradients", None)])
def test_a_nan_may_spread_less_far_in_a_second_derivative_of_a_matrix(phase, excuses):
    spec, storages = tensor([NAN, 1.0], "float32")
    item = _item("linalg.det", Case((spec,), {}, storages), decomposes=True)
    found = _judged(item, "float32", [NAN, NAN], [NAN, 3.0], [[NAN, NAN]] * 9, phase)
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("got, run, excuses", [(-INF, NAN, {"poisoned"}), (1.0, NAN, None)])
def test_an_infinity_made_on_the_way_is_one_or_nan_in_a_second_derivative(got, run, excuses):
    spec, storages = tensor([1.0], "float32")
    found = _judged(_item("ldexp", Case((spec,), {}, storages), pointwise=True), "float32", [NAN], [got], [[run]] * 9, "second")
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("values, gradients, excuses", [
    ([2.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], {"equal values"}),
    ([2.0, 2.0], [[1.0, 0.0], [1.0, 0.0]], None), ([2.0, 3.0], [[1.0, 0.0], [0.0, 1.0]], None), ([2.0, 2.0], [[1.0, 0.0], [0.0, 2.0]], None)])
def test_a_second_derivative_follows_the_gradient_to_the_equal_value_it_went_to(values, gradients, excuses):
    spec, storages = tensor(values)
    item = _item("quantile", Case((replace(spec, requires_grad=True),), {}, storages))
    value = lambda numbers: [Value("float32", (2,), np.array(numbers, "float32").tobytes())]  # noqa: E731
    item.expected, got = (Observation(gradients=value(gradient), second=value(second)) for gradient, second in zip(gradients, ([0.0, -3.0], [5.0, 0.0])))
    moved = Observation(gradients=value([0.0, 1.0]), second=value([0.0, -3.0]))  # the last bit decides
    found = rounding.excuses_for(Fault("gradgrad", "", "second", 0), item, got, [item.expected] * 5 + [moved] * 4)
    assert found == (None if excuses is None else frozenset(excuses))


def test_an_absent_second_derivative_is_zero():
    one = Value("float32", (1,), np.ones(1, "float32").tobytes())
    case = Case((), {}, [])
    found = faults(case, Observation(values=[], gradients=[one], second=[one]), Observation(values=[], gradients=[one], second=[None]))
    assert [(fault.property, fault.phase) for fault in found] == [("gradgrad", "second")]


def test_digits_that_mpmath_has_and_the_oracle_has_not_are_right():
    spec, storages = tensor([7.0861, 2.0])
    true = bessel_y0(np.array([7.0861, 2.0], "float32").astype("float64"))
    coarse, wrong = true * (1 + 1e-4), true * (1 - 1e-4)
    item = _item("special.bessel_y0", Case((spec,), {}, storages), pointwise=True)
    assert _judged(item, "float32", coarse, true, [coarse] * 9) == {"oracle inexact"}
    assert _judged(item, "float32", coarse, wrong, [coarse] * 9) is None


@pytest.mark.parametrize("phase, times", [("values", 1.0), ("gradients", -0.5), ("second", 0.25)])
def test_so_are_those_of_derivatives(phase, times):
    """Of sin(pi x) / (pi x) beside 0, of which the cancelled quotient of PyTorch's has no digit; the cotangent of a first element is -1/2."""
    spec, storages = tensor([1e-8], "float64")
    true = times * {"values": 1.0, "gradients": -np.pi**2 / 3 * 1e-8, "second": -np.pi**2 / 3}[phase]
    item = _item("sinc", Case((replace(spec, requires_grad=True),), {}, storages))
    assert _judged(item, "float64", [0.6 * true], [true], [[0.6 * true]] * 9, phase) == {"oracle inexact"}
    assert _judged(item, "float64", [0.6 * true], [true * (1 + 1e-12)], [[0.6 * true]] * 9, phase) is None
    assert _judged(item, "float64", [true], [true * (1 + 1e-12)], [[true]] * 9, phase) is None


def test_a_sum_of_complex_exponentials_is_a_number_beside_a_term_among_the_denormals():
    a, b = tensor([-8.0 - 1.5j, 2.0 + 90.0j], "complex128"), tensor([-740.0 - 1e-3j, 1.0 + 1.0j], "complex128")
    case = Case((a[0], replace(b[0], storage=1)), {}, [*a[1], *b[1]])
    true = np.array([-8.0 - 1.5j, 2.0 + 90.0j + np.log(1 + np.exp(-1.0 - 89.0j))])
    item = _item("logaddexp", case, pointwise=True)
    lost, wrong = [complex(NAN, NAN), true[1]], [true[0] * (1 + 1e-13), true[1]]
    assert _judged(item, "complex128", lost, true, [lost] * 9) == {"oracle inexact"}
    assert _judged(item, "complex128", lost, wrong, [lost] * 9) is None
    assert _judged(item, "complex128", true, lost, [true] * 9) is None


@pytest.mark.parametrize("phase", ["gradients", "second"])
def test_so_are_its_derivatives_a_number_where_the_other_term_is_far_above(phase):
    """By a term so far below that exp of the difference is beyond double precision: exp(-741); both first ones together are 1. Cotangents: -1/2, 5/4."""
    a, b = tensor([-741.0 - 1e-3j, -1e5 + 1.0j], "complex128"), tensor([1e-3j, 2.0 + 90.0j], "complex128")
    specs = [replace(spec, requires_grad=True) for spec in (a[0], replace(b[0], id=1, storage=1))]
    item, lost = _item("logaddexp", Case(tuple(specs), {}, [*a[1], *b[1]])), [complex(NAN, NAN)] * 2
    true = np.zeros(2) if phase == "second" else np.array([-0.5 * np.exp(-741 - 2e-3j).conj(), 0])
    assert _judged(item, "complex128", lost, true, [lost] * 9, phase) == {"oracle inexact"}
    assert _judged(item, "complex128", lost, true + [0, 1e-13], [lost] * 9, phase) is None


@pytest.mark.parametrize("x, value, got, excuses", [(1.0, INF, -INF, {"overflow"}), (1.0, INF, 3.0, None), (1.0, 2.0, -INF, None), (INF, INF, -INF, None)])
def test_the_slope_of_an_overflowing_number_may_be_infinite(x, value, got, excuses):
    spec, storages = tensor([x], "float64")
    item = _item("ldexp", Case((replace(spec, requires_grad=True),), {}, storages))
    values = {name: [Value("float64", (1,), np.array([number]).tobytes())] for name, number in (("values", value), ("expected", 0.0), ("got", got))}
    item.expected, subject = (Observation(values=values["values"], gradients=values[name]) for name in ("expected", "got"))
    found = rounding.excuses_for(Fault("gradient", "", "gradients", 0), item, subject, [item.expected] * 9)
    assert found == (None if excuses is None else frozenset(excuses))


def test_so_is_a_running_sum_of_them():
    spec, storages = tensor([[0.5 + 1j, 1.0], [712.0 - 2.5j, 2.0]], "complex128")
    true = np.array([[0.5 + 1j, 1.0], [712.0 - 2.5j, 2.0 + np.log1p(np.exp(-1.0))]])
    lost, item = np.where(true.imag == -2.5, complex(NAN, NAN), true), _item("logcumsumexp", Case((spec, 0), {}, storages))
    assert _judged(item, "complex128", lost, true, [lost] * 9) == {"oracle inexact"}
    assert _judged(item, "complex128", lost, true * (1 + 1e-13), [lost] * 9) is None
    assert _judged(item, "complex128", true, lost, [true] * 9) is None


def test_a_gradient_that_broadcasting_adds_up_is_such_a_sum():
    a, b = tensor([-400.0 + 1.0j, 3.0 - 2.0j], "complex64"), tensor([[400.0 + 0.5j]], "complex64")
    specs = [replace(a[0], requires_grad=True), replace(b[0], id=1, storage=1, requires_grad=True, conj=True)]
    item, lost = _item("logaddexp", Case(tuple(specs), {}, [*a[1], *b[1]])), [[complex(NAN, NAN)]]
    fault = Fault("gradient", "", "gradients", 1)
    for off, excuses in ((0.0, {"oracle inexact"}), (1e-3, None)):
        item.expected, got = (Observation(gradients=[None, Value("complex64", (1, 1), np.array(x, "complex64").tobytes())]) for x in (lost, [[0.75 + off]]))
        assert rounding.excuses_for(fault, item, got, [item.expected] * 9) == (None if excuses is None else frozenset(excuses))


def test_what_mpmath_says_is_right_beside_better_digits_of_the_oracle_too():
    spec, storages = tensor([0.44], "float64")
    true = float(bessel_y0(0.44))
    item = _item("special.bessel_y0", Case((spec,), {}, storages), pointwise=True)
    for ulps, excuses in ((5, {"oracle inexact"}), (20, None)):
        assert _judged(item, "float64", [true], [true * (1 + ulps * 2**-52)], [[true]] * 9) == (None if excuses is None else frozenset(excuses))


def test_the_memory_around_an_out_is_no_answer():
    args, out = tensor([7.0861], "float64"), TensorSpec(1, "float64", (1,), (1,), 1, 1, False)
    true = bessel_y0(7.0861)
    item = _item("special.bessel_y0", Case((args[0],), {"out": out}, [*args[1], ("float64", bytes(24))], relation="out"))
    coarse = [[5.0, true * (1 + 1e-8), 6.0]]

    def judged(got):
        item.expected = Observation(written={-2: Value("float64", (3,), np.array(coarse[0]).tobytes())})
        got = Observation(written={-2: Value("float64", (3,), np.array(got).tobytes())})
        return rounding.excuses_for(Fault("out", "", "written", -2), item, got, [item.expected] * 9)

    assert judged([5.0, true, 6.0]) == {"oracle inexact"}
    assert judged([5.0, true, 7.0]) is None


def test_complex_numbers_are_moved_across_their_direction_too():
    spec, storages = tensor([1.0 + 1.0j], "complex64")
    case = Case((spec,), {}, storages)
    for moved in (reference.promoted(case, np.random.default_rng(0)), reference.along_a_line(reference.promoted(case), np.random.default_rng(0))[-1]):
        number = np.frombuffer(moved.storages[0][1], "complex128")[0]
        assert number.real != number.imag and abs(number - (1 + 1j)) < 1e-2


def test_the_last_step_among_denormals_is_a_rounding():
    spec, storages = tensor([1e-40, 0.25])
    args = tuple(replace(spec, size=(1,), stride=(1,), offset=at) for at in (0, 1))
    item = _item("igammac", Case(args, {}, storages), pointwise=True)  # 1.04e-40
    least = 2.0**-133  # of bfloat16, 9.2e-41
    assert _judged(item, "bfloat16", [3 * least], [least], [[3 * least]] * 9) == {"oracle inexact"}


def test_the_digits_of_a_wave_are_known_beside_its_zeros_and_far_out():
    at = np.array([8.6537279, 30.0, -2.4e6, 1e9])  # a zero of J0 first
    spec, storages = tensor(at, "float64")
    true, wave = jv(0, at), np.sqrt(2 / np.pi / np.abs(at))
    item = _item("special.bessel_j0", Case((spec,), {}, storages), pointwise=True)
    for error, excuses in ((1e-15, {"oracle inexact"}), (1e-13, None)):
        assert _judged(item, "float64", true + 1e-8 * wave, true + error * wave, [true + 1e-8 * wave] * 9) == (None if excuses is None else frozenset(excuses))
    assert _judged(item, "float64", true, true + 1e-15 * wave, [true] * 9) is None  # the oracle knows better


@pytest.mark.parametrize("path, excuses", [("topk", {"equal values"}), ("amax", None)])
def test_gradients_may_go_to_another_of_equal_halves_only_where_the_operation_chooses(path, excuses):
    spec, storages = tensor([1.0, 1.0, 0.0], "float32")
    item = _item(path, Case((replace(spec, requires_grad=True),), {}, storages))
    found = _judged(item, "float32", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [[1.0, 0.0, 0.0]] * 9, "gradients")
    assert found == (None if excuses is None else frozenset(excuses))


@pytest.mark.parametrize("path, yes", [("linalg.inv", True), ("inverse", True), ("linalg.lu_factor", True), ("lu_solve", True), ("det", True),
                                       ("linalg.vector_norm", False), ("matmul", False), ("solve_me_not", False), ("detach", False)])
def test_what_decomposes_a_matrix_is_told_by_its_name(path, yes):
    assert gauge.decomposes(path) is yes or path == "solve_me_not"


@pytest.mark.parametrize("size, arguments, keywords, yes", [((2, 2), ("nuc",), {}, True), ((2, 2), (), {"ord": -2}, True), ((2, 2), (), {}, False), ((2, 2), ("fro",), {}, False),
                                                            ((2,), (2,), {}, False), ((2, 2), (2,), {"dim": 1}, False), ((2, 2), (2, 1), {}, False)])
def test_a_norm_decomposes_where_singular_values_make_it(size, arguments, keywords, yes):
    spec = TensorSpec(0, "float32", size, (2, 1)[-len(size):], 0, 0, False)
    assert gauge.decomposes("linalg.norm") and gauge.multiplies("linalg.norm", Case((spec, *arguments), keywords, [])) is not yes


def test_an_index_of_an_equal_value_is_excused_within_the_memory_around_an_out_and_nothing_beside_it():
    storages = [("float32", np.array([2, 2, 1], np.float32).tobytes()), ("float32", np.zeros(1, np.float32).tobytes()), ("int64", np.full(4, 7, np.int64).tobytes())]
    x, values, indices = TensorSpec(0, "float32", (3,), (1,), 0, 0, False), TensorSpec(1, "float32", (1,), (1,), 0, 1, False), TensorSpec(2, "int64", (1,), (2,), 1, 2, False)
    case = Case((x, 1), {"out": (values, indices)}, storages, relation="out")
    expected = observed(torch.topk, case)
    chosen = expected.values[1].array()[0]
    other, around = np.array([1 - chosen]), expected.written[-3].array().copy()
    around[1] = other[0]

    def named(around):
        written = {**expected.written, 2: Value("int64", (1,), other.tobytes()), -3: Value("int64", (4,), around.tobytes())}
        return replace(expected, values=[expected.values[0], Value("int64", (1,), other.tobytes())], written=written)

    found = faults(case, expected, named(around), choosing=True)
    assert found and all(fault.excuse == "equal values" for fault in found)
    around[3] = 0
    assert any(not fault.excuse for fault in faults(case, expected, named(around), choosing=True))


@pytest.mark.parametrize("dtype, expected, got, wrong", [
    ("int64", [True], [False], ["no such gradient"]), ("bool", [True], [False], ["no such gradient"]), ("int64", [False], [True], [""]),
    ("float32", [True], [False], [""]), ("float8_e5m2", [True], [False], [""]), ("int64", [True], [True], [])])
def test_whole_numbers_need_not_require_a_gradient(dtype, expected, got, wrong):
    value = Value(dtype, (0,), b"")
    e, g = (Observation(values=[value], strides=[(1,)], requires_grad=flags) for flags in (expected, got))
    found = faults(Case((), {}, [], relation="inplace"), e, g)
    assert [fault.excuse for fault in found] == wrong


def test_denormal_numbers_are_moved_by_their_own_steps():
    spec, storages = tensor([1e-40, 2.0**-149, 0.0, 1.0])
    case = Case((spec,), {}, storages)
    runs = [reference.promoted(case, np.random.default_rng(seed)).storages[0][1] for seed in range(8)]
    runs = [np.frombuffer(run, "float64") for run in runs] + [np.frombuffer(reference.nudged(case, np.random.default_rng(seed)).storages[0][1], "float32") for seed in range(8)]
    gaps = np.max([np.abs(run - np.frombuffer(storages[0][1], "float32").astype(float)) for run in runs], axis=0)
    assert 2.0**-150 < gaps[0] <= 2.0**-148 and gaps[1] < 2.0**-160 and gaps[2] == 0 and gaps[3] < 1e-6
    exact = np.frombuffer(reference.promoted(case, np.random.default_rng(0), shown=2.0**-52).storages[0][1], "float64")
    assert abs(exact[0] / np.float32(1e-40) - 1) < 1e-14


def test_a_zero_on_the_diagonal_is_for_rounding_to_say():
    """Of `lu_factor`, as of what raises LinAlgError: a pivot that another order of products leaves is no zero."""
    spec, storages = tensor([[1.0, 2.0], [1.0, 2.0]])
    expected = observed(torch.linalg.lu_factor, Case((spec,), {}, storages))
    got = observed(torch.linalg.lu, Case((spec,), {}, storages))
    fault, = faults(Case((spec,), {}, storages), expected, got)
    item = _item("linalg.lu_factor", Case((spec,), {}, storages), decomposes=True, expected=expected)
    assert fault.phase == "accepted" and rounding.excuses_for(fault, item, got, [expected] * 5) == {"matrix"}
    assert rounding.excuses_for(fault, item, got, [got] * 5) is None
