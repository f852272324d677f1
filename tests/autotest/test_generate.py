"""Generated cases: reproducible, mostly valid, and simple where the choices are."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from weir_autotest.cases import dtypes, ship
from weir_autotest.cases.case import Case, TensorSpec, row_major, tensors_of
from weir_autotest.cases.objects import ModuleCase, OptimizerCase
from weir_autotest.cases.observed import Observation
from weir_autotest.cases.target import Target
from weir_autotest.check.properties import faults
from weir_autotest.generate import arguments, doubts, gauge
from weir_autotest.generate.arguments import make
from weir_autotest.generate.author import Author
from weir_autotest.generate.choices import Choices
from weir_autotest.generate.doubts import one_by_one, restless, wavers
from weir_autotest.generate.samples import samples_of
from weir_autotest.generate.service import expect
from weir_autotest.generate.universe import overloads
from weir_autotest.generate.vary import varied
from weir_autotest.workers.kinds import kind_of


@pytest.fixture(scope="module")
def author():
    return Author()


@given(st.lists(st.integers(0, 50)), st.integers(1, 9))
def test_replayed_choices_stay_in_range(replay, count):
    choices = Choices(replay=tuple(replay))
    assert all(0 <= choices.below(count) < count for _ in range(len(replay) + 3))


def test_a_sequence_that_ends_goes_on_with_the_simplest():
    choices = Choices(replay=(2,))
    assert [choices.pick("abc"), choices.pick("abc"), choices.chance(0.9)] == ["c", "a", False]


def test_what_was_chosen_replays():
    drawn = Choices(seed=5)
    first = [drawn.below(10) for _ in range(20)]
    again = Choices(replay=tuple(drawn.made))
    assert [again.below(10) for _ in range(20)] == first


def test_another_rare_thing_leaves_the_other_calls_as_they_were():
    for seed in range(300):
        one, two = Choices(seed), Choices(seed)
        chosen = two.rare(0.1, 0.1)
        assert one.chance(0.1) == (chosen == 1)
        assert one.below(1000) == two.below(1000)
        assert Choices(replay=tuple(two.made)).rare(0.1, 0.1) == chosen


def test_the_universe_holds_what_users_call():
    names = {overload.name: overload for overload in overloads()}
    assert len(names) > 900
    assert names["add.Tensor"].inplace == "Tensor.add_" and names["add.Tensor"].out == 1
    assert names["linalg_norm"].path == "linalg.norm" and names["expand"].path == "Tensor.expand"
    assert not names["expand"].inplace and names["dropout"].random
    assert names["special_logit"].pointwise and not names["special_softmax"].pointwise  # as what they are other names of


def test_the_same_index_gives_the_same_case(author):
    once, again = (author.batch("where.self", "float32", [3, 4]) for _ in range(2))
    assert [item.case for item in once.items] == [item.case for item in again.items]


@pytest.mark.parametrize("name", ["add.Tensor", "mm", "conv2d", "embedding", "layer_norm", "index_select", "cat"])
def test_most_calls_are_valid(author, name):
    batch = author.batch(name, "float32", list(range(40)))
    assert batch.valid / len(batch.items) >= 0.5


def _long(overload, dtype, seeds):
    """The calls in which an axis has thousands of elements, as sums that halves lose terms of."""
    cases = [make(overload, dtype, Choices(seed)) for seed in range(seeds)]
    return [case for case in cases if any(2503 in spec.size for spec in tensors_of(case))]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["sum.dim_IntList", "index_add", "scatter_add", "index_put", "mm", "embedding", "softmax.int"])
def test_sums_of_halves_are_long_at_times(name, dtype):
    assert _long(next(o for o in overloads() if o.name == name), dtype, 400)


@pytest.mark.parametrize("name", ["index_add", "scatter_add"])
def test_thousands_of_halves_meet_at_one_index(name):
    overload = next(o for o in overloads() if o.name == name)
    cases = _long(overload, "float16", 1200)
    met = [case for case in cases if any(spec.dtype == "int64" and 2503 in spec.size for spec in tensors_of(case))
           and not expect(Target(f"torch.{overload.path}", [overload.path]), case).expected.raised]
    assert len(met) >= 5


def test_no_choices_give_the_simplest_call():
    overload = next(o for o in overloads() if o.name == "mm")
    case = make(overload, "float32", Choices())
    assert [spec.size for spec in case.args] == [(2, 2), (2, 2)]
    assert not any(spec.requires_grad for spec in case.args)


def test_a_result_beyond_memory_is_not_judged():
    values = np.ones(4097)
    case = Case((TensorSpec(0, "float64", values.shape, (1,), 0, 0, False),), {}, [("float64", values.tobytes())])
    seen = expect(Target("torch.diagflat", ["diagflat"]), case).expected
    assert "more than are looked at" in seen.unmappable
    assert not faults(case, seen, seen) and faults(case, Observation(), seen)  # a fault only of one whose result can be compared elsewhere


def test_the_op_database_reaches_what_signatures_do_not(author):
    for name in ("max_unpool2d", "select_scatter", "linalg_lu_solve"):
        assert author.batch(name, "float32", list(range(40))).valid


def test_a_variation_of_nothing_is_the_sample():
    overload = next(o for o in overloads() if o.name == "cumsum")
    sample = samples_of(overload, "float32")[0]
    made = varied(sample, overload, "float32", Choices())
    assert made.trees == sample.trees and made.storages == sample.storages


@given(st.integers(0, 10_000))
def test_every_variation_stays_within_its_storages(seed):
    overload = next(o for o in overloads() if o.name == "addmm")
    for sample in samples_of(overload, "float32"):
        made = varied(sample, overload, "float32", Choices(seed))
        for spec in tensors_of(Case(*made.trees, made.storages)):
            dtype, data = made.storages[spec.storage]
            reach = 0 if 0 in spec.size else 1 + spec.offset + sum((n - 1) * s for n, s in zip(spec.size, spec.stride))
            assert spec.dtype == dtype and reach <= len(dtypes.to_array(data, dtype))


def _item(path, numbers, **facts):
    spec = TensorSpec(0, "float32", (len(numbers),), (1,), 0, 0, False)
    case = Case((spec, *facts.pop("args", ())), {}, [("float32", np.array(numbers, "float32").tobytes())])
    item = expect(Target(f"torch.{path}", [path]), case)
    return replace(item, pointwise=True)


def _tensors(sizes, dtype):
    """Tensors of ones as arguments, no keywords, and their storages."""
    specs = tuple(TensorSpec(i, dtype, size, row_major(size), 0, i, False) for i, size in enumerate(sizes))
    return specs, {}, [(dtype, np.ones(int(np.prod(size)), dtype).tobytes()) for size in sizes]


def test_an_oracle_that_answers_with_the_neighbour_wavers():
    numbers = [0.789, float("nan")]
    assert wavers(_item("special.chebyshev_polynomial_u", numbers, args=(2,)))
    assert not wavers(_item("sin", numbers))


def test_an_out_is_excused_where_the_oracle_wavers_without_it_too():
    numbers, out = (TensorSpec(i, "float32", (2,), (1,), 0, i, False) for i in range(2))
    storages = [("float32", np.float32([0.789, np.nan]).tobytes()), ("float32", bytes(8))]
    case = Case((numbers, 2), {"out": out}, storages, relation="out")
    item = replace(expect(Target("torch.special.chebyshev_polynomial_u", ["special.chebyshev_polynomial_u"]), case), pointwise=True)
    assert any(fault.phase == "values" for fault in wavers(item, _all_nan(item)))


def test_what_is_written_in_place_is_excused_where_its_numbers_waver():
    """The loops of `sgn` over vectors and over single elements part at infinity."""
    x = TensorSpec(0, "complex64", (1,), (1,), 0, 0, False)
    case = Case((x,), {}, [("complex64", np.complex64([complex(np.inf, 0)]).tobytes())], relation="inplace")
    item = replace(expect(Target("torch.Tensor.sgn_", ["Tensor.sgn_"]), case), pointwise=True)
    assert any(fault.phase == "written" for fault in wavers(item))


def _all_nan(item):
    """The oracle's answer with NaN in place of its numbers."""
    nan = [replace(value, data=np.full(2, np.nan, "float32").tobytes()) for value in item.expected.values]
    return replace(item.expected, values=nan)


@pytest.mark.parametrize("path, args, relation, numbers, contradicts", [
    ("narrow_copy", (0, -1, 1), "call", [1 + 2j, np.inf, 3j], True),  # also where some are not finite
    ("narrow_copy", (0, 1, 1), "call", [1 + 2j, np.inf, 3j], False),
    ("Tensor.cumprod_", (0,), "inplace", [1 + 2j, 2 - 1j, 3j], False),  # slopes of complex numbers are taken along both parts
    ("abs", (), "call", [1 + 2j, 2 - 1j, 3j], False),
])
def test_an_oracle_whose_gradient_is_not_that_of_its_values_wavers(path, args, relation, numbers, contradicts):
    spec = TensorSpec(0, "complex128", (3,), (1,), 0, 0, True)
    item = expect(Target(f"torch.{path}", [path]), Case((spec, *args), storages=[("complex128", np.array(numbers).tobytes())], relation=relation, differentiate=1))
    assert any("slope" in fault.reason for fault in wavers(item)) == contradicts


def test_an_oracle_that_reads_behind_its_input_wavers():
    twice = TensorSpec(0, "int64", (2,), (0,), 0, 0, False)  # nanmedian takes the second element from behind it
    assert wavers(expect(Target("torch.nanmedian", ["nanmedian"]), Case((twice, 0), storages=[("int64", bytes([2] + [0] * 7))])))
    matrix, pivots = TensorSpec(0, "float32", (4, 5), (5, 1), 0, 0, False), TensorSpec(1, "int32", (3,), (1,), 0, 1, False)  # a pivot too few
    assert wavers(expect(Target("torch.lu_unpack", ["lu_unpack"]), Case((matrix, pivots), storages=[
        ("float32", np.ones(20, "float32").tobytes()), ("int32", np.ones(3, "int32").tobytes())])))


def test_an_oracle_whose_attention_depends_on_the_kernel_wavers():
    """Scores that are all NaN make zeros by one and NaN by another."""
    numbers = np.linspace(-1, 1, 16, dtype="float32")
    storages = [("float32", np.concatenate([[np.inf, -np.inf], numbers[2:]]).astype("float32").tobytes()), *[("float32", numbers.tobytes())] * 2]
    given = tuple(TensorSpec(i, "float32", (1, 1, 4, 4), (16, 16, 4, 1), 0, i, False) for i in range(3))
    made = expect(Target("torch.nn.functional.scaled_dot_product_attention", ["nn.functional.scaled_dot_product_attention"]), Case(given, {}, storages))
    strict = SimpleNamespace(observe=kind_of(made).observe, faults=kind_of(made).faults, reruns=lambda *_: [], excuses_for=lambda *_: None)
    assert doubts._differs_without_fused_attention(strict, made) and not doubts._differs_without_fused_attention(strict, _item("sin", [0.5]))


@pytest.mark.parametrize("path, size, wavering", [("linalg.vector_norm", (), True), ("linalg.vector_norm", (1,), False), ("sum", (), False)])
def test_an_oracle_that_reads_the_extent_of_no_axis_wavers(path, size, wavering):
    """A norm by an order that is NaN is the number itself where one element was squeezed, else NaN."""
    x, order = TensorSpec(0, "float32", size, row_major(size), 0, 0, False), [float("nan")] * (path != "sum")
    assert bool(wavers(expect(Target(f"torch.{path}", [path]), Case((x, *order, 0), {}, [("float32", np.float32(2).tobytes())])))) == wavering


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="what AddressSanitizer hands out holds the same bytes each time")
def test_an_oracle_that_changes_its_last_digits_at_times_is_restless():
    """`lstsq` of a matrix of equal columns takes pivots that nobody set, and with them other ways to the same numbers."""
    matrix, right = TensorSpec(0, "float32", (2, 3), (3, 0), 0, 0, False), TensorSpec(1, "float32", (2, 4), (4, 1), 0, 1, False)
    numbers = [np.array([0.428, 0, 0, 0.915], "float32"), np.array([2, -2, 0, -3, -1, -3, 3, 0], "float32")]
    case = Case((matrix, right, 0.01), storages=[("float32", array.tobytes()) for array in numbers])
    assert "determinism" in {fault.property for fault in restless(expect(Target("torch.linalg.lstsq", ["linalg.lstsq"]), case))}
    assert not restless(_item("sin", [0.5, 1.0]))


@pytest.mark.parametrize("path, args, wavering", [
    ("native_group_norm", (None, 1, 4, 1, 2, 1e-5), True),  # reads its weight by the strides of another
    ("layer_norm", (None,), False), ("as_strided", ((2,), (1,)), False)])  # the last is asked for memory
def test_an_oracle_that_takes_no_heed_of_strides_wavers(path, args, wavering):
    storages = [("float32", np.arange(1, 9, dtype="float32").tobytes())] * 2
    x = TensorSpec(0, "float32", (1, 4), (4, 1), 0, 0, False)
    stepped = TensorSpec(1, "float32", (4,), (2,), 0, 1, False)
    given = {"native_group_norm": (x, stepped, *args), "layer_norm": (x, (4,), stepped, *args), "as_strided": (stepped, *args)}[path]
    assert bool(wavers(expect(Target(f"torch.{path}", [path]), Case(given, {}, storages)))) == wavering


@pytest.mark.parametrize("path, args, wavering", [
    ("narrow_copy", (0, -1, 1), True),  # PyTorch gives zeros
    ("ldexp", (TensorSpec(1, "int64", (), (), 0, 1, False),), True),  # infinities, and gradients of zero
    ("narrow_copy", (0, 1, 2), False), ("abs", (), False), ("floor", (), False)])  # the number 0 is no place to ask abs, nor a whole one floor
def test_a_gradient_that_is_not_that_of_the_values_wavers(path, args, wavering):
    x = TensorSpec(0, "float32", (4,), (1,), 0, 0, True)
    numbers, exponent = np.array([0.0, 1.0, -2.5, 3.0] if path != "ldexp" else [1.0] * 4, "float32"), np.array(1100)
    case = Case((x, *args), {}, [("float32", numbers.tobytes()), ("int64", exponent.tobytes())], differentiate=1)
    found = wavers(expect(Target(f"torch.{path}", [path]), case))
    assert any(fault.phase == "gradients" for fault in found) == wavering


def test_an_oracle_that_slips_by_half_a_percent_or_warns_of_no_out_wavers():
    x, by = TensorSpec(0, "float32", (1,), (1,), 0, 0, True), TensorSpec(1, "int64", (2,), (1,), 0, 1, False)
    storages = [("float32", np.ones(1, "float32").tobytes()), ("int64", np.array([8, -1]).tobytes())]
    found = wavers(expect(Target("torch.ldexp", ["ldexp"]), Case((x, by), {}, storages, differentiate=1)))  # in the gradient 2 to the power of -1 is 0
    assert {("gradient", "gradients"), ("warning", "")} <= {(fault.property, fault.phase) for fault in found}


def test_a_slope_of_one_among_very_unequal_numbers_is_seen():
    x, by = TensorSpec(0, "float64", (3,), (1,), 0, 0, True), TensorSpec(1, "int64", (), (), 0, 1, False)
    storages = [("float64", np.array([1.0, 2.0**53, -3.0]).tobytes()), ("int64", np.array(-1).tobytes())]
    found = wavers(expect(Target("torch.ldexp", ["ldexp"]), Case((x, by), {}, storages, differentiate=1)))  # PyTorch's gradient is 0, not 1/2
    assert any(fault.phase == "gradients" for fault in found)


@pytest.mark.parametrize("stride, wavering", [((1, 4, 4, 4, 8), True), ((2, 2, 2, 1, 1), False)])
def test_an_oracle_that_writes_elsewhere_into_out_wavers(stride, wavering):
    storages = [("int64", np.arange(n, dtype="int64").tobytes()) for n in (240, 12)]
    x, out = TensorSpec(0, "int64", (4, 1, 3, 5, 4), (60, 60, 20, 4, 1), 0, 0, False), TensorSpec(1, "int64", (4, 1, 1, 2, 1), stride, 0, 1, False)
    case = Case((x, (2, 2, 3)), {"out": out}, storages, relation="out")
    found = wavers(expect(Target("torch.nn.functional.avg_pool3d", ["nn.functional.avg_pool3d"]), case))
    assert any(fault.phase == "written" for fault in found) == wavering


@pytest.mark.parametrize("company", [0, 63])
def test_one_by_one_gives_what_the_whole_gives(company):
    x, y = torch.arange(3.0), torch.arange(2.0).unsqueeze(1)
    assert torch.equal(one_by_one(company, torch.add)(x, y, alpha=2), torch.add(x, y, alpha=2))


def test_one_by_one_asks_for_the_first_of_many(monkeypatch):
    """Of 65,600 complex numbers with gradients it took a minute, which was all the time that a doubt has."""
    monkeypatch.setattr(doubts, "_MOST_ALONE", 3)
    x, sizes = torch.arange(12.0).reshape(3, 4).t().requires_grad_(), []

    def doubled(x):
        sizes.append(x.numel())
        return x * 2

    result = one_by_one(0, doubled)(x)
    assert sizes == [1, 1, 1, 9] and torch.equal(result, x * 2)
    assert torch.equal(torch.autograd.grad(result.sum(), x)[0], torch.full((4, 3), 2.0))


@pytest.mark.parametrize("name, wavering", [("Softshrink", True), ("GELU", False)])
def test_a_module_whose_loops_disagree_wavers(name, wavering):
    """At NaN: the loop over vectors gives softshrink's gradient a zero there, that over single elements lets it pass."""
    numbers = np.full(40, np.nan, np.float32)
    case = ModuleCase(inputs=(TensorSpec(0, "float32", (40,), (1,), 0, 0, True),), storages=[("float32", numbers.tobytes())])
    found = wavers(expect(Target(f"torch.nn.{name}", [f"nn.{name}"]), case))
    assert any(fault.property == "gradient" for fault in found) == wavering


@pytest.mark.parametrize("padding, wavering", [((3, -1), True), ((2, -1), False)])
def test_the_gradient_of_memory_that_nobody_set_is_anybodys(padding, wavering):
    """Of two elements that are left, of which circular padding asks three."""
    x = TensorSpec(0, "float32", (1, 2, 3), (6, 3, 1), 0, 0, True)
    case = ModuleCase(args=(padding,), inputs=(x,), storages=[("float32", np.arange(6, dtype=np.float32).tobytes())])
    found = wavers(expect(Target("torch.nn.CircularPad1d", ["nn.CircularPad1d"]), case))
    assert any(fault.property == "gradient" for fault in found) == wavering


@pytest.mark.parametrize("dtype, relation", [("float32", "call"), ("bfloat16", "autocast")])
def test_reruns_move_every_element_of_a_matrix(dtype, relation):
    """Of one whose rows are the same memory too, which is else singular whatever moves; of halves in the precision it computes in."""
    x = TensorSpec(0, dtype, (4, 4), (0, 1), 0, 0, False)
    item = expect(Target("torch.linalg.det", ["linalg.det"]), Case((x,), {}, [(dtype, bytes(range(1, 9)) * 2)], relation=relation))
    for more in (False, True):
        assert any(run.values[0].array() != 0 for run in kind_of(item).reruns(torch, item, more)[1:])


def test_reruns_move_the_cotangents_of_a_linear_call():
    """Whose gradient does not depend on its input."""
    x = TensorSpec(0, "float32", (8,), (1,), 0, 0, True)
    item = expect(Target("torch.flip", ["flip"]), Case((x, (0,)), {}, [("float32", np.arange(1, 9, dtype="float32").tobytes())], differentiate=1))
    exact, *moved = kind_of(item).reruns(torch, item) + kind_of(item).reruns(torch, item, more=True)
    assert (exact.gradients[0].array() == item.expected.gradients[0].array()).all()
    for run in moved:
        difference = np.abs(run.gradients[0].array() - exact.gradients[0].array())
        assert 0 < difference.max() <= 2.0**-22


@pytest.mark.parametrize("dtype, wavering", [("float16", True), ("float32", False)])
def test_an_optimizer_whose_loops_disagree_wavers(dtype, wavering):
    """0.1 * 7 - 0.6997: of halves the loop over single elements rounds the product first, and nothing is left."""
    storages = [(dtype, np.array([number], dtype).tobytes()) for number in (7, -0.69970703)]
    p, grad = (TensorSpec(i, dtype, (1,), (1,), 0, i, i == 0) for i in range(2))
    case = OptimizerCase([{"params": [p]}], {"lr": 1e4, "weight_decay": 0.1}, [[grad]], storages=storages)
    assert bool(wavers(expect(Target("torch.optim.SGD", ["optim.SGD"]), case))) == wavering


@pytest.mark.parametrize("dtype", ["int64", "float16"])
def test_an_oracle_that_refuses_its_own_result_wavers(dtype):
    """linear of three axes, into memory of other strides."""
    case = Case(*_tensors([(2, 3, 4), (5, 4)], dtype))
    out = TensorSpec(9, dtype, (2, 3, 5), (1, 2, 6), 0, len(case.storages), False)
    case = replace(case, kwargs={"out": out}, storages=[*case.storages, (dtype, np.ones(30, dtype).tobytes())], relation="out")
    path = "nn.functional.linear"
    assert any(fault.reason.startswith("error") for fault in wavers(expect(Target(f"torch.{path}", [path]), case)))


@pytest.mark.parametrize("name, dtype, wanted", [
    ("sinh", "float32", {"error", "layout", "gradgrad"}), ("split_with_sizes_copy", "bfloat16", {"out"}), ("uniform_", "float32", {"random", "layout"}), ("any", "int64", {"determinism", "autocast"})])
def test_what_no_call_asked_for_is_sought(author, name, dtype, wanted):
    found = author.reach(name, dtype, wanted).items
    assert wanted <= {asked for item in found for asked in kind_of(item).asked(item)} and len(found) <= len(wanted)
    assert not author.reach(name, dtype, set()).items
    again = author.replay(name, dtype, found[0].choices)
    assert [item.case.args for item in again] == [found[0].case.args]


def test_singular_vectors_are_compared_by_what_is_determined(author):
    for item in author.batch("linalg_svd", "float32", list(range(8))).items:
        if not item.expected.raised:
            assert len(item.expected.determined) == 4


def test_eigenvalues_are_compared_in_one_order():
    values = torch.tensor([[1 + 1j, 1 - 1j, 3, -2], [0.5j, -0.5j, 2 + 1j, 2 - 1j]])
    function = ship.build(gauge.determined("linalg.eigvals"), torch)
    assert torch.equal(function(values), function(values[:, [2, 3, 1, 0]]))
    assert function(values)[0].tolist() == [1 - 1j, -2, 3, 1 + 1j]


def test_few_operations_need_a_rule_of_their_own():
    rules = json.loads((Path(arguments.__file__).parent / "shapes.json").read_text())
    assert len(rules) <= 0.04 * len(overloads())


@pytest.mark.parametrize("path, parameters", [
    ("nn.functional.cross_entropy", {"input": "Tensor", "weight": "Optional[Tensor]", "reduction": "str", "label_smoothing": "float"}),
    ("nn.functional.lp_pool2d", {"norm_type": "number", "kernel_size": "List[int]", "stride": "Optional[List[int]]", "ceil_mode": "bool"}),
    ("nn.functional.interpolate", {"input": "Tensor", "scale_factor": "Optional[List[float]]", "mode": "str"}),
    ("nn.functional.logsigmoid", {"self": "Tensor"}),  # by a schema of another name
    ("masked.var", {"dim": "Optional[List[int]]", "dtype": "Optional[ScalarType]", "mask": "Optional[Tensor]"}),
    ("signal.windows.kaiser", {"M": "int", "beta": "float", "sym": "bool"}),
])
def test_functions_written_in_python_have_signatures_too(path, parameters):
    found = [{p.name: p.type for p in overload.parameters} for overload in overloads() if overload.path == path]
    assert len(found) == 1 and parameters.items() <= found[0].items()


def test_every_function_of_nn_functional_is_tried():
    tried = {overload.path.split(".")[-1] for overload in overloads()}
    public = {name for name, value in vars(torch.nn.functional).items() if callable(value) and getattr(value, "__module__", "") in (
        "torch.nn.functional", "torch._jit_internal", None) and name[0] != "_" and not isinstance(value, type)}
    left = {name for name in public - tried if not name.endswith(("_", "_with_indices", "_mm")) and not name.startswith(("assert_", "has_", "handle_", "boolean"))}
    assert not left
