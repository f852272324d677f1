"""Two builds of one framework, in lockstep: is the new one slower anywhere?

Screen, then confirm. All cases are timed on a small budget; those that look slower (as one equal case in a hundred does) are timed again,
by fresh processes and on a large one. What is slower there too (Holm, 5% over all) and by at least 3% has
regressed. Nothing that the first look said enters the second, so a case is not confirmed by the noise that chose it.
The same is done, the other way round, for what became faster.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special
from weir_reports.bench_figures import MIN_LAUNCHES, MIN_VALID, CaseFigures, case_figures, log_ratios

from .lockstep import Plan, Session
from .sides import Side

SCREENED = 0.01  # share of equal cases that are looked at again
CONFIRMED = 0.05  # chance that any case is confirmed wrongly
LEAST = 0.03  # smaller changes are left alone, whatever their certainty
SCREEN, CONFIRM = Plan(launches=12, rounds=10), Plan(launches=16, rounds=60)
MANY, FEW_LAUNCHES = 1000, 4  # of more cases than that, a launch takes minutes (loading, not timing): the first look has so few


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
    first = replace(screen, launches=min(screen.launches, FEW_LAUNCHES)) if len(cases) > MANY else screen
    found = Comparison(a, b, Session(b, a, cases, first, progress, calibrate=False).run())
    chances = {entry["case_id"]: chance(entry) for entry in found.screen["cases"]}
    again = {key for key, pair in chances.items() if pair and min(pair) <= SCREENED}
    if not again:
        return found
    by_id = {entry["case_id"]: entry["case"] for entry in found.screen["cases"]}
    fresh = replace(confirm, seed=confirm.seed + 1)
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

    Student's t of the launches' medians. Rounds of one launch share its memory layout, so a launch is one observation; and chances of one in a
    million, which a bootstrap of so few cannot tell, are needed to find one case among thousands.
    """
    valid = [r for r in entry["samples"] if r["void"] is None]
    logs = log_ratios(valid)
    if len(logs) < MIN_LAUNCHES or len(valid) < MIN_VALID * len(entry["samples"]):
        return None
    medians = [np.median(launch) for launch in logs]
    spread = np.std(medians, ddof=1) / np.sqrt(len(medians))
    lead = np.mean(medians) / spread if spread else np.sign(np.mean(medians)) * np.inf if np.mean(medians) else 0.0
    return float(special.stdtr(len(medians) - 1, lead)), float(special.stdtr(len(medians) - 1, -lead))


def _none_wrong(chances: dict, side: int) -> list[str]:
    """Holm's choice: the chance that any of them is wrong is at most `CONFIRMED`."""
    ordered = sorted((pair[side], key) for key, pair in chances.items() if pair)
    chosen = []
    for i, (p, key) in enumerate(ordered):
        if p > CONFIRMED / (len(ordered) - i):
            break
        chosen.append(key)
    return chosen
