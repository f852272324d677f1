"""How far `compare` itself can be trusted: alarms where nothing changed, and planted slow-downs found."""

from dataclasses import dataclass, field, replace

from weir_reports.records import new_run

from .compare import CONFIRM, SCREEN, compare
from .lockstep import Plan
from .sides import Side


@dataclass
class Trust:
    """Per planted slow-down (0: none): cases compared, cases called slower, whole runs, and runs that called any slower."""

    cases: dict = field(default_factory=dict)
    slower: dict = field(default_factory=dict)
    runs: dict = field(default_factory=dict)
    alarmed: dict = field(default_factory=dict)

    def rate(self, slow_down: float) -> float:
        """The share of cases called slower."""
        return self.slower[slow_down] / max(self.cases[slow_down], 1)


def trust(side: Side, cases: list[dict], slow_downs: tuple = (0.0, 0.05, 0.10, 0.20), runs: int = 1, screen: Plan = SCREEN,
          confirm: Plan = CONFIRM, progress=lambda text: None) -> Trust:
    """Compares `side` with itself, slowed down by each of `slow_downs`, `runs` times with other seeds."""
    found = Trust(*({s: 0 for s in slow_downs} for _ in range(4)))
    for number in range(runs):
        for slow_down in slow_downs:
            plans = (replace(plan, seed=plan.seed + 1000 * number) for plan in (screen, confirm))
            done = compare(side, replace(side, slow_down=slow_down), cases, *plans, progress)
            found.cases[slow_down] += sum(f.ratio is not None for f in done.figures)
            found.slower[slow_down] += len(done.slower)
            found.runs[slow_down] += 1
            found.alarmed[slow_down] += bool(done.slower)
    return found


def record(found: Trust, side: str, group: str, threads: int) -> dict:
    """The record of the rates, unsealed."""
    rates = [{"slow_down": s, "cases": found.cases[s], "slower": found.slower[s], "runs": found.runs[s], "alarmed": found.alarmed[s]}
             for s in found.cases]
    return new_run("weir.trust/v1") | {"subject": {"name": side, "version": None}, "group": group, "threads": threads, "rates": rates}
