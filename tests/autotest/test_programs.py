"""Programs: several calls on each other's results, checked step by step and from end to end."""

import json

import pytest
import torch

from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings
from weir_autotest.cases import database
from weir_autotest.cases.case import TensorSpec
from weir_autotest.cases.program import Program, Ref, Step
from weir_autotest.cases.target import Target
from weir_autotest.cases.values import SLIP, Raised, Value
from weir_autotest.check import programs
from weir_autotest.generate import grow
from weir_autotest.generate.choices import Choices
from weir_autotest.generate.universe import overloads
from weir_autotest.workers.program import Run


def target(path):
    return Target(f"torch.{path}", [path])


def written_view():
    """x, its transpose, an in-place write into the transpose, and a sum of x."""
    x = TensorSpec(0, "float32", (2, 2), (2, 1), 0, 0, False)
    steps = [Step(target("t"), (x,), {}), Step(target("Tensor.mul_"), (Ref(0, 0, "float32", (2, 2)), 3.0), {}, True),
             Step(target("sum"), (x,), {})]
    return Program([("float32", torch.arange(4.0).numpy().tobytes())], steps)


class CopyingTorch:
    """PyTorch whose `t` copies: each call alone gives the right numbers."""

    def __getattr__(self, name):
        return getattr(torch, name)

    @staticmethod
    def t(x):
        return x.t().clone(memory_format=torch.preserve_format)


def test_a_write_through_a_view_reaches_the_end():
    progress = Run(torch, written_view()).run()
    assert progress.steps[-1].values[0].array() == 18.0
    assert [step.aliases for step in progress.steps] == [[0], [0], [None]]
    assert progress.versions == [1, 1, 0]


def test_a_copy_where_a_view_is_due_is_found():
    program = written_view()
    expected, got = Run(torch, program).run(), Run(CopyingTorch(), program).run()
    (fault,) = programs.faults(program, expected, got)
    assert fault.property == "alias" and "step 0" in fault.reason


@pytest.mark.parametrize("names, message, lenient, excused", [
    (("RuntimeError", "Exception"), "one of the variables needed for gradient computation has been modified by an inplace operation", [True], [""]),
    (("RuntimeError", "Exception"), "The size of tensor a (3) must match the size of tensor b (0) at non-singleton dimension 1", [], []),
    (("NotImplementedError", "RuntimeError", "Exception"), "the derivative for 'inplace version of atanh' is not implemented.", [], []),
    (("RuntimeError", "Exception"), "derivative for aten::native_channel_shuffle is not implemented", [], []),
    (("RuntimeError", "Exception", SLIP), "INTERNAL ASSERT FAILED", [False], ["oracle slips"]),
])
def test_gradients_that_the_oracle_refuses_or_does_not_have(names, message, lenient, excused):
    program = written_view()
    expected, got = Run(torch, program).run(), Run(torch, program).run()
    expected.gradients = Raised(names, message)
    found = programs.faults(program, expected, got)
    assert [fault.lenient for fault in found] == lenient and [fault.excuse for fault in found] == excused


def test_programs_build_on_their_own_results():
    items = [item for index in range(30) for item in grow.grow(grow.pool(list(overloads())), "float32", Choices(index), index)]
    grown = [item.case for item in items if isinstance(item.case, Program)]
    assert len(grown) >= 20
    refs = [leaf for program in grown for step in program.steps for leaf in step.args if isinstance(leaf, Ref)]
    assert refs and any(step.inplace for program in grown for step in program.steps)


def test_what_draws_is_no_step():
    """A function may draw what its schema takes as an argument: nobody seeds the steps of a program."""
    drawing = [o for o in overloads() if o.name.startswith("fractional_max_pool2d")]
    items = [item for index in range(100) for item in grow.grow(drawing, "float32", Choices(index), index)]
    for item in items:
        if isinstance(item.case, Program):
            before = torch.default_generator.get_state()
            Run(torch, item.case).run()
            assert torch.equal(before, torch.default_generator.get_state()), item.case


def test_pytorch_agrees_with_itself():
    (score,) = run(Settings("torch", ("float32",), ("program",), cases=30)).scores
    assert score.valid > 60 and score.failures == []


def test_a_program_survives_json():
    program = written_view()
    assert database.decode(json.loads(json.dumps(database.encode(program)))) == program


class WritingTorch(CopyingTorch):
    """PyTorch whose `t` writes to its own result once more."""

    @staticmethod
    def t(x):
        return x.t().clone().add_(0)


@pytest.mark.parametrize("error, absent", [(NotImplementedError, True), (RuntimeError, False)])
def test_a_step_that_the_subject_does_not_have_is_no_wrong_answer(error, absent):
    class Lacking(CopyingTorch):
        @staticmethod
        def t(x):
            raise error("not here")
    program = written_view()
    (fault,) = programs.faults(program, Run(torch, program).run(), Run(Lacking(), program).run())
    assert fault.absent == absent and fault.property == ("unsupported" if absent else "value")


def test_writes_to_a_result_before_it_is_given_do_not_count():
    program = Program(written_view().storages, written_view().steps[:1])
    assert Run(WritingTorch(), program).run().versions == [0, 0]


@pytest.mark.parametrize("number, excuses", [(3e38, {"overflow"}), (2.9e38, None), (-3e38, None)])
def test_a_number_that_overflowed_on_the_oracles_way_alone_is_that_of_double_precision(number, excuses):
    program = written_view()
    expected, got, exact = (Run(torch, program).run() for _ in range(3))
    for progress, numbers in ((expected, [1.0, float("nan")]), (got, [1.0, number]), (exact, [1.0, 3e38])):
        progress.final[0] = Value("float32", (2,), torch.tensor(numbers).numpy().tobytes())
    (fault,) = programs.faults(program, expected, got)
    assert programs.excuses_for(fault, expected, got, [exact]) == excuses


@pytest.mark.parametrize("t, w, excuses", [
    ([1.0, float("nan")], [1.0, float("inf")], {"overflow"}), ([1.0, float("inf")], [1.0, float("inf")], set()),
    ([1.0, float("nan")], [2.0, float("inf")], None), ([1.0, 1.0], [1.0, float("nan")], None), ([1.0, float("nan")], [1.0, 1.0], None)])
def test_what_infinities_become_is_asked_of_each_step_and_numbers_of_the_end(t, w, excuses):
    program = written_view()
    expected, got = (Run(torch, program).run() for _ in range(2))
    for progress, numbers in ((expected, t), (got, w)):
        progress.final[0] = Value("float32", (2,), torch.tensor(numbers).numpy().tobytes())
    found = [programs.excuses_for(fault, expected, got, [expected]) for fault in programs.faults(program, expected, got)]
    assert found == ([] if excuses == set() else [excuses])
