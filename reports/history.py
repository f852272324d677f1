"""The history of speed: every case's ratio over the records of one machine class, and where it changed.

A point is the ratio that a lockstep session measured against the peer, which stands for the machine: what moves both sides alike
leaves it where it was. Absolute times of two days are never compared.
"""

import math
from dataclasses import dataclass

from .bench_figures import CaseFigures, case_figures

SEGMENT = 3  # points on both sides of a change: one odd session is none
CERTAIN = 4.0  # standard errors between the means of both sides
LEAST = 0.03  # smaller changes are left alone


@dataclass(frozen=True)
class Point:
    """One session: the log of the ratio, its standard error, when, of which revision."""

    value: float
    error: float
    started: str
    revision: str
    run_id: str


@dataclass(frozen=True)
class Change:
    """The ratio was `factor` times as large from the point `at` on; it happened after revision `before`, up to `after`."""

    at: int
    factor: float
    before: str
    after: str


@dataclass(frozen=True)
class Series:
    """A case on one class of machine, oldest point first."""

    name: str
    case_id: str
    machine: str
    pair: tuple
    points: list
    changes: list


def series(records: list[dict]) -> list[Series]:
    """Returns every case that two sessions measured, those that changed most first."""
    found: dict[tuple, tuple[CaseFigures, list]] = {}
    for record in records:
        if record["schema"] != "weir.bench/v1":
            continue
        machine = record.get("provenance", {}).get("machine", {}).get("class_key", "")
        pair = record["subject"]["name"], f"{record['peer']['name']} {record['peer']['version'] or ''}".strip()
        if record["subject"]["name"] == record["peer"]["name"]:
            continue
        for entry in record["cases"]:
            figures = case_figures(entry, record["run_id"])
            if figures.ratio is None or figures.verdict == "inconclusive" or figures.ratio.low is None:
                continue
            error = (math.log(figures.ratio.high) - math.log(figures.ratio.low)) / (2 * 1.96)
            revision = (record.get("provenance", {}).get("revision", {}).get("sha") or "")[:9]
            found.setdefault((entry["case_id"], machine, pair), (figures, []))[1].append(
                Point(math.log(figures.ratio.value), max(error, 1e-4), record["started"], revision, record["run_id"]))
    made = [Series(f"{figures.case['group']}/{figures.name}", case_id, machine, pair, points, change_points(points))
            for (case_id, machine, pair), (figures, points) in found.items() if len(points) > 1]
    return sorted(made, key=lambda s: (-max((abs(math.log(c.factor)) for c in s.changes), default=0.0), s.name))


def change_points(points: list[Point]) -> list[Change]:
    """Where the level of a series changed: binary segmentation, both sides at least `SEGMENT` points long, by a difference of
    weighted means that is certain by their scatter. Source: the method of binary segmentation, Scott and Knott 1974."""
    return sorted(_split(points, 0), key=lambda change: change.at)


def _split(points: list[Point], start: int) -> list[Change]:
    best, at = 0.0, 0
    for i in range(SEGMENT, len(points) - SEGMENT + 1):
        (a, ea), (b, eb) = _level(points[:i]), _level(points[i:])
        score = abs(b - a) / math.hypot(ea, eb)
        if score > best and abs(b - a) >= math.log(1 + LEAST):
            best, at = score, i
    if best < CERTAIN:
        return []
    left, right = points[:at], points[at:]
    here = Change(start + at, math.exp(_level(right)[0] - _level(left)[0]), left[-1].revision, right[0].revision)
    return [*_split(left, start), here, *_split(right, start + at)]


def _level(points: list[Point]) -> tuple[float, float]:
    """The weighted mean and its standard error, by the sessions' own errors or by how they scatter, whichever is larger."""
    weights = [1 / p.error**2 for p in points]
    mean = sum(w * p.value for w, p in zip(weights, points)) / sum(weights)
    own = 1 / math.sqrt(sum(weights))
    scatter = math.sqrt(sum((p.value - mean) ** 2 for p in points) / max(len(points) - 1, 1) / len(points))
    return mean, max(own, scatter)
