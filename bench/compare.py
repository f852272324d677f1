"""Two builds of one framework, in lockstep: is the new one slower anywhere?

Screen, then confirm. All cases are timed on a small budget; those that look slower (Benjamini-Hochberg, one case in ten wrong)
are timed again, by fresh processes and on a large one. What is slower there too (Holm, 5% over all) and by at least 3% has
regressed. Nothing that the first look said enters the second, so a case is not confirmed by the noise that chose it.
The same is done, the other way round, for what became faster.
"""

from dataclasses import dataclass, field

import numpy as np
from weir_reports.bench_figures import MIN_LAUNCHES, MIN_VALID, CaseFigures, case_figures, log_ratios
from weir_reports.intervals import resample

from .lockstep import Plan, Session
from .sides import Side

SCREENED = 0.10  # share of wrong ones among the cases that are looked at again
CONFIRMED = 0.05  # chance that any case is confirmed wrongly
LEAST = 0.03  # smaller changes are left alone, whatever their certainty
DRAWS = 20000  # of the bootstrap: the smallest chance it can tell is one in so many
SCREEN, CONFIRM = Plan(launches=12, rounds=4, block_ms=5.0), Plan(launches=12, rounds=20, block_ms=10.0)


@dataclass(frozen=True)
class Change:
    """A case whose speed changed for certain. `figures` are those of the second look."""

    figures: CaseFigures
    chance: float


@dataclass
class Comparison:
    """What is slower and faster in B than in A, what could not be told, and the two records it follows from."""

    a: Side
    b: Side
    screen: dict
    confirm: dict | None = None
    slower: list[Change] = field(default_factory=list)
    faster: list[Change] = field(default_factory=list)

    @property
    def figures(self) -> list[CaseFigures]:
        """Every case, from the second look where there was one. Ratios are time of A / time of B."""
        found = {entry["case_id"]: case_figures(entry, self.screen["run_id"]) for entry in self.screen["cases"]}
        for entry in self.confirm["cases"] if self.confirm else ():
            found[entry["case_id"]] = case_figures(entry, self.confirm["run_id"])
        return list(found.values())

    @property
    def inconclusive(self) -> list[CaseFigures]:
        """Cases whose rounds were disturbed too often to tell anything."""
        return [f for f in self.figures if f.verdict == "inconclusive"]


def compare(a: Side, b: Side, cases: list[dict], screen: Plan = SCREEN, confirm: Plan = CONFIRM,
            progress=lambda text: None) -> Comparison:
    """Times `cases` in A and B. Raises lockstep.CannotStart."""
    found = Comparison(a, b, Session(b, a, cases, screen, progress, calibrate=False).run())
    chances = {entry["case_id"]: chance(entry) for entry in found.screen["cases"]}
    again = set(_fewest_wrong(chances, 0)) | set(_fewest_wrong(chances, 1))
    if not again:
        return found
    by_id = {entry["case_id"]: entry["case"] for entry in found.screen["cases"]}
    fresh = Plan(confirm.launches, confirm.rounds, confirm.block_ms, confirm.threads, confirm.seed + 1)
    found.confirm = Session(b, a, [by_id[key] for key in by_id if key in again], fresh, progress, calibrate=False).run()
    chances = {entry["case_id"]: chance(entry) for entry in found.confirm["cases"]}
    figures = {entry["case_id"]: case_figures(entry, found.confirm["run_id"]) for entry in found.confirm["cases"]}
    for side, changes in ((0, found.slower), (1, found.faster)):
        for key in _none_wrong(chances, side):
            ratio = figures[key].ratio.value
            if (ratio <= 1 / (1 + LEAST) if side == 0 else ratio >= 1 + LEAST):
                changes.append(Change(figures[key], chances[key][side]))
    return found


def chance(entry: dict) -> tuple[float, float] | None:
    """How likely as slow, and as fast, a result is between equal builds; None where too little was measured.

    Source: a two-level bootstrap, launches first, as the intervals of a session.
    """
    valid = [r for r in entry["samples"] if r["void"] is None]
    logs = log_ratios(valid)
    if len(logs) < MIN_LAUNCHES or len(valid) < MIN_VALID * len(entry["samples"]):
        return None
    drawn = resample(logs, np.random.default_rng(int(entry["case_id"][:8], 16)), DRAWS)
    return float((1 + np.sum(drawn >= 0)) / (1 + DRAWS)), float((1 + np.sum(drawn <= 0)) / (1 + DRAWS))


def _fewest_wrong(chances: dict, side: int) -> list[str]:
    """Benjamini and Hochberg's choice: of those chosen, a share of `SCREENED` is wrong on average."""
    ordered = sorted((pair[side], key) for key, pair in chances.items() if pair)
    last = max((i for i, (p, _) in enumerate(ordered, 1) if p <= SCREENED * i / len(ordered)), default=0)
    return [key for _, key in ordered[:last]]


def _none_wrong(chances: dict, side: int) -> list[str]:
    """Holm's choice: the chance that any of them is wrong is at most `CONFIRMED`."""
    ordered = sorted((pair[side], key) for key, pair in chances.items() if pair)
    chosen = []
    for i, (p, key) in enumerate(ordered):
        if p > CONFIRMED / (len(ordered) - i):
            break
        chosen.append(key)
    return chosen
