"""Where the oracle has no answer, and what a wrong one of the subject's is held against all the same."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from weir_autotest.cases.case import Case, Named, TensorSpec, row_major
from weir_autotest.cases.objects import ModuleCase
from weir_autotest.cases.target import Target
from weir_autotest.cases.values import Raised
from weir_autotest.check.properties import ANYTHING
from weir_autotest.generate.conjugates import copied
from weir_autotest.generate.doubts import (_contradicts_its_transforms, _forgets_its_out, _names_no_fault_twice, _reads_elsewhere, _writes_beside_out,
                                           _writes_unasked, wavers)
from weir_autotest.generate.infinities import heedless, left_out, order_of_factors
from weir_autotest.generate.memory import reads_between, truths_unset, writes_behind
from weir_autotest.generate.overlaps import order_tells, reads_what_it_wrote, writes_over_itself
from weir_autotest.generate.service import expect
from weir_autotest.workers.kinds import kind_of


def _ones(*sizes):
    """A call on tensors of ones."""
    specs = tuple(TensorSpec(i, "float32", size, row_major(size), 0, i, False) for i, size in enumerate(sizes))
    return Case(specs, {}, [("float32", np.ones(int(np.prod(size)), "float32").tobytes()) for size in sizes])


def test_a_refusal_that_names_another_number_each_time_wavers():
    item = expect(Target("torch.mm", ["mm"]), _ones((2, 3), (2, 3)))
    assert item.expected.raised and not _names_no_fault_twice(kind_of(item), item)
    other = replace(item, expected=replace(item.expected, raised=Raised(("RuntimeError", "Exception"), "index 94549389918793 is out of bounds")))
    assert {fault.property for fault in _names_no_fault_twice(kind_of(other), other)} == {ANYTHING}


@pytest.mark.parametrize("path, sizes, correction, wavering", [("cov", [(1,), (1,)], 1, True), ("cov", [(3,), (3,)], 0, False), ("Tensor.t_", [(2, 2)], None, False)])
@pytest.mark.filterwarnings("ignore:cov")
def test_an_oracle_that_writes_to_what_its_schema_leaves_alone_wavers(path, sizes, correction, wavering):
    case = _ones(*sizes)
    case = replace(case, args=case.args[:1], kwargs={"correction": correction, "aweights": case.args[1]}) if path == "cov" else case
    item = expect(Target(f"torch.{path}", [path]), case)
    assert any("schema" in fault.reason for fault in _writes_unasked(item)) == wavering


@pytest.mark.parametrize("path, number, wavering", [("special.chebyshev_polynomial_u", float("nan"), True), ("special.chebyshev_polynomial_u", 0.5, False),
                                                    ("pow", float("nan"), False), ("fmax", float("nan"), False)])
def test_a_polynomial_of_nan_that_no_loop_sets_wavers(path, number, wavering):
    """It is what the loop left of another element; a tensor shows it, where a number is beside nothing but itself."""
    n = TensorSpec(0, "float64", (3,), (1,), 0, 0, False)
    given = (n, n) if path == "fmax" else (number, n)
    item = expect(Target(f"torch.{path}", [path]), Case(given, {}, [("float64", np.array([3.0, 2.0, 5.0]).tobytes())]))
    item.pointwise = True
    assert any(fault.phase == "values" for fault in _reads_elsewhere(kind_of(item), item)) == wavering


@pytest.mark.parametrize("path, args, stride, wavering", [
    ("Tensor.baddbmm_", (1, 2), (0, 2, 1), True), ("Tensor.baddbmm_", (1, 2), (4, 2, 1), False), ("Tensor.fill_", (2.0,), (0, 2, 1), False)])
def test_an_oracle_that_writes_over_what_it_wrote_wavers(path, args, stride, wavering):
    x, *factors = (TensorSpec(i, "float32", (3, 2, 2), stride if i == 0 else (4, 2, 1), 0, i, False) for i in range(3))
    case = Case((x, *factors) if len(args) == 2 else (x, *args), {}, [("float32", np.arange(i, 12 + i, dtype="float32").tobytes()) for i in range(3)], relation="inplace")
    item = expect(Target(f"torch.{path}", [path]), case)
    assert not item.expected.raised and bool(writes_over_itself(kind_of(item), item)) == wavering


@pytest.mark.parametrize("shown, wavering", [([0, 0, 2, 1], True), ([0, 0, 2, 2], False), ([0, 0, 2, 0], False)])
def test_an_oracle_that_reads_what_it_wrote_wavers(shown, wavering):
    """PyTorch copies the first number to the second place, and from there to the last."""
    x, mask = TensorSpec(0, "int64", (2, 2), (2, 1), 0, 0, False), TensorSpec(1, "bool", (2,), (1,), 0, 1, False)
    case = Case((x, mask, x), {}, [("int64", np.arange(4).tobytes()), ("bool", b"\0\1")], relation="inplace")
    item = expect(Target("torch.Tensor.masked_scatter_", ["Tensor.masked_scatter_"]), case)
    answer = replace(item.expected.values[0], data=np.array(shown).tobytes())
    assert item.expected.values[0].array().reshape(-1).tolist() == [0, 0, 2, 0]
    assert bool(reads_what_it_wrote(kind_of(item), item, replace(item.expected, values=[answer]))) == wavering


@pytest.mark.parametrize("other, stride, tells", [(0, (1, 2), True), (1, (1, 2), False), (0, (2, 1), True)])
def test_the_order_of_elements_tells_what_is_left_of_a_copy_of_itself(other, stride, tells):
    x = TensorSpec(0, "int64", (2, 2), (2, 1), 0, 0, False)
    y = x if (other, stride) == (0, x.stride) else TensorSpec(1, "int64", (2, 2), stride, 0, other, False)
    mask = TensorSpec(2, "bool", (2, 2), (2, 1), 0, 2, False)
    case = Case((x, mask, y), {}, [("int64", np.arange(4).tobytes())] * 2 + [("bool", b"\0\1\1\1")], relation="inplace")
    item = expect(Target("torch.Tensor.masked_scatter_", ["Tensor.masked_scatter_"]), case)
    assert order_tells(item, torch.Tensor.masked_scatter_) == tells


@pytest.mark.parametrize("stride, tells", [(0, True), (1, False)])
def test_the_order_of_elements_tells_what_is_left_of_a_number_that_is_repeated(stride, tells):
    x, *means = TensorSpec(0, "float64", (3, 2), (2, 1), 0, 0, False), *(TensorSpec(i, "float64", (2,), (s,), 0, i, False) for i, s in ((1, stride), (2, 1)))
    case = Case((x, None, None, *means, True, 0.1, 1e-3), {}, [("float64", np.arange(6.0).tobytes())] * 3)
    item = expect(Target("torch.native_batch_norm", ["native_batch_norm"]), case)
    assert order_tells(item, torch.native_batch_norm) == tells


@pytest.mark.parametrize("place, number, wavering", [((1, 3), np.nan, True), ((0, 0), np.nan, False), ((1, 3), 5.0, False)])
def test_a_transform_may_mix_infinities_into_numbers(place, number, wavering):
    """An infinity in the second row has a share in all of its results, and in none of the first."""
    x = TensorSpec(0, "float64", (2, 7), (7, 1), 0, 0, False)
    numbers = np.arange(14.0)
    numbers[8] = np.inf
    item = expect(Target("torch.fft.hfft", ["fft.hfft"]), Case((x,), storages=[("float64", numbers.tobytes())]))
    answer = item.expected.values[0].array().reshape(2, 12).copy()
    assert np.isfinite(answer[1, 3])  # beside a factor of zero
    answer[place] = number
    got = replace(item.expected, values=[replace(item.expected.values[0], data=answer.tobytes())])
    assert any(fault.phase == "values" for fault in left_out(kind_of(item), item, got)) == wavering


def test_so_does_one_of_a_tensor_that_repeats_elements():
    x = TensorSpec(0, "float64", (2, 4), (1, 0), 0, 0, False)  # the transform of each row has one number beside zeros
    item = expect(Target("torch.fft.irfft", ["fft.irfft"]), Case((x,), storages=[("float64", np.array([np.inf, 1.0]).tobytes())]))
    answers = [item.expected.values[0].array().reshape(2, 6).copy() for _ in range(2)]
    answers[0][0, 1:], answers[1][1, 3] = np.nan, np.nan
    got = [replace(item.expected, values=[replace(item.expected.values[0], data=answer.tobytes())]) for answer in answers]
    assert [bool(left_out(kind_of(item), item, one)) for one in got] == [True, False]


@pytest.mark.parametrize("written, wavering", [({}, True), ({0: 7.0}, False), ({1: 7.0}, False)])
def test_an_oracle_that_writes_beside_out_wavers(written, wavering):
    """fftfreq into every second number counts on into the ones between: who leaves those alone, and gives the numbers, is right."""
    out = TensorSpec(0, "float32", (5,), (2,), 1, 0, False)
    held = np.arange(100, 111, dtype="float32")
    item = expect(Target("torch.fft.fftfreq", ["fft.fftfreq"]), Case((5,), {"out": out}, [("float32", held.tobytes())], relation="out"))
    memory = held.copy()
    memory[1:10:2] = item.expected.written[-1].array()[1:10:2]
    for at, number in written.items():
        memory[at] = number
    got = replace(item.expected, written=item.expected.written | {-1: replace(item.expected.written[-1], data=memory.tobytes())})
    assert bool(_writes_beside_out(item, got)) == wavering


@pytest.mark.parametrize("dim, factor, wavering", [((0,), 1, True), ((0,), 2, False), ((0, 1), 1, False)])
def test_an_oracle_that_forgets_its_out_wavers(dim, factor, wavering):
    """ihfftn over one axis leaves out= as it was."""
    x, out = (TensorSpec(i, dtype, size, row_major(size), 0, i, False) for i, (dtype, size) in enumerate([("float32", (2, 3)), ("complex64", (0,))]))
    case = Case((x, None, dim), {"out": out}, [("float32", np.arange(6, dtype="float32").tobytes()), ("complex64", b"")], relation="out")
    item = expect(Target("torch.fft.ihfftn", ["fft.ihfftn"]), case)
    bare = kind_of(item).observe(torch, replace(item, case=replace(case, kwargs={}, relation="call")))
    got = replace(bare, values=[replace(value, data=(factor * value.array()).tobytes()) for value in bare.values])
    assert bool(_forgets_its_out(kind_of(item), item, got)) == wavering


def test_reruns_round_ends_to_the_default_dtype():
    """A range between ends of double precision is made in single: an epsilon of that turns its phase."""
    end = TensorSpec(0, "complex128", (), (), 0, 0, False)
    item = expect(Target("torch.logspace", ["logspace"]), Case((5, end, 5), storages=[("complex128", np.complex128([30000j]).tobytes())]))
    exact, moved, *_ = (run.values[0] for run in kind_of(item).reruns(torch, item))
    assert exact.dtype == "complex128" and 1e-4 < np.abs(moved.array() / exact.array() - 1).max() < 0.1


def test_modules_of_whole_numbers_are_rerun_in_double_precision():
    """The exponential of whole numbers is one of single precision, beside targets of double."""
    x, target = TensorSpec(0, "int32", (3,), (1,), 0, 0, False), TensorSpec(1, "float64", (3,), (1,), 0, 1, False)
    case = ModuleCase(kwargs={"reduction": "none"}, inputs=(x, target), dtype=Named("dtype", "float64"), differentiated=(),
                      storages=[("int32", np.int32([1, 2, 3]).tobytes()), ("float64", np.zeros(3).tobytes())])
    item = expect(Target("torch.nn.PoissonNLLLoss", ["nn.PoissonNLLLoss"]), case)
    exact = kind_of(item).reruns(torch, item)[0]
    single, double = (next(e.value.array() for e in journal.entries if e.label == "eval: output 0") for journal in (item.expected, exact))
    assert np.abs(double - np.exp([1, 2, 3])).max() < 1e-14 < np.abs(single - double).max()


@pytest.mark.parametrize("count, training, behind", [(0, True, True), (1, True, False), (0, False, False)])
def test_an_oracle_that_writes_behind_an_input_wavers(count, training, behind):
    case = _ones((2, 1), (1,), (1,), (1,), (count,))
    case = replace(case, args=(*case.args, training, 0.5, 1e-5))
    assert bool(writes_behind(expect(Target("torch.native_batch_norm", ["native_batch_norm"]), case))) == behind


def test_numbers_that_lie_behind_an_input_of_none_are_no_answer():
    case = _ones((2, 1), (1,), (1,), (0,), (1,))
    item = expect(Target("torch.native_batch_norm", ["native_batch_norm"]), replace(case, args=(*case.args, False, 0.5, 1e-5)))
    assert any(fault.property == "value" for fault in _reads_elsewhere(kind_of(item), item))


@pytest.mark.parametrize("path, sizes, unset", [("nn.functional.multi_margin_loss", (0, 5), True), ("logical_not", (3, 5), False)])
def test_truths_that_nobody_wrote_are_no_answer(path, sizes, unset):
    x = TensorSpec(0, "bool", sizes, row_major(sizes), 0, 0, False)
    labels = (TensorSpec(1, "int64", (0,), (1,), 0, 1, False),) if unset else ()
    item = expect(Target(f"torch.{path}", [path]), Case((x, *labels), {}, [("bool", bytes(int(np.prod(sizes)))), ("int64", b"")]))
    assert not item.expected.raised and bool(truths_unset(kind_of(item), item)) == unset


def test_an_oracle_that_writes_behind_out_is_held_to_its_other_answer():
    """`tril` of a batch takes an `out=` whose matrices lie apart for a row-major one."""
    x, out = (TensorSpec(i, "int64", (3, 3, 5, 5), stride, 0, i, False) for i, stride in enumerate([(75, 25, 5, 1), (1, 3, 9, 45)]))
    numbers = np.arange(1, 226).tobytes()
    item = expect(Target("torch.tril", ["tril"]), Case((x,), {"out": out}, [("int64", numbers)] * 2, relation="out"))
    right = torch.tril(torch.arange(1, 226).reshape(3, 3, 5, 5)).numpy()
    for answer, excused in ((right, True), (right + 1, False)):
        got = replace(item.expected, values=[replace(item.expected.values[0], data=np.ascontiguousarray(answer).tobytes())])
        assert any((fault.property, fault.phase) == ("out", "values") for fault in wavers(item, got)) == excused


@pytest.mark.parametrize("strides, conj, excused", [((12, 1, 4), True, True), ((12, 4, 1), True, False), ((12, 1, 4), False, False)])
def test_strides_of_what_is_copied_to_be_conjugated(strides, conj, excused):
    x = TensorSpec(0, "complex64", (1, 2, 4, 3), (24, 12, 1, 4), 0, 0, False, conj=conj)
    item = expect(Target("torch.Tensor.squeeze_", ["Tensor.squeeze_"]), Case((x, 0), {}, [("complex64", np.ones(24, "complex64").tobytes())], relation="inplace"))
    got = replace(item.expected, strides=[strides], warned=())
    assert any("stride" in fault.reason for fault in copied(kind_of(item), item, got)) == excused


@pytest.mark.parametrize("path, conj, excused", [("squeeze_", True, True), ("squeeze_", False, False), ("conj_physical_", True, False)])
def test_refusals_of_what_is_copied_to_be_conjugated(path, conj, excused):
    x = TensorSpec(0, "complex64", (4, 1, 3), (0, 3, 1), 0, 0, False, conj=conj)
    case = Case((x, 0) if path == "squeeze_" else (x,), {}, [("complex64", np.ones(3, "complex64").tobytes())], relation="inplace")
    item = expect(Target(f"torch.Tensor.{path}", [f"Tensor.{path}"]), case)
    answered = expect(Target("torch.Tensor.squeeze_", ["Tensor.squeeze_"]), replace(case, args=(replace(x, conj=False), 0))).expected
    assert bool(item.expected.raised) == (conj or path != "squeeze_")
    assert any("refused" in fault.reason for fault in copied(kind_of(item), item, answered)) == excused


@pytest.mark.parametrize("path, moved", [("poisson_nll_loss", True), ("sum", False), ("argmax", False)])
def test_whole_numbers_are_moved_where_floating_ones_give_the_same(path, moved):
    """A mean of terms that cancel is as exact as they are; a sum of whole numbers is exact, and the place of the first of the largest."""
    spec = TensorSpec(0, "int64", (12,), (1,), 0, 0, False)
    case = Case((spec, spec, True, False, 1e-5, 1) if path == "poisson_nll_loss" else (spec,), {}, [("int64", np.array([0, -1, -4, -2, 1, 1, 0, 3, -2, 0, 2, 2]).tobytes())])
    item = expect(Target(f"torch.{path}", [path]), case)
    runs = kind_of(item).reruns(torch, item, more=True)
    assert (len({run.values[0].data for run in runs if not run.raised}) > 1) == moved


@pytest.mark.parametrize("gradient, free", [(0.5, True), (0.75, False)])
def test_a_gradient_that_heeds_no_nan_may_be_a_number(gradient, free):
    """A reflection by a vector of one number is 1 - tau, whose slope is the same at any tau; PyTorch's formula has NaN at NaN."""
    specs = tuple(TensorSpec(i, "complex128", size, row_major(size), 0, i, True) for i, size in enumerate([(1, 1), (1,)]))
    numbers = [("complex128", np.array([z]).tobytes()) for z in (3e4 - 6e-8j, complex(np.nan, np.nan))]
    item = expect(Target("torch.linalg.householder_product", ["linalg.householder_product"]), Case(specs, {}, numbers, differentiate=1))
    of_tau = replace(item.expected.gradients[1], data=np.complex128(gradient).tobytes())
    found = heedless(item, kind_of(item), replace(item.expected, gradients=[item.expected.gradients[0], of_tau]))
    assert [(fault.phase, fault.position) for fault in found] == ([("gradients", 1)] if free else [])


def test_one_that_heeds_it_may_not():
    spec = TensorSpec(0, "float64", (2,), (1,), 0, 0, True)
    item = expect(Target("torch.square", ["square"]), Case((spec,), {}, [("float64", np.array([np.nan, 1]).tobytes())], differentiate=1))
    number = replace(item.expected.gradients[0], data=np.array([1.0, item.expected.gradients[0].array()[1]]).tobytes())
    assert not heedless(item, kind_of(item), replace(item.expected, gradients=[number]))


@pytest.mark.parametrize("numbers, wavering", [([1e-200, np.inf, 1e-200, 2], True), ([0.5, np.inf, 3, 2], False), ([1e-200, 1e-200, 3, 2], False)])
def test_a_product_whose_order_tells_whether_it_is_a_number_wavers(numbers, wavering):
    spec = TensorSpec(0, "float64", (4,), (1,), 0, 0, False)
    item = expect(Target("torch.prod", ["prod"]), Case((spec,), {}, [("float64", np.array(numbers).tobytes())]))
    assert bool(order_of_factors(kind_of(item), item)) == wavering


@pytest.mark.parametrize("label, wavering", [(3, True), (2, False)])
def test_an_oracle_that_reads_between_the_rows_of_an_input_wavers(label, wavering):
    """CTCLoss looks up a label that is none of three classes in the row of another example, or behind the last."""
    numbers = np.log(np.random.default_rng(0).dirichlet(np.ones(3), (4, 2))).astype("float32")
    stored = [numbers, np.array([[1, 2], [1, label]]), np.array([4, 4]), np.array([2, 2])]
    specs = tuple(TensorSpec(i, str(x.dtype), x.shape, row_major(x.shape), 0, i, False) for i, x in enumerate(stored))
    item = expect(Target("torch.nn.CTCLoss", ["nn.CTCLoss"]), ModuleCase(inputs=specs, storages=[(str(x.dtype), x.tobytes()) for x in stored]))
    assert bool(reads_between(kind_of(item), item)) == wavering


@pytest.mark.parametrize("phase, second, right", [("second", 2.0**-9, True), ("second", 0.25, False), ("gradients", 2.0**-9, False)])
def test_what_is_left_of_second_derivatives_of_halves_is_known_as_moved_halves_tell(phase, second, right):
    """The cosine of two vectors of one number is 1 or -1: its derivatives are nothing but what rounding leaves of terms that cancel."""
    numbers = np.array([-103.75, -3.78125], "float16"), np.array([-0.2085, -0.6318], "float16")
    specs = tuple(TensorSpec(i, "float16", (2, 1), (1, 1), 0, i, True) for i in range(2))
    item = expect(Target("torch.cosine_similarity", ["cosine_similarity"]), Case(specs, {"dim": 1}, [("float16", x.tobytes()) for x in numbers], differentiate=2))
    found = getattr(item.expected, phase)
    got = replace(item.expected, **{phase: [found[0], replace(found[1], data=(found[1].array() + np.float16(second)).astype("float16").tobytes())]})
    kind = kind_of(item)
    fault, = [fault for fault in kind.faults(item, got) if fault.phase == phase]
    assert (kind.excuses_for(fault, item, got, kind.reruns(torch, item) + kind.reruns(torch, item, more=True)) is not None) == right


@pytest.mark.filterwarnings("ignore:cov")
def test_an_oracle_that_cannot_write_to_what_its_schema_leaves_alone_wavers():
    case = _ones((1, 1), (1,))
    spec = replace(case.args[0], requires_grad=True)
    item = expect(Target("torch.cov", ["cov"]), replace(case, args=(spec,), kwargs={"aweights": case.args[1]}))
    assert "leaf Variable" in item.expected.raised.message and {fault.property for fault in _writes_unasked(item)} == {ANYTHING}
    unasked = replace(item, target=Target("torch.Tensor.t_", ["Tensor.t_"]))
    assert not _writes_unasked(unasked)  # which says so


@pytest.mark.parametrize("scaled, stride, doubted", [(True, (1, 1), True), (True, (0, 1), True), (False, (1, 1), False)])
def test_gradients_that_are_no_transpose_of_the_tangents_are_no_oracle(scaled, stride, doubted):
    weight, index = TensorSpec(0, "float64", (2, 1), stride, 0, 0, True), TensorSpec(1, "int64", (3,), (1,), 0, 1, False)
    storages = [("float64", np.arange(2.0).tobytes()), ("int64", np.array([1, 1, 0]).tobytes())]
    item = expect(Target("torch.embedding", ["embedding"]), Case((weight, index), {"scale_grad_by_freq": scaled}, storages, differentiate=1))
    assert {fault.property for fault in _contradicts_its_transforms(item)} == ({"forward"} if doubted else set())
