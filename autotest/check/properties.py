"""The properties of a call, and which of them a subject's observation breaks."""

from dataclasses import dataclass, replace

import numpy as np

from ..cases import dtypes
from ..cases.case import Case, seen, tensors_of
from ..cases.observed import CANNOT_BUILD, Observation
from ..cases.values import SLIP, Raised, Value
from . import ties, tolerance

#: What is scored, per op and dtype. A wrong in-place, out= or autocast call is charged to that way of calling.
PROPERTIES = ("value", "dtype", "shape", "stride", "alias", "version", "requires_grad", "gradient", "gradgrad", "error",
              "inplace", "out", "layout", "determinism", "autocast", "random", "crash", "state", "graph", "warning", "vmap", "forward")

#: Raised for what a subject does not claim to have; charged to no property but counted.
UNSUPPORTED = {"NotImplementedError", CANNOT_BUILD}


@dataclass(frozen=True)
class Fault:
    """One broken property. With `phase`, numbers differ by more than rounding: reruns of the oracle may still accept them.

    `lenient`: the subject accepts what the oracle refuses, which hurts portability but gives no wrong answer.
    `excuse`: the kind of excuse by which the value is accepted; such a fault is counted and charged to nobody.
    `absent`: the subject does not claim to have this; the property "unsupported" stands for the whole call.
    `raised`: the subject's error, where the oracle refuses the call by another.
    """

    property: str
    reason: str
    phase: str = ""
    position: int = 0
    lenient: bool = False
    absent: bool = False
    excuse: str = ""
    raised: Raised | None = None


#: The property of a fault in the oracle that leaves nothing of its answer certain.
ANYTHING = "anything"

#: Exceptions whose cause is a number: whether a matrix is singular is for rounding to say.
SINGULAR = {"LinAlgError", "_LinAlgError"}

#: Ways of calling that are properties of their own.
WAYS = ("inplace", "out", "autocast")


def unsupported(reason: str, case) -> Fault:
    """The fault of a subject that does not claim to have a call at all, or this way of making it."""
    relation = getattr(case, "relation", "call")
    return Fault(relation if relation in WAYS else "unsupported", reason, absent=True)


def lacks_call(fault: Fault) -> bool:
    """Whether the fault is one of `unsupported`: nothing else was asked then, the graph neither."""
    return fault.absent and fault.property in ("unsupported", *WAYS)


def faults(case: Case, expected: Observation, got: Observation, random: bool = False, choosing: bool = False) -> list[Fault]:
    """What is wrong with `got`; the oracle observed `expected`. `choosing`: its indices may name any of several equal values."""
    if got.raised and got.raised.names[0] in UNSUPPORTED:
        return [] if expected.raised else [unsupported(str(got.raised), case)]
    if expected.raised or got.raised or got.unmappable:
        found = refusals(expected, got)
        if expected.raised and by_singularity(expected.raised):  # a number said so: reruns may still excuse it
            found = [replace(fault, phase="accepted") if fault.lenient else fault for fault in found]
        if case.relation == "out" and expected.raised and expected.raised.names[0] == "TypeError":
            found = [replace(fault, lenient=True) for fault in found]  # of a call that PyTorch does not have, whatever comes of it
    else:
        found = _forward(case, expected, got, random, choosing) + _effects(case, expected, got, random, choosing)
        found += _gradients(expected, got, random and expected.determined is None)
        found = [fault for fault in found if fault.property not in got.lacks]
    if case.relation in WAYS:
        return [replace(fault, property=case.relation, reason=f"{fault.property}: {fault.reason}") for fault in found]
    return found + [Fault(name, f"no {name} can be asked for", absent=True) for name in got.lacks]


def by_singularity(raised: Raised) -> bool:
    """Whether an exception says of a number that it is none to divide by. `lu_factor`'s is a RuntimeError."""
    return bool(SINGULAR & set(raised.names)) or "would result in a division by zero" in raised.message


def refusals(expected, got) -> list[Fault]:
    """What is wrong where one of two observations is an exception, or holds what cannot be compared."""
    if expected.raised and got.raised:
        return [] if are_alike(expected.raised, got.raised) else [Fault("error", f"raised {got.raised}, but torch raises {expected.raised}", raised=got.raised)]
    if expected.raised:
        return [accepted("accepted", expected.raised)]
    if got.unmappable:  # of both: nothing that either gives can be looked at
        return [] if expected.unmappable else [Fault("value", f"returned a {got.unmappable}")]
    return [Fault("value", f"raised {got.raised}", "raised")]


def are_alike(expected: Raised, got: Raised) -> bool:
    """Whether a program that catches the oracle's error catches the subject's; a slip of the oracle may be any."""
    return bool(set(expected.names) & set(got.names) - {"Exception", "BaseException", "object"}) or SLIP in expected.names


def accepted(what: str, refusal: Raised) -> Fault:
    """The fault of accepting what the oracle refuses. By a slip it refuses nothing: the answer is neither right nor wrong, and counted."""
    slips = SLIP in refusal.names
    return Fault("error", f"{what}, but torch raises {refusal}", lenient=not slips, excuse="oracle slips" if slips else "")


def _forward(case: Case, expected: Observation, got: Observation, random: bool, choosing: bool) -> list[Fault]:
    if expected.structure != got.structure:
        return [Fault("value", f"structure: expected {expected.structure}, got {got.structure}")]
    found = []
    for i, (e, g) in enumerate(zip(expected.values, got.values)):
        wrong = difference("value", "values", i, e, g, random, expected.undefined.get(("values", i)))
        wrong = _excuse_ties(wrong, case, e, g) if choosing else wrong
        found += [wrong] if wrong else []
        if wrong is None or wrong.excuse:
            found += _strides(i, e, expected.strides[i], got.strides[i])
    for i, (e, g) in enumerate(zip(expected.determined or [], got.determined or [])):
        wrong = difference("value", "determined", i, e, g, False)
        found += [wrong] if wrong else []
    found += _histories(expected, got)
    return found + _unequal("warning", "warnings", expected.warned, got.warned)


def _histories(expected: Observation, got: Observation) -> list[Fault]:
    """Which results require a gradient. The oracle's in-place ops say so of whole numbers too, through which its engine takes no gradient."""
    found = _unequal("requires_grad", "requires_grad", expected.requires_grad, got.requires_grad)
    carried = [flag and not dtypes.is_whole(v.dtype) for flag, v in zip(expected.requires_grad, expected.values)]
    return [replace(fault, excuse="no such gradient") for fault in found] if carried == got.requires_grad else found


def difference(name: str, phase: str, position: int, e: Value | None, g: Value | None, random: bool,
               undefined: np.ndarray | None = None) -> Fault | None:
    """How two values differ, charged to property `name`; with `random` only in dtype and shape.

    `phase` and `position` say where they stand in the observation, `undefined` which elements were cast to what cannot hold them.
    """
    if e is None or g is None:
        return None if e is g else Fault(name, f"{phase} {position}: expected {e}, got {g}")
    if e.dtype != g.dtype:
        return Fault("dtype" if name == "value" else name, f"{phase} {position}: expected {e.dtype}, got {g.dtype}")
    if e.shape != g.shape:
        return Fault("shape" if name == "value" else name,
                     f"{phase} {position}: expected {list(e.shape)}, got {list(g.shape)}")
    if random or e.data == g.data:
        return None
    if e.dtype == "python str":
        return Fault(name, f"{phase} {position}: expected {e.data.decode()!r}, got {g.data.decode()!r}")
    t, w = e.array(), g.array()
    accepted = tolerance.close(w, t, dtypes.EPSILON.get(e.number_dtype, 0.0))
    if accepted.all():
        return None
    if undefined is not None and (accepted | undefined).all():
        return Fault(name, f"{phase} {position}", excuse="undefined cast")
    reason = f"{phase} {position}: {tolerance.describe(w, t, ~accepted)}"
    return Fault(name, reason, phase, position)


def _excuse_ties(fault: Fault | None, case: Case, e: Value | None, g: Value | None) -> Fault | None:
    """The fault, excused where indices differ only in which of several equal values they name."""
    comparable = fault and fault.phase and e.dtype == g.dtype == "int64"
    return replace(fault, phase="", excuse="equal values") if comparable and ties.equivalent(case, e.array(), g.array()) else fault


def _strides(position: int, value: Value | None, expected, got) -> list[Fault]:
    """Strides of extents above one; an empty tensor's mean nothing."""
    if value is None or not expected or not got or 0 in value.shape:
        return []
    if tuple(expected) == tuple(got):
        return []
    return [Fault("stride", f"values {position} of size {list(value.shape)}: expected {expected}, got {got}")]


def _same_around(case: Case, identity: int, e: Value, g: Value) -> bool:
    """Whether the memory that an `out=` is a part of agrees outside of that part."""
    spec = next(spec for spec in tensors_of(case) if spec.id == identity)
    outside = np.ones(e.shape, bool)
    seen(outside, spec)[...] = False
    return e.dtype == g.dtype and e.shape == g.shape and bool((e.array() == g.array())[outside].all())


def _effects(case: Case, expected: Observation, got: Observation, random: bool, choosing: bool) -> list[Fault]:
    found = _unequal("alias", "alias", expected.aliases, got.aliases)
    if got.versions:
        found += _unequal("value", "inputs written unnoticed", expected.spoiled, got.spoiled)
        found += _versions(case, expected.versions, got.versions)
    for key in expected.written if "version" not in got.lacks else ():
        e, g = expected.written[key], got.written.get(key)
        wrong = difference("value", "written", key, e, g, random, expected.undefined.get(("written", key)))
        wrong = _excuse_ties(wrong, case, e, g) if choosing else wrong
        if wrong and choosing and key < 0 and g is not None and _same_around(case, -1 - key, e, g):
            continue  # what is seen of that memory is a result, and compared as one
        found += [wrong] if wrong else []
    if not found:
        for i, (e, g) in enumerate(zip(expected.through, got.through)):
            differs = e != g if isinstance(e, str) or isinstance(g, str) else e.data != g.data
            if differs and not random:
                found.append(Fault("alias", f"write-through {i}: expected {e}, got {g}"))
    return found


def _versions(case: Case, expected: dict, got: dict) -> list[Fault]:
    """An `out=` may be written in any number of steps, but not unnoticed."""
    if case.relation == "out":
        got = {key: expected[key] if moved and expected[key] or not expected[key] else 0 for key, moved in got.items()}
    return _unequal("version", "version of input", expected, got)


def _unequal(name: str, what: str, expected, got) -> list[Fault]:
    return [] if expected == got else [Fault(name, f"{what}: expected {expected}, got {got}")]


def _gradients(expected: Observation, got: Observation, random: bool) -> list[Fault]:
    e, g = expected.gradients, got.gradients
    if isinstance(e, Raised):  # the oracle has no such derivative: nothing is asked of the subject
        return []
    if isinstance(g, Raised) and g.names[0] in UNSUPPORTED:
        return [Fault("gradient", str(g), absent=True)]
    if isinstance(g, Raised):
        return [Fault("gradient", f"raised {g}", "raised" if by_singularity(g) else "")]  # a number said so, as above
    if (e is None) != (g is None):
        return [Fault("gradient", f"expected {_count(e)}, got {_count(g)}")]
    # What is zero while the results are not is no function of what was drawn, and zero in every framework.
    drawn = any(value is not None and not value.dtype.startswith("python") and not _vanishes(value) for value in expected.values)
    found = [difference("gradient", "gradients", i, a, b, random and not (drawn and a is not None and _vanishes(a)))
             for i, (a, b) in enumerate(zip(e or [], g or []))]
    got.second = _with_zeros(expected.second, got.second)
    return [fault for fault in found if fault] + _second(expected.second, got.second, random)


def _with_zeros(e, g):
    """Second derivatives `g` with zeros for those that are absent, and that `e` has."""
    if not isinstance(e, list) or isinstance(g, Raised):
        return g
    return [replace(a, data=bytes(len(a.data))) if a is not None and b is None else b for a, b in zip(e, g or [None] * len(e))]


def _second(e, g, random: bool) -> list[Fault]:
    """Second derivatives. One that is zero may as well be absent: which it is depends on how a formula is written."""
    if isinstance(e, Raised):
        return []
    if isinstance(g, Raised):
        return [Fault("gradgrad", f"raised {g}", absent=g.names[0] in UNSUPPORTED)]
    length = max(len(e or []), len(g or []))
    pairs = zip(e or [None] * length, g or [None] * length)
    found = [difference("gradgrad", "second", i, a, b, random) for i, (a, b) in enumerate(pairs)
             if not (_vanishes(a) and _vanishes(b))]
    return [fault for fault in found if fault]


def _vanishes(value: Value | None) -> bool:
    return value is None or not value.array().any()


def _count(gradients: list | None) -> str:
    return "no gradients" if gradients is None else f"{len(gradients)} gradients"
