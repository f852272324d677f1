"""The kinds of case, single calls, whole programs and objects, and what drivers and workers ask of each."""

from contextlib import contextmanager

import numpy as np

from ..cases import dtypes, plans, render, scripts
from ..cases.case import Case
from ..cases.layout import is_plain, plain
from ..cases.objects import CASES, OptimizerCase, SchedulerCase
from ..cases.program import Program
from ..cases.protocol import Item
from ..check import journals, programs, properties, rounding, ties
from ..check.properties import Fault
from ..check.reference import (DOUBLES, PERTURBATIONS, along_a_line, demoted, floating_inputs, holds_doubles, in_floats, in_single, is_double, nudged, poisoned, promoted, promoted_object,
                              promoted_program, rounds_to_default, shown_epsilon)
from . import graphs, objects, repeat, transforms
from .program import Run
from .trial import Trial


@contextmanager
def _default_double(W):
    before = W.get_default_dtype()
    W.set_default_dtype(W.float64)
    try:
        yield
    finally:
        W.set_default_dtype(before)


class CallKind:
    """One call of one function."""

    unseen: frozenset = frozenset()  # kinds of planted faults that no case of this kind can show

    def observe(self, W, item: Item, wrap=lambda function: function):
        """What the call does in framework `W`. Raises ship.Unresolved where `W` has no such function."""
        return Trial(W, wrap(item.target.resolve(W)), item.case).run()

    def faults(self, item: Item, got) -> list[Fault]:
        """What is wrong with `got`, before any rerun."""
        choosing = any(ties.choosing(path, item.case) for path in item.target.paths)
        return properties.faults(item.case, item.expected, got, item.random, choosing)

    def repeated(self, W, item: Item, got) -> list[Fault]:
        """What differs between runs of the call, of which `got` was the first."""
        return repeat.faults(item, item.target.resolve(W), W, got)

    def traced(self, W, item: Item, got) -> list[Fault]:
        """What differs where the case runs as a graph."""
        return graphs.faults(W, item, item.target.resolve(W), got) if _of_tensors(item) else []

    def transformed(self, W, item: Item, got, checks: set) -> list[Fault]:
        """What differs where the case runs for a batch and in forward mode, of those that are among `checks`."""
        return transforms.faults(W, item, item.target.resolve(W), got, checks) if _of_tensors(item) else []

    def reruns(self, W, item: Item, more: bool = False) -> list:
        """Observations in double precision, exact inputs first, then perturbed ones. What is to be added to them where they do not
        settle a case, if `more`: as many in the case's own precision; then, where that is double precision already, as many in
        single precision, and in double along a line."""
        function, rng = item.target.resolve(W), np.random.default_rng((item.index, more))
        decomposes = item.decomposes and item.case.relation in ("call", "autocast")
        case = plain(item.case) if decomposes else item.case  # so that every element of a matrix moves by itself
        if not more:
            shown = shown_epsilon(item.case, item.expected.values)
            cases = [promoted(case, noise, shown) for noise in [None] + [rng] * PERTURBATIONS]
            if not floating_inputs(item.case) or rounds_to_default(item.case, shown):  # whole numbers compute in the default dtype
                with _default_double(W):
                    return [Trial(W, function, case).run() for case in cases]
        else:
            double = is_double(item.case)
            # One element's rounding shows in one run of many; the runs of a whole row show it in few.
            # So it does in a decomposition whose pivots, or the order of whose values, the last bit decides.
            many = double or item.pointwise or decomposes
            if decomposes and case.relation == "autocast":
                case = in_single(case)  # in which it computes
            case = self._with_floats(W, item, function) or case
            cases = [nudged(case, rng) for _ in range(DOUBLES if many else PERTURBATIONS)]
            if double:
                narrow = demoted(item.case)
                cases += [narrow] + [nudged(narrow, rng) for _ in range(DOUBLES - 1)] + along_a_line(item.case, rng)
        return [Trial(W, function, case).run() for case in cases]

    def _with_floats(self, W, item: Item, function) -> Case | None:
        """The call on floating numbers, if it takes whole ones and gives the same of these, floating too: it computes in them."""
        floating = all(value is None or value.number_dtype in dtypes.EPSILON for value in item.expected.values or ())
        single = floating and shown_epsilon(item.case, item.expected.values) >= dtypes.EPSILON["float32"] and not is_double(item.case)
        case = in_floats(item.case) if single and item.case.relation == "call" and not item.random else None
        twin = Trial(W, function, case).run() if case else None
        if twin is None or twin.raised or twin.structure != item.expected.structure:
            return None
        pairs = zip(item.expected.values, twin.values)
        return case if all(a is b or a and b and (a.dtype, a.shape, a.data) == (b.dtype, b.shape, b.data) for a, b in pairs) else None

    def excuses_for(self, fault: Fault, item: Item, got, reruns: list) -> frozenset | None:
        """The kinds of excuse that the numbers of `fault` need, none within tolerance; None where they are wrong."""
        return rounding.excuses_for(fault, item, got, reruns)

    def asked(self, item: Item) -> list[str]:
        """Which properties the case puts to the subject."""
        expected = item.expected
        if expected.raised:
            return ["error"]
        if item.case.relation != "call":
            return [item.case.relation, *self._run_otherwise(item)]
        names = ["value", "dtype", "shape", "stride", "alias", "version", "requires_grad", "warning"]
        names += self._run_otherwise(item)
        names += ["random"] if item.draws else []
        names += ["determinism"] if repeat.repeats(item) else []
        names += ["layout"] if not is_plain(item.case) else []
        names += ["gradient"] if isinstance(expected.gradients, list) else []
        names += ["gradgrad"] if isinstance(expected.second, list) else []
        return names

    def _run_otherwise(self, item: Item) -> list[str]:
        return ["graph", *transforms.asked(item)] if _of_tensors(item) else []

    def free(self, item: Item) -> bool:
        """Whether numbers of the case are not compared: drawn ones, and those of memory that nobody wrote."""
        return item.random

    def call(self, item: Item) -> str:
        """The case in one line."""
        return render.call(item.target.label, item.case)

    def script(self, item: Item, failure) -> str:
        """The case as a script that runs in either framework."""
        return render.script(item, failure)

    def plain(self, item: Item) -> Case | None:
        """The case with row-major inputs, None if that makes no difference."""
        return None if is_plain(item.case) else plain(item.case)


class ProgramKind:
    """Several calls on each other's results."""

    unseen = frozenset({"lone_axis", "muted"})  # a step's strides and warnings are asked of its own case

    def observe(self, W, item: Item, wrap=lambda function: function):
        for step in item.case.steps:
            step.target.resolve(W)
        return Run(W, item.case, wrap).run()

    def faults(self, item: Item, got) -> list[Fault]:
        return programs.faults(item.case, item.expected, got)

    def repeated(self, W, item: Item, got) -> list[Fault]:
        return []  # its steps are repeated one by one

    def traced(self, W, item: Item, got) -> list[Fault]:
        return graphs.program_faults(W, item, got)

    def transformed(self, W, item: Item, got, checks: set) -> list[Fault]:
        return []  # its steps are transformed one by one

    def reruns(self, W, item: Item, more: bool = False) -> list:
        rng = np.random.default_rng(item.index)
        return [] if more else [Run(W, promoted_program(item.case, noise)).run() for noise in [None] + [rng] * PERTURBATIONS]

    def excuses_for(self, fault: Fault, item: Item, got, reruns: list) -> frozenset | None:
        return programs.excuses_for(fault, item.expected, got, reruns)

    def asked(self, item: Item) -> list[str]:
        names = ["value", "dtype", "shape", "alias", "version", "requires_grad", "graph"]
        return names + (["gradient"] if isinstance(item.expected.gradients, list) else [])

    def free(self, item: Item) -> bool:
        return item.random

    def call(self, item: Item) -> str:
        return "; ".join(render.steps(item.case))

    def script(self, item: Item, failure) -> str:
        return render.program_script(item, failure)

    def plain(self, item: Item) -> None:
        return None  # its steps are tried so one by one


class ObjectKind:
    """A module, an optimizer or a scheduler, from its construction to its state dict."""

    #: A journal holds no strides, aliases, versions and warnings, and its numbers may drift by some roundings.
    unseen = frozenset({"relaid", "last_element", "lone_axis", "stale_alias", "bumped", "spoiled_input", "spurious_history", "muted"})

    def observe(self, W, item: Item, wrap=lambda function: function):
        return objects.observe(W, item.target.resolve(W), item.case, wrap)

    def faults(self, item: Item, got) -> list[Fault]:
        return journals.faults(item.expected, got)

    def repeated(self, W, item: Item, got) -> list[Fault]:
        return []  # the operations inside are repeated on their own

    def traced(self, W, item: Item, got) -> list[Fault]:
        return [] if got.raised else graphs.object_faults(W, item, item.target.resolve(W))

    def transformed(self, W, item: Item, got, checks: set) -> list[Fault]:
        return []  # the operations inside are transformed on their own

    def reruns(self, W, item: Item, more: bool = False) -> list:
        rng, kind = np.random.default_rng((item.index, more)), item.target.resolve(W)
        if more:
            cases = [nudged(item.case, rng) for _ in range(PERTURBATIONS)] + (along_a_line(item.case, rng) if holds_doubles(item.case) else [])
        else:
            cases = [promoted_object(item.case, noise) for noise in [None] + [rng] * PERTURBATIONS]
            # An optimizer counts steps, and computes with the count, in the default dtype; so does a module with whole numbers.
            if isinstance(item.case, OptimizerCase) or any(dtype not in dtypes.EPSILON and dtype != "bool" for dtype, _ in item.case.storages):
                with _default_double(W):
                    return [objects.observe(W, kind, case) for case in cases]
        return [objects.observe(W, kind, case) for case in cases]

    def excuses_for(self, fault: Fault, item: Item, got, reruns: list) -> frozenset | None:
        return journals.excuses_for(fault, item.expected, got, reruns, poisoned(item.case))

    def asked(self, item: Item) -> list[str]:
        if item.expected.raised:
            return ["error"]
        names = {entry.property for entry in item.expected.entries} | {"dtype", "shape"}
        names |= set() if isinstance(item.case, SchedulerCase) else {"graph"}
        return [*names, *(["random"] if any(entry.free for entry in item.expected.entries) else [])]

    def free(self, item: Item) -> bool:
        return any(entry.free for entry in item.expected.entries)

    def call(self, item: Item) -> str:
        return scripts.summary(item.target.label, item.case)

    def script(self, item: Item, failure) -> str:
        return scripts.script(item, failure)

    def plain(self, item: Item) -> None:
        return None


def _of_tensors(item: Item) -> bool:
    return all(plans.on_tensors(path) for path in item.target.paths)


_KINDS = {Case: CallKind(), Program: ProgramKind(), **dict.fromkeys(CASES.values(), ObjectKind())}


def kind_of(item: Item):
    """The kind of the item's case."""
    return _KINDS[type(item.case)]
