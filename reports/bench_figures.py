"""What follows from `weir.bench/v1` records: times, speed ratios, roofline fractions, verdicts."""

import math
from dataclasses import dataclass, field
from statistics import median

from .intervals import Interval, geometric_mean, two_level

MIN_LAUNCHES = 3  # an interval over fewer launches says nothing about the next launch
MIN_VALID = 0.5  # with more than half of the rounds voided, what is left is not a fair sample
OVER = 1.05  # of a roofline: calibration kernels scatter by less
FILTERED = 36 / 16  # convolutions of 3 x 3 places: of the products in their sums, what minimal filtering needs of them
NOTABLE = 0.01  # more instructions than that are a change of the code
SAME = 0.03  # a whole interval within 3% of 1 is called the same speed


@dataclass(frozen=True)
class CaseFigures:
    """The figures of one case. Times are nanoseconds per call; `ratio` is peer time / subject time (above 1: subject
    faster) and None where nothing was timed; `roofline` is the subject's fraction of the calibrated bound."""

    case_id: str
    case: dict
    run_id: str
    state: str
    reason: str | None
    peer_ns: float | None = None
    subject_ns: float | None = None
    ratio: Interval | None = None
    roofline: float | None = None
    bound: str | None = None
    verdict: str = "not measured"
    logs: list = field(default_factory=list)
    voided: int = 0

    @property
    def wrong_model(self) -> bool:
        """Whether the case is faster than its bound: then its bytes or operations are miscounted."""
        filters = self.case["op"].endswith("conv2d") and self.case["inputs"][1]["shape"][2:] == [3, 3]
        return self.roofline is not None and self.roofline > OVER * (FILTERED if filters else 1)

    @property
    def name(self) -> str:
        """Returns the display name, e.g. `conv2d 3x3`. A module stays, but for nn.functional: `masked.softmax` is not `softmax`."""
        return f"{self.case['op'].removeprefix('nn.functional.').removeprefix('phrases.')} {self.case['variant']}".rstrip()


@dataclass(frozen=True)
class GroupFigures:
    """The matched cases of one group: geometric mean ratio, and the case with the lowest ratio."""

    group: str
    cases: list
    mean: Interval | None
    worst: CaseFigures | None


def instruction_figures(record: dict) -> dict:
    """Returns what a page shows of a `weir.instructions/v1` record: its cases, those that grew most first, each with its share of `more`."""
    cases = []
    for entry in record["cases"]:
        both = entry["before"] and entry["after"] is not None
        cases.append({**entry, "more": entry["after"] / entry["before"] - 1 if both else None})
    cases.sort(key=lambda c: (c["more"] is None, -(c["more"] or 0.0), c["name"]))
    return {"run_id": record["run_id"], "subject": record["subject"]["name"], "before": record["before"]["label"], "after": record["after"]["label"],
            "cases": cases, "notable": NOTABLE, "grown": sum((c["more"] or 0.0) > NOTABLE for c in cases)}


def case_figures(entry: dict, run_id: str = "") -> CaseFigures:
    """Returns the figures of one entry of a record's `cases`."""
    base = dict(case_id=entry["case_id"], case=entry["case"], run_id=run_id, state=entry["state"],
                reason=entry["reason"])
    valid = [r for r in entry["samples"] if r["void"] is None]
    voided = len(entry["samples"]) - len(valid)
    if not valid:
        verdict = "inconclusive" if entry["samples"] else "not measured"
        return CaseFigures(**base, verdict=verdict, voided=voided)
    logs = log_ratios(valid)
    ratio = two_level(logs, seed=int(entry["case_id"][:8], 16)).exp()
    roofline, bound = _roofline(entry["case"], valid)
    enough = len(logs) >= MIN_LAUNCHES and len(valid) >= MIN_VALID * len(entry["samples"])
    return CaseFigures(**base, peer_ns=median(_ns(r["peer"]) for r in valid),
                       subject_ns=median(_ns(r["subject"]) for r in valid), ratio=ratio, roofline=roofline,
                       bound=bound, verdict=verdict_of(ratio) if enough else "inconclusive", logs=logs, voided=voided)


def log_ratios(rounds) -> list[list[float]]:
    """Returns, launch by launch, each round's ln(peer time / subject time)."""
    launches: dict[int, list[float]] = {}
    for r in rounds:
        launches.setdefault(r["launch"], []).append(math.log(_ns(r["peer"]) / _ns(r["subject"])))
    return list(launches.values())


def verdict_of(ratio: Interval) -> str:
    """Returns faster, slower, same (the whole interval within 3% of 1) or unclear, as the interval decides."""
    if ratio.low is None:
        return "inconclusive"
    if 1 - SAME <= ratio.low and ratio.high <= 1 + SAME:
        return "same"
    if ratio.low > 1:
        return "faster"
    return "slower" if ratio.high < 1 else "unclear"


def group_figures(cases: list[CaseFigures]) -> list[GroupFigures]:
    """Returns the groups in order of first appearance. Only conclusive cases enter mean and worst."""
    groups: dict[str, list[CaseFigures]] = {}
    for case in cases:
        groups.setdefault(case.case["group"], []).append(case)
    return [_group(name, members) for name, members in groups.items()]


def _group(name: str, members: list[CaseFigures]) -> GroupFigures:
    matched = [c for c in members if c.ratio is not None and c.verdict != "inconclusive"]
    if not matched:
        return GroupFigures(name, members, None, None)
    worst = min(matched, key=lambda c: c.ratio.value)
    return GroupFigures(name, members, geometric_mean([c.logs for c in matched], seed=len(matched)).exp(), worst)


def _ns(side: dict) -> float:
    return side["wall_ns"] / side["iters"]


def _roofline(case: dict, rounds) -> tuple[float | None, str | None]:
    """Returns (fraction, bound): the time the calibration kernels of the same rounds allow, over the time taken."""
    fractions, bounds = [], []
    for r in rounds:
        needs = {"memory": _needed_ns(case["bytes"], r["calib"], ("copy_", "read_", "update_")),
                 "compute": _needed_ns(case["flops"], r["calib"], ("flops",))}
        bound = max(needs, key=needs.get)
        if needs[bound] > 0:
            fractions.append(needs[bound] / _ns(r["subject"]))
            bounds.append(bound)
    if not fractions:
        return None, None
    return median(fractions), max(sorted(set(bounds)), key=bounds.count)


def _needed_ns(work: float, calib: dict, prefixes: tuple) -> float:
    """Returns the nanoseconds that `work` (bytes or flops) takes at the rate of the matching calibration kernel."""
    for name, kernel in calib.items():
        if name.startswith(prefixes):
            return work * kernel["wall_ns"] / (kernel["work"] * kernel["iters"])
    return 0.0
